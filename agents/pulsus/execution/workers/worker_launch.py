"""Start the worker of one run: a new interpreter, or a fork of a warm one (`warm_process.py`).

The working folder of a run (working directory, cwd), and the interpreter that runs it
(`tools.python`), are decided by the callers, such as `routing/runs/run_promoted.py`. A folder that
cannot be entered is refused here.

The secrets among its variables are chosen in `execution/tool_secrets.py`. Effect: starts a process.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import IO, Literal, Protocol

import pulsus
from pulsus.errors import UsageError

ROOT = Path(pulsus.__file__).resolve().parent.parent
# -I: neither the working directory nor PYTHON* variables can put a module before ours.
FLAGS = ("-I", "-u", "-X", "utf8")
_BOOT = (
    "import sys; sys.path.append(sys.argv[1]); "
    "from pulsus.execution.workers.worker import main; sys.path.pop(); "
    "main(*map(int, sys.argv[2:]))"
)


@dataclass(frozen=True, slots=True)
class WorkerPlace:
    """The interpreter (None: ours), folder (None: ours) and environment of a run."""

    python: Path | None
    cwd: Path | None
    env: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class WorkerStart:
    """The way a worker was started. `why` is the reason if it is not the one that was asked for."""

    kind: Literal["fresh", "warm"]
    why: str = ""


FRESH = WorkerStart("fresh")


class StartedWorker(Protocol):
    """A worker that leads a process group of its own. The streams are the caller's to close.

    `environment` is the one to put into its job, or None if the process has it already.
    """

    @property
    def pid(self) -> int: ...
    @property
    def started(self) -> WorkerStart: ...
    @property
    def environment(self) -> Mapping[str, str] | None: ...
    @property
    def streams(self) -> tuple[FileIO, FileIO, FileIO]:
        """Our ends of stdin, stdout and stderr."""
        ...

    def has_ended(self) -> bool:
        """Return True if it has ended. No other process gets its number before `wait`."""
        ...

    def wait(self) -> int:
        """Wait until it has ended. Return its status, negative for a signal."""
        ...


class WorkerLauncher(Protocol):
    """A way to start workers."""

    def start(self, pipes: tuple[int, int], place: WorkerPlace) -> StartedWorker:
        """Start a worker with the report pipe and the lifeline (`worker.main`).

        Raises UsageError if it cannot run in that folder.
        """
        ...


class FreshInterpreter:
    """Starts a new interpreter for each run."""

    def __init__(self, why: str = "") -> None:
        """`why` is the reason if another way was asked for."""
        self._start = WorkerStart("fresh", why)

    def start(self, pipes: tuple[int, int], place: WorkerPlace) -> StartedWorker:
        """Start a worker. Raises UsageError."""
        try:
            process = subprocess.Popen(
                (place.python or sys.executable, *FLAGS, "-c", _BOOT, ROOT, *map(str, pipes)),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                cwd=place.cwd,
                env=place.env,
                pass_fds=pipes,
                start_new_session=True,
            )
        except (NotADirectoryError, FileNotFoundError, PermissionError) as error:
            raise folder_error(place, error.strerror or str(error)) from None
        return _ChildWorker(process, self._start)


class _ChildWorker:
    """A worker that is a child of this process."""

    environment: Mapping[str, str] | None = None

    def __init__(self, process: subprocess.Popen[bytes], started: WorkerStart) -> None:
        self._process, self.started = process, started
        self.pid = process.pid
        found = (process.stdin, process.stdout, process.stderr)
        self.streams = (_raw(found[0]), _raw(found[1]), _raw(found[2]))

    def has_ended(self) -> bool:
        peek = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self.pid, peek) is not None

    def wait(self) -> int:
        return self._process.wait()


def folder_error(place: WorkerPlace, why: str) -> UsageError:
    """Return the error for a folder in which nothing can run."""
    return UsageError(f"cannot run in {str(place.cwd)!r}: {why}", hint="name a folder")


def _raw(stream: IO[bytes] | None) -> FileIO:
    assert isinstance(stream, FileIO)
    return stream
