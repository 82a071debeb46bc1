"""Runs a checker as a child with bounded time, memory and output (spec §8). Effect: a process.

Here ruff and mypy get their timeout and memory limit, and a crash or a timeout becomes a finding.
The seconds are the settings `validation.ruff_seconds` and `validation.mypy_seconds`
(`config/settings.py`). Checkers are trusted programs on input that is not trusted. A candidate
never runs this way.
"""

from __future__ import annotations

import os
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal

from pulsus.core.system.private_folders import Scratch
from pulsus.core.telemetry.sanitize import strip_controls
from pulsus.core.validators.steps.mypy_prestart import PrestartedMypy, make_environment
from pulsus.core.validators.validator_protocol import BUSY, Finding
from pulsus.errors import storage_error
from pulsus.fast_dataclass import dataclass
from pulsus.late_pattern import late_pattern

if TYPE_CHECKING:
    from pulsus.core.sandbox.child_process import AnyChild

_MEMORY_BYTES = 4 << 30
_KEEP_BYTES = 32 << 20
_TICK_SECONDS = 0.01
_CLOCK_FACTOR = 10
_PROCESS_CLOCK = 2  # CPUCLOCK_SCHED of a process: the kernel's posix-timers.h
_FILE_NAME = late_pattern(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,200}")


@dataclass(frozen=True, slots=True)
class CheckedSource:
    """A module's bytes, and its name in findings."""

    name: str
    source: bytes

    @property
    def file(self) -> str:
        """A harmless file name: that of the module, unless it could be read as something else."""
        return f"{self.name if _FILE_NAME.fullmatch(self.name) else 'candidate'}.py"


@dataclass(frozen=True, slots=True)
class CheckerResult:
    """`status` is the exit status, negative for a signal, None if it was killed as too late.

    `starved`: the clock ran out before it had used its processor time. `output` may hold control
    characters. `errors` is the text of standard error without them.
    """

    status: int | None
    output: str
    errors: str = ""
    starved: bool = False


class Checker:
    """A started checker. Call `result` once, and `end` in any case.

    It gets none of our variables and reads no configuration by itself. `cwd` is a folder of its
    own, where its output is stored.
    """

    def __init__(self, argv: Sequence[str], cwd: Path) -> None:
        self._attach_process(*_start_process(argv, cwd))

    @classmethod
    def of(cls, early: PrestartedMypy) -> Checker:
        """Take over one that was started before, with its descriptors."""
        order = open(early.order, "wb")  # noqa: PTH123, SIM115 - descriptors, closed by `end`
        output, errors = (open(fd, "w+b") for fd in (early.output, early.errors))  # noqa: PTH123, SIM115
        found = cls.__new__(cls)
        found._attach_process(early.child, order, output, errors)
        return found

    def _attach_process(
        self, process: AnyChild, order: IO[bytes], output: IO[bytes], errors: IO[bytes]
    ) -> None:
        self._process, self._order, self._output, self._errors = process, order, output, errors
        _limit_process(process.pid)

    def result(self, seconds: float, order: bytes = b"") -> CheckerResult:
        """Wait for its end, after `order` (short) was given to its standard input.

        It is killed when it has used `seconds` of processor time, or after ten times that by the
        clock: on a busy machine the clock says little about the input.
        """
        with suppress(OSError):  # it has ended already: its status says how
            self._order.write(order)
            self._order.close()
        ended = _wait_for_end(self._process, seconds)
        status = self._process.wait() if ended == "itself" else None
        self._kill_group()
        output, errors = (_read_text(file) for file in (self._output, self._errors))
        return CheckerResult(status, output, strip_controls(errors), starved=ended == "clock")

    def end(self) -> None:
        """Kill it with its children; fine where it has ended."""
        self._kill_group()
        for file in (self._output, self._errors, self._order):
            with suppress(OSError):
                file.close()

    def _kill_group(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


def _start_process(
    argv: Sequence[str], cwd: Path
) -> tuple[AnyChild, IO[bytes], IO[bytes], IO[bytes]]:
    with ExitStack() as stack:
        output = stack.enter_context((cwd / ".output").open("w+b"))
        errors = stack.enter_context((cwd / ".said").open("w+b"))
        process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=errors,
            cwd=cwd,
            env=make_environment(str(cwd)),
            start_new_session=True,
        )
        stack.pop_all()
    assert process.stdin
    return process, process.stdin, output, errors


