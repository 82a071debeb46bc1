"""Runs a checker as a child: bounded time, memory and output (spec §8). Effect: a process.

For programs we trust on input we do not. A candidate is never run this way.
"""

from __future__ import annotations

import os
import re
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

from pulsus.core.telemetry.printable import strip_controls
from pulsus.core.validators.finding import Finding
from pulsus.errors import storage_error
from pulsus.record import dataclass

_MEMORY_BYTES = 4 << 30
_KEEP_BYTES = 32 << 20
_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,200}")


@dataclass(frozen=True, slots=True)
class Text:
    """A module's bytes and the name that findings in it are shown with."""

    name: str
    source: bytes

    @property
    def file(self) -> str:
        """A harmless file name: that of the module, unless it could be read as something else."""
        return f"{self.name if _FILE_NAME.fullmatch(self.name) else 'candidate'}.py"


@dataclass(frozen=True, slots=True)
class Ran:
    """`status` is the exit status, negative for a signal, None where it was killed as too late.

    `output` is not printable as it is. `said` is what went to standard error, and is.
    """

    status: int | None
    output: str
    said: str = ""


class Checker:
    """A started checker. Call `result` once, and `end` in any case.

    No variable of ours reaches it, and it reads no configuration of its own accord. `cwd` is a
    folder of its own; what it prints is kept there.
    """

    def __init__(self, argv: Sequence[str], cwd: Path) -> None:
        with ExitStack() as stack:
            self._output = stack.enter_context((cwd / ".output").open("w+b"))
            self._said = stack.enter_context((cwd / ".said").open("w+b"))
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=self._output,
                stderr=self._said,
                cwd=cwd,
                env={"PATH": "/usr/bin:/bin", "HOME": str(cwd), "LANG": "C.UTF-8"},
                start_new_session=True,
            )
            self._files = stack.pop_all()
        _limit(self._process.pid)

    def result(self, seconds: float, order: bytes = b"") -> Ran:
        """What it says to `order`, its standard input (short). At the time limit it is killed."""
        status: int | None = None
        with suppress(OSError):  # it has ended already: its status says how
            assert self._process.stdin
            self._process.stdin.write(order)
            self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            status = _wait(self._process, seconds)
        self._kill()
        output, said = (_text(file) for file in (self._output, self._said))
        return Ran(status, output, strip_controls(said))

    def end(self) -> None:
        """Kill it with its children; fine where it has ended."""
        self._kill()
        self._files.close()
        if self._process.stdin:
            with suppress(OSError):
                self._process.stdin.close()

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


def first_line(output: str) -> str:
    """The first thing a checker says, and how much more it says."""
    lines = [line for line in output.splitlines() if line.strip()]
    if not lines:
        return "it says nothing"
    return lines[0] + (f" (and {len(lines) - 1} more)" if len(lines) > 1 else "")


def missing(module: str) -> Finding:
    """The answer where a checker is not installed: nothing is proven."""
    text = f"{module} is not installed for this Python (CHECKER_MISSING): pip install {module}"
    return Finding(ok=False, message=text, unverified=True)


@contextmanager
def copying() -> Iterator[None]:
    """A block that makes copies of modules and starts a checker on them.

    Raises StorageUnwritable or DiskFull in the place of OSError.
    """
    try:
        yield
    except OSError as error:
        place = error.filename if isinstance(error.filename, str) else None
        raise storage_error(error, Path(place or os.environ.get("TMPDIR", "/tmp"))) from error


def isolated(code: str) -> list[str]:
    """The command that runs `code` in our own interpreter.

    Isolated mode ignores the current folder, the user's packages and PYTHON* variables.
    """
    return [sys.executable, "-I", "-B", "-c", code]


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(_KEEP_BYTES).decode("utf-8", "replace")


def _wait(process: subprocess.Popen[bytes], seconds: float) -> int:
    """Its status, within a millisecond of its end. Raises TimeoutExpired."""
    if sys.platform != "linux":
        return process.wait(seconds)
    fd = os.pidfd_open(process.pid)
    try:
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        until = time.monotonic() + seconds
        while not poll.poll(max(0.0, until - time.monotonic()) * 1000):
            if time.monotonic() >= until:
                raise subprocess.TimeoutExpired(process.args, seconds)
    finally:
        os.close(fd)
    return process.wait()


def _limit(pid: int) -> None:
    if sys.platform == "linux":
        with suppress(ProcessLookupError, PermissionError):
            resource.prlimit(pid, resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (_MEMORY_BYTES // 8,) * 2)
            resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
