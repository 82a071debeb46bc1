"""Edge of the `pulsus` process: the one place where an error becomes an exit status.

The subcommands are declared in `cli/command_group.py`, the common options in `cli/options.py`;
which error has which exit code is in `errors.py`. A reader that has gone (`| head`, a broken pipe)
is no error, Ctrl-C and a full disk are handled here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from pulsus.cli import console
from pulsus.errors import Aborted, PulsusError, storage_error


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit status (docs/exit-codes.md)."""
    args = list(sys.argv[1:] if argv is None else argv)
    console.tolerate_encodings()
    try:
        status = _status(args)
    except BrokenPipeError:
        # The reader (`| head`) has gone: not an error, and nothing more can be printed.
        status = _silenced(0)
    except OSError as failure:
        if failure.filename is not None:
            raise  # a file that never fails: a bug, so show its traceback
        status = _unprinted(failure)
    raise SystemExit(status)


def _status(args: list[str]) -> int:
    """Do what the arguments say; the exit status, once the failure was told."""
    failure: PulsusError
    try:
        if args[:1] == ["validate"]:
            from pulsus.cli.validate import fast_path

            status = fast_path.run(args[1:])
            if status is not None:
                return status
        if args[:2] == ["commands", "classify"]:
            from pulsus.cli.commands import classify_answer

            status = classify_answer.run(args[2:])
            if status is not None:
                return status
        from pulsus.cli import command_group

        return command_group.run(args)
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else 0
    except PulsusError as error:
        failure = error
    except (KeyboardInterrupt, EOFError, ImportError, SystemError) as error:
        if not _was_interrupted(error):
            raise
        # A tool that Ctrl-C ended says what that means.
        notes = getattr(error, "__notes__", ())
        failure = Aborted("; ".join(("aborted", *(notes or ("Pulsus left nothing half-written",)))))
    try:
        console.fail(failure, as_json=console.wants_json(args))
    except OSError:
        return _silenced(failure.exit_status)  # the failure counts even if no reader sees it
    return failure.exit_status


def _was_interrupted(error: BaseException) -> bool:
    """Return True for Ctrl-C and the end of input, also during the import of a compiled module."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, KeyboardInterrupt | EOFError):
        cause = cause.__cause__ or cause.__context__
    return cause is not None


def _unprinted(failure: OSError) -> int:
    """Return the status where the result itself could not be written (a full disk behind `>
    FILE`).
    """
    error = storage_error(failure, Path("standard output"))
    with suppress(OSError):
        console.fail(error, as_json=False)
    return _silenced(error.exit_status)


def _silenced(status: int) -> int:
    """`status`, with nothing left in a buffer for the interpreter to fail on as it ends."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            if stream is not None:
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return status
