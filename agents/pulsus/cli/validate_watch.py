"""`pulsus validate --watch`: again whenever a module changes, until Ctrl-C. Polls files' times."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from pulsus.cli import output
from pulsus.cli.common import Session
from pulsus.cli.validate_run import Validation
from pulsus.errors import PulsusError

POLL_SECONDS = 0.5
_SETTLED_POLLS = 1  # an editor may write a file in several goes

Seen = dict[Path, tuple[int, int, int]]


def watch(
    session: Session,
    paths: Sequence[Path],
    revision: str | None,
    sleep: Callable[[float], None] = time.sleep,
) -> int:
    """The exit status of the last round, once somebody stops it.

    A round that cannot be made (a file is gone, a revision unknown) is told of, and the next change
    tries again. The first one must be possible: it raises.
    """
    validation = Validation(session)
    seen = _seen(paths)
    status = validation.run(validation.modules(paths, revision))
    try:
        while True:
            output.note(f"watching {len(seen)} modules; Ctrl-C ends it")
            seen = _changed(paths, seen, sleep)
            status = _again(Validation(session), paths, revision)
    except KeyboardInterrupt:
        output.note("")
        return status


def _again(validation: Validation, paths: Sequence[Path], revision: str | None) -> int:
    try:
        return validation.run(validation.modules(paths, revision), only_new=True)
    except PulsusError as failure:
        click.echo(err=True)
        output.fail(failure, as_json=False)
        return failure.exit_status


def _changed(paths: Sequence[Path], before: Seen, sleep: Callable[[float], None]) -> Seen:
    """What is there once something changed and nothing has for a while."""
    now = before
    while now == before:
        sleep(POLL_SECONDS)
        now = _seen(paths)
    settled = 0
    while settled < _SETTLED_POLLS:
        sleep(POLL_SECONDS)
        later = _seen(paths)
        settled = settled + 1 if later == now else 0
        now = later
    return now


def _seen(paths: Sequence[Path]) -> Seen:
    found: Seen = {}
    for path in paths:
        for file in path.rglob("*.py") if path.is_dir() else (path,):
            try:
                status = file.stat()
            except OSError:
                continue
            found[file] = (status.st_mtime_ns, status.st_size, status.st_ctime_ns)
    return found
