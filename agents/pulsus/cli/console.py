"""Print results to stdout and the rest to stderr, errors as text or JSON (`--output json`).

Decided here: the two lines of an error (with `hint:`), colours (`NO_COLOR`), the width of the
terminal, and progress lines. Codes and exit statuses are in `errors.py`, a closed pipe is handled
in `cli/main.py`. Results of tools are printed by `cli/results/print_result.py`. A JSON document
begins with `schema_version`.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from typing import Any, NoReturn, TextIO

from pulsus.cli.line_folding import fold_line, table_lines
from pulsus.core.telemetry.sanitize import escape_controls, strip_controls
from pulsus.core.text.plurals import counted as counted
from pulsus.errors import PulsusError

SCHEMA_VERSION = 1
_USUAL = 80
"""Columns of a terminal that does not tell."""
_ACCEPT = "pulsus audit --accept-records"
_given_places: list[str] = []
"""Options of this call that name a folder: an offered command works only with them."""


def name_given_places(options: Sequence[str]) -> None:
    """Set the options for folders that some commands are offered with from now on."""
    _given_places[:] = options


def _complete(text: str) -> str:
    """Add the given folders to the offered command, which otherwise reads another decision log."""
    return text.replace(_ACCEPT, in_given_places(_ACCEPT)) if _ACCEPT in text else text


def given_places() -> tuple[str, ...]:
    """Return the options for folders of this call."""
    return tuple(_given_places)


def in_given_places(command: str) -> str:
    """Return the command with the options for folders of this call, so that it finds the same."""
    if not _given_places:
        return command
    import shlex  # rarely needed

    return f"{command} {shlex.join(_given_places)}"


def document(body: Mapping[str, Any]) -> None:
    """Print one JSON document on stdout, `schema_version` first."""
    whole = {"schema_version": SCHEMA_VERSION, **body}
    result(f"{pretty(whole)}\n")


def end_document(
    body: Mapping[str, Any], failure: PulsusError | None, status: int | None = None
) -> NoReturn:
    """Print the document of a command, with its failure if it has one, and leave."""
    document({**body, **(error_body(failure) if failure else {})})
    leave(failure, status)


def leave(failure: PulsusError | None, status: int | None = None) -> NoReturn:
    """Leave with `status`, by default the exit status of `failure`, or 0 without one."""
    own = failure.exit_status if failure else 0
    raise SystemExit(own if status is None else status)


def result(text: str) -> None:
    """Print the result as it is on stdout; do nothing if stdout is closed."""
    if sys.stdout is not None:
        sys.stdout.write(text)
        sys.stdout.flush()


def pretty(value: Any) -> str:
    """Return a JSON value as indented text that no terminal takes for commands; the value is
    whole.
    """
    import json  # not for --version, nor for the shell

    utf8 = (getattr(sys.stdout, "encoding", None) or "utf-8").lower() in ("utf-8", "utf8")
    return escape_controls(json.dumps(value, ensure_ascii=not utf8, indent=2, default=str))


def tolerate_encodings() -> None:
    """Show characters that the terminal cannot encode as escapes, instead of raising.

    A closed stream stays closed, but its number is not left for the next opened file.
    """
    for number, stream in enumerate((sys.stdin, sys.stdout, sys.stderr)):
        if stream is None:
            with contextlib.suppress(OSError):
                _occupy(number)
        elif number and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _occupy(number: int) -> None:
    try:
        os.fstat(number)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_RDWR), number)


def is_terminal(stream: TextIO | None) -> bool:
    """Return True if the stream is a terminal; a closed stream is None."""
    return stream is not None and not stream.closed and stream.isatty()


def width() -> int | None:
    """Return columns of the terminal results are read on; None if they go into a pipe or file."""
    return _columns(sys.stdout)


def layout_width() -> int | None:
    """Return the columns that a person reads results on; None if other programs read them.

    In a pipe, COLUMNS in the environment names a person's width, as `watch` and cron set it.
    """
    return _told_columns() or width()


def _told_columns() -> int | None:
    told = os.environ.get("COLUMNS", "")
    return int(told) or None if told.isascii() and told.isdecimal() else None


def _columns(stream: TextIO) -> int | None:
    """Return the columns of the terminal behind `stream`; None if it is no terminal."""
    if not is_terminal(stream):
        return None
    told = _told_columns()
    if told:
        return told
    try:
        return os.get_terminal_size(stream.fileno()).columns or _USUAL
    except (OSError, ValueError):
        return _USUAL


def json_fields(value: object, names: str, project: Path | None = None) -> dict[str, Any]:
    """Return attributes of a value as a JSON object, in the order of `names`.

    `key=path.of.attributes` names the key, `:6` rounds to 6 digits, and `?` gives null for an empty
    value. Paths are relative to `project`.
    """
    body = {}
    for name in names.split():
        spelt, _, digits = name.removesuffix("?").partition(":")
        key, _, source = spelt.partition("=")
        found = _json_field(attrgetter(source or key)(value), int(digits or -1), project)
        body[key] = None if name.endswith("?") and not found else found
    return body


def _json_field(found: Any, digits: int, project: Path | None) -> Any:
    match found:
        case Mapping():
            return {key: _json_field(each, digits, project) for key, each in found.items()}
        case tuple() | list():
            return [_json_field(each, digits, project) for each in found]
        case Path() if project:
            return str(found.relative_to(project) if found.is_relative_to(project) else found)
        case _:
            return found if digits < 0 or found is None else round(found, digits)


def error_body(error: PulsusError) -> dict[str, Any]:
    """Return the `ok: false` part of a failed command's JSON."""
    body = json_fields(error, "code message hint details")
    return {"ok": False, "error": body | {"hint": _complete(error.hint or "") or error.hint}}