def summarize_output(output: str) -> str:
    """Return the first line that a checker prints, and count the others."""
    lines = [line for line in output.splitlines() if line.strip()]
    if not lines:
        return "it says nothing"
    return lines[0] + (f" (and {len(lines) - 1} more)" if len(lines) > 1 else "")


def report_missing(module: str) -> Finding:
    """Return the finding if a checker is not installed: nothing is proven."""
    text = f"{module} is not installed for this Python (CHECKER_MISSING): pip install {module}"
    return Finding(ok=False, message=text, unverified=True)


@contextmanager
def raise_storage_errors() -> Iterator[None]:
    """Guard a block that copies modules and starts a checker on them.

    Raises StorageUnwritable or DiskFull in the place of OSError.
    """
    try:
        yield
    except OSError as error:
        place = error.filename if isinstance(error.filename, str) else None
        raise storage_error(error, Path(place or os.environ.get("TMPDIR", "/tmp"))) from error


@contextmanager
def make_working_folder(purpose: str) -> Iterator[Path]:
    """Give a block a folder of its own for copies of modules. Raises as `copying`."""
    with raise_storage_errors():
        scratch = Scratch(purpose)
        try:
            yield Path(scratch.path)
        finally:
            scratch.remove()


def report_too_late(done: CheckerResult, seconds: float) -> Finding:
    """Return the finding about a checker that was killed; starved of a core, it proves nothing."""
    if done.starved:
        text = (
            f"this machine was too busy: it got less than {seconds:g} s of processor time "
            f"in {seconds * _CLOCK_FACTOR:g} s; try again"
        )
        return Finding(ok=False, message=text, unverified=True, code=BUSY)
    return Finding(ok=False, message=f"used more than {seconds:g} s of processor time: killed")


def check_by_halves(
    texts: Sequence[CheckedSource], check: Callable[[Sequence[CheckedSource]], list[Finding]]
) -> list[Finding]:
    """Check each half by itself, to find the one module that makes the checker itself fail."""
    half = len(texts) // 2
    return [*check(texts[:half]), *check(texts[half:])]


def report_failure(checker: str, done: CheckerResult, errors: str, seconds: float) -> Finding:
    """Return the finding about a checker that failed itself, or was killed as too late."""
    if done.status is None:
        return report_too_late(done, seconds)
    message = f"{checker} itself failed with status {done.status}: {summarize_output(errors)}"
    return Finding(ok=False, message=message, output=errors)


def report_no_slot(seconds: float) -> Finding:
    """Return the finding where no core became free for a checker or a sandbox."""
    text = f"this machine was too busy: no core became free within {seconds:g} s; try again"
    return Finding(ok=False, message=text, unverified=True, code=BUSY)


def _read_text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(_KEEP_BYTES).decode("utf-8", "replace")


def _wait_for_end(process: AnyChild, seconds: float) -> Literal["itself", "processor", "clock"]:
    """Wait until it ends, or has used `seconds` of processor time, or its clock has run out."""
    until = time.monotonic() + seconds * _CLOCK_FACTOR
    with ExitStack() as stack:
        poll = select.poll()
        if sys.platform == "linux":
            fd = os.pidfd_open(process.pid)
            stack.callback(os.close, fd)
            poll.register(fd, select.POLLIN)
        while process.poll() is None:
            remaining = seconds - _read_processor_seconds(process.pid)
            if remaining <= 0:
                return "processor"
            if time.monotonic() >= until:
                return "clock"
            # Several threads use a second of processor time in less than one of the clock.
            pause = max(_TICK_SECONDS, min(remaining / 2, until - time.monotonic()))
            poll.poll((pause if sys.platform == "linux" else min(pause, _TICK_SECONDS)) * 1000)
    return "itself"


def _read_processor_seconds(pid: int) -> float:
    """Return the processor time that a process has used; 0 if it has ended."""
    if sys.platform != "linux":
        import psutil

        with suppress(psutil.Error):
            times = psutil.Process(pid).cpu_times()
            return times.user + times.system
        return 0.0
    with suppress(OSError):
        return time.clock_gettime((~pid << 3) | _PROCESS_CLOCK)
    return 0.0


def _limit_process(pid: int) -> None:
    if sys.platform == "linux":
        with suppress(ProcessLookupError, PermissionError):
            resource.prlimit(pid, resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (_MEMORY_BYTES // 8,) * 2)
            resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
