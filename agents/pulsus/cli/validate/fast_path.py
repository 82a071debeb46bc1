"""Runs `pulsus validate FILE`, the form that editors and hooks use on every save (spec §8).

The steps that accept or refuse a module are in `core/validators/pipeline.py`, its verdict may be
cached (`core/validators/verdict_cache.py`).

The command line's library takes longer to load than the gate to refuse, so it is left out. mypy
starts first, because importing it takes most of the time of an accepted module. Any other form, and
any mistake in this one, is for `cli/validate/validate_command.py`.
"""

from __future__ import annotations

import gc
import hashlib
import os
from collections.abc import Sequence

from pulsus.core.validators.steps import mypy_prestart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from pulsus.cli.command_session import CommandSession
    from pulsus.core.validators.steps.mypy import SharedPrestartedMypy

_ENTRIES = (b"def run(", b"def main(")
_MOST_BYTES = 1 << 20  # the gate refuses larger modules


def run(args: Sequence[str]) -> int | None:
    """Return the exit status, or None if the line is not of this form. Raises PulsusError."""
    source = _only_file(args)
    if source is None:
        return None
    known = _is_known(source)
    started = mypy_prestart.prestart_mypy() if not known and _has_entry(source) else None
    gc.disable()  # loaded modules stay, so collecting garbage finds none
    try:
        from pathlib import Path

        from pulsus.cli.command_session import CommandSession, current_project, tell_project
        from pulsus.cli.command_warnings import listen

        listen()
        session = CommandSession(current_project(), "text", 0)
        tell_project(session.project)
        path = Path(args[0])
        status = None if known else _refused_by_gate(session, path, source)
        if status is not None:
            return status
        gc.enable()
        ahead = None
        if started:
            from pulsus.core.validators.steps.mypy import SharedPrestartedMypy

            ahead, started = SharedPrestartedMypy(started), None
        return _validate_one(session, path, ahead)
    finally:
        gc.enable()
        if started:
            started.end()


def _has_entry(source: bytes) -> bool:
    """False if the gate refuses the text before mypy is asked."""
    return any(entry in source for entry in _ENTRIES)


def _is_known(source: bytes) -> bool:
    """Tell if an earlier verdict on these bytes is likely to hold.

    A guess: the gate reads them, and mypy is started, later if they are needed all the same.
    """
    known = f".pulsus/cache/validation/{hashlib.sha256(source).hexdigest()}.known"
    return os.path.exists(known)  # noqa: PTH110 - pathlib is not loaded yet


def _only_file(args: Sequence[str]) -> bytes | None:
    """Return the bytes of the one file that is named, or None for any other line."""
    if len(args) != 1 or args[0].startswith("-") or "_PULSUS_COMPLETE" in os.environ:
        return None
    if not args[0].endswith(".py") or not os.path.isfile(args[0]):  # noqa: PTH113 - see above
        return None
    try:
        with open(args[0], "rb") as file:  # noqa: PTH123
            source = file.read(_MOST_BYTES + 1)
    except OSError:
        return None
    return source if len(source) <= _MOST_BYTES else None


def _refused_by_gate(session: CommandSession, path: Path, source: bytes) -> int | None:
    """Return the exit status if the gate refuses these bytes, else None."""
    from pulsus.cli import console
    from pulsus.cli.render.validation_text import report_lines

    app, real = session.app, path.resolve()
    tool = app.define(source, real)
    found = app.pipeline().refusal(source, real, tool)
    if found is None:
        return None
    app.cache_settings()
    console.result("".join(f"{line}\n" for line in report_lines(found, session.project)))
    return 3


def _validate_one(session: CommandSession, path: Path, ahead: SharedPrestartedMypy | None) -> int:
    try:
        from pulsus.cli.validate.validation_round import Validation

        validation = Validation(session, ahead)
        return validation.run(validation.modules([path], None))
    finally:
        if ahead:
            ahead.end()
