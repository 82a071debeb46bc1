"""The type step (spec §8.2). Effect: runs mypy on a private copy, with our own configuration.

A configuration of the validated tree is never read: a `plugins=` line there runs code.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

from pulsus.core.sandbox.child import ChildResult, run_module
from pulsus.core.validators.finding import Finding
from pulsus.core.validators.ruff import first_line, missing
from pulsus.errors import ConfigError

CONFIG = Path(__file__).with_name("mypy.ini")
_COPY = "candidate.py"
_NOWHERE = Path(os.devnull)
_FLAG = re.compile(
    r"--(strict|extra-checks|check-untyped-defs|local-partial-types"
    r"|strict-[a-z-]+|(no-)?(warn|disallow|allow|implicit)-[a-z-]+"
    r"|(enable|disable)-error-code=[a-z-]+)"
)


def mypy(
    source: bytes,
    name: str,
    *,
    flags: tuple[str, ...],
    seconds: float,
    cache_dir: Path | None,
    module: str = "mypy",
) -> Finding:
    """What mypy finds. Too late or crashed is a failure; not installed is unverified.

    `cache_dir` keeps what it knows of the standard library; None keeps nothing (much slower).
    Raises ConfigError for a flag that is not about checking: others name files and programs.
    """
    for flag in flags:
        if not _FLAG.fullmatch(flag):
            raise ConfigError(f"validation.mypy_flags: {flag!r} is not a flag about checking")
    if find_spec(module) is None:
        return missing(module)
    began = time.monotonic()
    cache = _usable(cache_dir)
    done = _run(module, source, flags, cache, seconds)
    if done.status not in (0, 1, None) and cache != _NOWHERE:
        # A damaged cache, or a full disk below it, must not be held against the module.
        left = max(1.0, seconds - (time.monotonic() - began))
        done = _run(module, source, flags, _NOWHERE, left)
        if done.status in (0, 1):
            shutil.rmtree(cache, ignore_errors=True)
    output = done.output.replace(_COPY, f"{name}.py")
    match done.status:
        case 0:
            return Finding(ok=True, output=output)
        case None:
            return Finding(ok=False, message=f"took longer than {seconds:g} s and was killed")
        case 1 if f"No module named {module}" in output:
            return missing(module)
        case 1:
            return Finding(ok=False, message=first_line(output), output=output)
        case status:
            message = f"mypy itself failed with status {status}: {first_line(output)}"
            return Finding(ok=False, message=message, output=output)


def _run(
    module: str, source: bytes, flags: tuple[str, ...], cache: Path, seconds: float
) -> ChildResult:
    args = [
        *flags,
        *(f"--config-file={CONFIG}", f"--cache-dir={cache}"),
        *(f"--python-executable={sys.executable}", "--", _COPY),
    ]
    with tempfile.TemporaryDirectory(prefix="pulsus-mypy-") as folder:
        Path(folder, _COPY).write_bytes(source)
        return run_module(module, args, stdin=b"", seconds=seconds, cwd=Path(folder))


def _usable(cache_dir: Path | None) -> Path:
    if cache_dir is None:
        return _NOWHERE
    try:
        cache_dir.mkdir(parents=True, exist_ok=True)
    except OSError:
        return _NOWHERE
    return cache_dir.resolve() if os.access(cache_dir, os.W_OK | os.X_OK) else _NOWHERE
