"""Runs a checker as a child: bounded time, memory and output (spec §8). Effect: a process.

For programs we trust on input we do not. A candidate is never run this way.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pulsus.core.telemetry.printable import strip_controls

_MEMORY_BYTES = 4 << 30
_KEEP_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class ChildResult:
    """`status` is the exit status, negative for a signal, None where it was killed as too late."""

    status: int | None
    output: str


def run_module(
    module: str, args: Sequence[str], *, stdin: bytes, seconds: float, cwd: Path
) -> ChildResult:
    """What `python -m module args` says, run by our own interpreter in `cwd`.

    No variable of ours reaches it, and it reads no configuration of its own accord: isolated mode
    ignores the current folder, the user's packages and PYTHON* variables. At the time limit it is
    killed with its children.
    """
    with (cwd / ".output").open("w+b") as output, (cwd / ".input").open("w+b") as given:
        given.write(stdin)
        given.seek(0)
        process = subprocess.Popen(
            [sys.executable, "-I", "-B", "-m", module, *args],
            stdin=given,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            env={"PATH": "/usr/bin:/bin", "HOME": str(cwd), "LANG": "C.UTF-8"},
            start_new_session=True,
        )
        try:
            _limit(process.pid)
            status: int | None = process.wait(seconds)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        text = output.read(_KEEP_BYTES).decode("utf-8", "replace")
    return ChildResult(status, strip_controls(text))


def _limit(pid: int) -> None:
    if sys.platform == "linux":
        with suppress(ProcessLookupError, PermissionError):
            resource.prlimit(pid, resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (_MEMORY_BYTES // 8,) * 2)
            resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
