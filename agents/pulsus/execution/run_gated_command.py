"""Run a shell command that the command gate allowed or a person approved, as it was prepared
(`commands/execution_plan.py`).

That plan has the default timeout and output limit; here a command is ended and its output is cut at
them. Commands of Pulsus itself are planned in `infra/local_command.py`. There is no connection to
other hosts: `ssh`, `docker exec` and `kubectl` are programs that the gate judges as any other,
together with the command that they are given.

Effects: makes a private temporary folder, starts one process in a session of its own, ends it with
all of its process group, and removes the folder.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Final

from pulsus.commands.execution_plan import Execution
from pulsus.errors import UsageError
from pulsus.execution.cancellation import Cancellation
from pulsus.fast_dataclass import dataclass

_CHUNK: Final = 65536
_SOON: Final = 0.001
_LATE: Final = 0.05
"""Seconds between two checks. A program whose streams have ended is about to end."""


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The end of a command. `status` is None if it was ended early, and below 0 for a signal.

    It is ended early by a timeout, or if it was `cancelled`.

    `output` and `errors` are the first bytes of each stream; `cut` means that there were more.
    """

    status: int | None
    output: bytes
    errors: bytes
    cut: bool
    cancelled: bool = False


def run(
    plan: Execution, folder: Path | None = None, cancellation: Cancellation | None = None
) -> CommandResult:
    """Return the result of the command, run in `folder` (the current one by default) in its limits.

    `cancellation` ends it early. Raises UsageError if the folder or the program cannot be used.
    """
    with _private_folder(plan) as private:
        return _run_with_environment(plan, folder, plan.environment_in(private), cancellation)


@contextmanager
def _private_folder(plan: Execution) -> Iterator[str]:
    """Make a folder for this run alone, with the folders that the plan's variables name."""
    with TemporaryDirectory(prefix="pulsus-read-", ignore_cleanup_errors=True) as private:
        for path in plan.private.values():
            # GnuPG refuses a home that others may look into.
            Path(private, path).mkdir(mode=0o700, parents=True, exist_ok=True)
        yield private


def _run_with_environment(
    plan: Execution,
    folder: Path | None,
    env: Mapping[str, str],
    cancellation: Cancellation | None,
) -> CommandResult:
    deadline = time.monotonic() + plan.seconds
    output, errors = bytearray(), bytearray()
    with _start_process(plan, folder, env) as process:
        streams = ((process.stdout, output), (process.stderr, errors))
        ended = False
        try:
            watched = None if plan.ends_children else process.pid
            cut = _read_streams(streams, plan.most_bytes, deadline, cancellation, watched)
            ended = _has_ended_in_time(process.pid, deadline, cancellation)
        finally:
            # Leftover processes too. Done before its status is taken: until then no other process
            # can get its number.
            if plan.ends_children or not ended:
                os.killpg(process.pid, signal.SIGKILL)
            status = process.wait()
    cancelled = not ended and cancellation is not None and cancellation.is_cancelled
    return CommandResult(status if ended else None, bytes(output), bytes(errors), cut, cancelled)


def _has_ended_in_time(pid: int, deadline: float, cancellation: Cancellation | None) -> bool:
    """Return True if the process ends in time and uncancelled; its status is not taken."""
    wait = _SOON
    while not _has_ended(pid):
        if time.monotonic() >= deadline or (cancellation and cancellation.is_cancelled):
            return False
        time.sleep(wait)
        wait = min(2 * wait, _LATE)
    return True


def _has_ended(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None


def _start_process(
    plan: Execution, folder: Path | None, env: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    try:
        with Path(plan.stdin).open("rb") as nothing:
            return subprocess.Popen(
                plan.argv,
                env=dict(env),
                cwd=folder,
                stdin=nothing,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
    except OSError as error:
        where = folder or Path.cwd()
        raise UsageError(
            f"cannot run {plan.argv[0]} in {str(where)!r}: {error.strerror}",
            hint="name a folder that exists and a program that is installed",
        ) from error


def _read_streams(
    streams: Iterable[tuple[IO[bytes] | None, bytearray]],
    most: int,
    deadline: float,
    cancellation: Cancellation | None,
    watched: int | None,
) -> bool:
    """Read until all streams end, the time is up or it is cancelled.

    If a process is `watched`, its end ends the reading too: what it started may keep the streams.
    Return True if output was dropped.
    """
    cut = False
    with selectors.DefaultSelector() as selector:
        ends_early = set()
        if cancellation is not None:
            ends_early.add(selector.register(cancellation, selectors.EVENT_READ).fd)
        for stream, buffer in streams:
            if stream is not None:
                selector.register(stream, selectors.EVENT_READ, buffer)
        while len(selector.get_map()) > len(ends_early) and (
            (remaining := deadline - time.monotonic()) > 0
        ):
            ready = selector.select(remaining if watched is None else min(remaining, _LATE))
            if watched is not None and not ready and _has_ended(watched):
                return cut
            for key, _ in ready:
                if key.fd in ends_early:
                    return cut
                data = os.read(key.fd, _CHUNK)
                if not data:
                    selector.unregister(key.fileobj)
                room = most - len(key.data)
                key.data.extend(data[:room])
                cut = cut or len(data) > room
    return cut
