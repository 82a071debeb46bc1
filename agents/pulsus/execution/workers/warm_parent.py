"""The warm interpreter: it has imported the worker, and forks a new child for each call (ADR 42).

It has one thread, an empty environment, and never sees a job: descriptors come through a socket,
and only the child reads from them. It ends when Pulsus closes the socket, and its children with it.
Effects: forks; reads and writes the socket.
"""

from __future__ import annotations

import gc
import json
import os
import pwd  # noqa: F401 - for the children
import signal
import socket
from collections.abc import Collection
from contextlib import suppress

from pulsus.core.sandbox.harness.system_calls import call
from pulsus.core.sandbox.observation import syscall_notifications  # noqa: F401 - for the children
from pulsus.execution.confinement import declared_effects  # noqa: F401 - for the children
from pulsus.execution.confinement.confine_process import close_others
from pulsus.execution.confinement.supervision import (  # noqa: F401 - for the children
    file_broker,
    run_processes,
    socket_broker,
    supervisor,
)
from pulsus.execution.workers import worker

DESCRIPTORS = 6
"""Of each start: stdin, stdout, stderr, the report, the lifeline, the folder to run in."""
_MOST_BYTES = 4096
_FOLDER = b"folder: "
_PARENT_DEATH, _DUMPABLE = 1, 3  # PR_SET_PDEATHSIG, PR_GET_DUMPABLE


def main(number: int) -> None:
    """Serve the socket of that number until its other end is closed; a child runs one job."""
    call("prctl", _DUMPABLE, 0, 0, 0, 0)  # loads ctypes, which each child would load again
    gc.collect()
    gc.freeze()  # what is there now is never looked at again, so children share its memory
    with socket.socket(fileno=number) as requests:
        requests.set_inheritable(False)
        pipes = _serve(requests)
        if pipes is None:
            return
        requests.detach()  # the child's copy is closed already
    worker.main(*pipes)


def _serve(requests: socket.socket) -> tuple[int, int] | None:
    """Answer requests. Return the report and the lifeline in a child, None at the end."""
    children: set[int] = set()
    while True:
        data, numbers = _receive(requests)
        if not data:
            _end_children(children)
            return None
        question = json.loads(data)
        answer: dict[str, int | str | None]
        try:
            if "reap" in question:
                answer = {"status": _reap(question["reap"], children)}
            else:
                pid, why = _fork_child(numbers, requests.fileno())
                if not pid:
                    return numbers[3], numbers[4]
                answer = {"folder": why} if why else {"pid": pid}
                children |= set() if why else {pid}
        except OSError as error:
            answer = {"error": error.strerror or str(error)}
        for each in numbers:
            os.close(each)
        try:
            requests.send(json.dumps(answer).encode("ascii"))
        except ConnectionError:
            _end_children(children)
            return None


def _receive(requests: socket.socket) -> tuple[bytes, list[int]]:
    """Return the next request and its descriptors; no bytes if the other end is closed."""
    try:
        data, numbers, _, _ = socket.recv_fds(requests, _MOST_BYTES, DESCRIPTORS)
    except ConnectionError:
        return b"", []
    return data, numbers


def _end_children(children: Collection[int]) -> None:
    """End what the children started too: PDEATHSIG would end the children alone.

    A child ends its own group when Pulsus has ended (worker.py), but it may be dead before that.
    """
    for child in children:
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)


def _reap(pid: int, children: set[int]) -> int | None:
    """Return the status of an ended child, negative for a signal, or None if it still runs."""
    found, status = os.waitpid(pid, os.WNOHANG)
    if found:
        children.discard(pid)
    return os.waitstatus_to_exitcode(status) if found else None


def _fork_child(numbers: list[int], requests: int) -> tuple[int, str]:
    """Fork. Return 0 in the child, else its number, and why it may not enter the folder, if so.

    Raises OSError.
    """
    if len(numbers) != DESCRIPTORS:
        raise OSError(f"{len(numbers)} descriptors came, not {DESCRIPTORS}")
    if len(os.listdir("/proc/self/task")) != 1:  # noqa: PTH208 - pathlib is not loaded
        raise OSError("the warm interpreter has more than one thread")
    parent = os.getpid()
    ready, telling = os.pipe()
    child = os.fork()
    if not child:
        _become_child(numbers, telling, parent)
        return 0, ""
    os.close(telling)
    try:
        told = os.read(ready, _MOST_BYTES)
    finally:
        os.close(ready)
    if told == b"ok":
        return child, ""
    with suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if told.startswith(_FOLDER):
        return child, told.removeprefix(_FOLDER).decode("utf-8", "replace")
    raise OSError(told.decode("utf-8", "replace") or "the child ended at once")


def _become_child(numbers: list[int], telling: int, parent: int) -> None:
    """Make this process like a new interpreter that got these descriptors."""
    try:
        os.setsid()
        call("prctl", _PARENT_DEATH, int(signal.SIGKILL), 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)
        _enter_folder(numbers[5], telling)
        for standard, number in enumerate(numbers[:3]):
            os.dup2(number, standard)
        close_others((numbers[3], numbers[4], telling))
    except BaseException as error:  # noqa: BLE001 - the parent tells what it was
        os.write(telling, (getattr(error, "strerror", None) or str(error)).encode() or b"error")
        os._exit(1)
    os.write(telling, b"ok")
    os.close(telling)


def _enter_folder(folder: int, telling: int) -> None:
    try:
        os.fchdir(folder)
    except OSError as error:
        os.write(telling, _FOLDER + (error.strerror or str(error)).encode())
        os._exit(1)
