"""Start workers as forks of one warm interpreter, which imports everything once (ADR 42): it saves
the startup time of each step.

`routing/plans/apply_plan.py` uses it for the steps of a plan. A warm interpreter that died is
started again here.

Each call gets a new child that is never used again. Everything after the start is the same as for a
new interpreter (`execution/tool_process.py`). Effects: starts a process, exchanges descriptors with
it.
"""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from io import FileIO
from pathlib import Path
from typing import Any

from pulsus.execution.workers.worker_launch import (
    FLAGS,
    ROOT,
    FreshInterpreter,
    StartedWorker,
    WorkerPlace,
    WorkerStart,
    folder_error,
)

_BOOT = (
    "import sys; sys.path.append(sys.argv[1]); "
    "from pulsus.execution.workers.warm_parent import main; sys.path.pop(); main(int(sys.argv[2]))"
)
_MOST_BYTES = 4096
_END_SECONDS = 2.0
# An interpreter may need these to find its own libraries. It gets nothing else of ours.
_KEPT = ("LD_LIBRARY_PATH", "PATH")


class _FolderRefused(Exception):
    """The child may not enter the folder to run in."""


class WarmProcess:
    """A warm interpreter that is started with the first call. Close it.

    A call that it cannot serve runs in a new interpreter; `WorkerStart.why` names the reason.
    """

    def __init__(self, python: Path | None = None) -> None:
        self._python = python
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._why_not = _why_unsupported()

    def __enter__(self) -> WarmProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        """Return the number of the warm interpreter, or None if none runs."""
        return self._process.pid if self._process else None

    def start(self, pipes: tuple[int, int], place: WorkerPlace) -> StartedWorker:
        """Start a worker. Raises UsageError if it cannot run in that folder."""
        why = self._why_not
        if not why and place.python != self._python:
            why = f"the tool runs with {place.python}, the warm interpreter is another"
        if why:
            return FreshInterpreter(why).start(pipes, place)
        with ExitStack() as stack:
            try:
                folder = os.open(place.cwd or ".", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
            except OSError as error:
                raise folder_error(place, error.strerror or str(error)) from None
            stack.callback(os.close, folder)
            ends = [os.pipe() for _ in range(3)]
            theirs = [ends[0][0], ends[1][1], ends[2][1]]
            for number in theirs:
                stack.callback(os.close, number)
            streams = (FileIO(ends[0][1], "w"), FileIO(ends[1][0], "r"), FileIO(ends[2][0], "r"))
            try:
                pid = self._request_child([*theirs, *pipes, folder])
                return _WarmWorker(self, pid, streams, place.env)
            except (OSError, _FolderRefused) as error:
                for stream in streams:
                    stream.close()
                if isinstance(error, _FolderRefused):
                    raise folder_error(place, str(error)) from None
                # Once it failed, it is not tried again: each try would cost time.
                self._why_not = f"the warm interpreter failed: {error.strerror or error}"
        return FreshInterpreter(self._why_not).start(pipes, place)

    def close(self) -> None:
        """End the warm interpreter and all its children. May be called again."""
        with self._lock:
            self._drop()

    def reap(self, pid: int) -> int:
        """Return the status of a child that has ended; without the interpreter, it was killed."""
        with self._lock, suppress(OSError):
            status = self._ask({"reap": pid}, [])["status"]
            if isinstance(status, int):
                return status
        return -9

    def _request_child(self, numbers: list[int]) -> int:
        """Return the process number of a new child. Raises OSError."""
        with self._lock:
            for is_last in (False, True):
                self._ensure_started()
                try:
                    answer = self._ask({"start": True}, numbers)
                except OSError:
                    # It was killed, perhaps for lack of memory: one more is started.
                    self._drop()
                    if is_last:
                        raise
                    continue
                if "folder" in answer:
                    raise _FolderRefused(answer["folder"])
                if "error" in answer:
                    raise OSError(str(answer["error"]))
                return int(answer["pid"])
        raise AssertionError("unreachable")

    def _ensure_started(self) -> None:
        if self._process is not None and self._process.poll() is None:
            return
        self._drop()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            try:
                self._process = subprocess.Popen(
                    (
                        self._python or sys.executable,
                        *FLAGS,
                        "-c",
                        _BOOT,
                        ROOT,
                        str(theirs.fileno()),
                    ),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    cwd="/",
                    env={name: os.environ[name] for name in _KEPT if name in os.environ},
                    pass_fds=(theirs.fileno(),),
                    start_new_session=True,
                )
            except OSError:
                ours.close()
                raise
        self._socket = ours

    def _ask(self, question: dict[str, Any], numbers: list[int]) -> dict[str, Any]:
        if self._socket is None:
            raise ConnectionError("the warm interpreter has ended")
        socket.send_fds(self._socket, [json.dumps(question).encode("ascii")], numbers)
        data = self._socket.recv(_MOST_BYTES)
        if not data:
            raise ConnectionError("the warm interpreter ended at once")
        found: dict[str, Any] = json.loads(data)
        return found

    def _drop(self) -> None:
        if self._socket is not None:
            self._socket.close()  # it ends by itself then
        if self._process is not None:
            try:
                self._process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._socket = self._process = None


class _WarmWorker:
    """A worker that is a child of the warm interpreter."""

    started = WorkerStart("warm")

    def __init__(
        self,
        warm: WarmProcess,
        pid: int,
        streams: tuple[FileIO, FileIO, FileIO],
        environment: Mapping[str, str],
    ) -> None:
        self._warm, self.pid, self.streams = warm, pid, streams
        self.environment: Mapping[str, str] | None = environment
        # The warm interpreter does not reap it before `wait`, so the number is still its own.
        self._handle = os.pidfd_open(pid)

    def has_ended(self) -> bool:
        return self._poll(0)

    def wait(self) -> int:
        self._poll(None)
        os.close(self._handle)
        return self._warm.reap(self.pid)

    def _poll(self, timeout_ms: int | None) -> bool:
        poll = select.poll()
        poll.register(self._handle, select.POLLIN)
        return bool(poll.poll(timeout_ms))


def _why_unsupported() -> str:
    """Return why this machine cannot serve calls from a warm interpreter, or an empty text."""
    if sys.platform != "linux":
        return f"{sys.platform} lacks what a warm interpreter needs: pidfd_open and PDEATHSIG"
    try:
        os.close(os.pidfd_open(os.getpid()))
    except OSError as error:
        return f"the kernel has no pidfd_open: {error.strerror}"
    return ""