def fail(error: PulsusError, *, as_json: bool) -> None:
    """Tell of a failure: one JSON document on stdout, or two lines on stderr.

    A hint with several ways has a line for each.
    """
    if as_json:
        document(error_body(error))
        return
    before, behind = ("", f" [{error.code}]") if error.is_code_last else (f"[{error.code}]", "")
    note(f"{colour('error', 'red')}{before}: {_on_a_line(error.message)}{behind}")
    if error.hint:
        several = error.ways if error.hint == "; ".join(error.ways) else (error.hint,)
        for way in several:
            note(f"  hint: {_complete(_on_a_line(way))}")


def note(text: str, *, hanging: int | None = None) -> None:
    """A line for the person, on stderr; folded where their terminal is too narrow for it.

    `hanging` is the column at which it goes on.
    """
    import click  # not where everything is fine: it takes its time to load

    wide = _columns(sys.stderr)
    if wide is not None:
        text = "\n".join(fold_line(line, wide, hanging=hanging) for line in text.split("\n"))
    click.echo(text, err=True)


def echo(text: str, columns: int | None = None, *, hanging: int | None = None) -> None:
    """Print lines of the result on stdout, folded if the terminal's `columns` are too few.

    `hanging` is the column at which a folded line goes on.
    """
    import click  # it writes UTF-8 where the environment says ASCII

    wide = columns or width()
    for line in text.split("\n"):
        click.echo(fold_line(line, wide, hanging=hanging) if wide else line)


def warn(text: str) -> None:
    """A warning line on stderr."""
    note(f"{colour('warning', 'yellow')}: {_complete(_on_a_line(text))}")


def colour(text: str, name: str) -> str:
    """Return `text` in a colour where a person looks at stderr and NO_COLOR is not set."""
    return _styled(text, sys.stderr, fg=name)


def dim(text: str, stream: TextIO) -> str:
    """`text` held back where a person looks at `stream` and NO_COLOR is not set."""
    return _styled(text, stream, dim=True)


def styled(text: str, stream: TextIO, style: str) -> str:
    """Return `text` as `bold`, `dim` or in a colour, where a person looks at `stream`."""
    if style in ("bold", "dim"):
        return _styled(text, stream, **{style: True})
    return _styled(text, stream, fg=style)


def _styled(text: str, stream: TextIO, **style: Any) -> str:
    if os.environ.get("NO_COLOR") or not is_terminal(stream):
        return text
    import click

    return click.style(text, **style)


def wants_json(args: Sequence[str]) -> bool:
    """Return True if the command line asks for JSON, even if it does not parse otherwise."""
    return "--output=json" in args or ("--output", "json") in pairwise(args)


def table(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table on stdout: folded for a terminal, aligned plain text in a pipe."""
    cells = [[_on_a_line(str(cell)) for cell in row] for row in rows]
    lines = list(table_lines([list(headers), *cells], width()))
    for number, line in enumerate(lines):
        result(f"{line if number else styled(line, sys.stdout, 'bold')}\n")


def _on_a_line(text: str) -> str:
    """Printable and on one line: a name with a line break must not look like a line of ours."""
    return strip_controls(text).replace("\n", " ")


_PROGRESS_FROM = 50
"""Texts from which encoding takes longer than a moment."""
_PROGRESS_STEP = 10


def encoding_progress(quiet: bool) -> Callable[[int, int], None] | None:
    """Return a callback for (texts encoded, texts in all); None if no person watches."""
    return count_progress("learning what tools and docs mean", quiet=quiet)


def count_progress(label: str, *, quiet: bool) -> Callable[[int, int], None] | None:
    """Return a callback for (items done, items in all); None if no person watches."""
    if quiet or not is_terminal(sys.stderr):
        return None
    import click  # late: slow to load, and mostly no terminal watches

    def tell(done: int, count: int) -> None:
        if count < _PROGRESS_FROM or (done % _PROGRESS_STEP and done != count):
            return
        line = f"\r{label}: {done} of {count}"
        click.echo(line if done < count else "\r\033[K", nl=False, err=True)

    return tell


def line_progress(*, quiet: bool) -> Callable[[str], None]:
    """Return a callback for a line of progress; it prints nothing if no person watches."""
    return (lambda _: None) if quiet or not is_terminal(sys.stderr) else note
