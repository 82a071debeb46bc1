"""Runs `pulsus validate --watch`: validates again whenever a module changes, until Ctrl-C.

It waits until a file has been quiet for a poll of half a second (debounce).

Effect: polls the files' times.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from pulsus.cli import console
from pulsus.cli.command_session import CommandSession
from pulsus.cli.validate.validation_round import Validation
from pulsus.core.text.plurals import counted
from pulsus.core.validators.steps import mypy_prestart
from pulsus.core.validators.steps.mypy import SharedPrestartedMypy
from pulsus.core.validators.verdict_cache import CheckedModule
from pulsus.errors import PulsusError

POLL_SECONDS = 0.5
_SETTLED_POLLS = 1  # an editor may write a file in several goes

Seen = dict[Path, tuple[int, int, int]]


def watch(
    session: CommandSession,
    paths: Sequence[Path],
    revision: str | None,
    sleep: Callable[[float], None] = time.sleep,
) -> int:
    """Validate after every change until Ctrl-C, and return the exit status of the last round.

    A round that cannot be made (a file is gone, a revision unknown) is reported, and the next
    change tries again. The first one must be possible: it raises.
    """
    validation = Validation(session)
    news = ChangedVerdicts()
    seen = _file_stamps(paths)
    status = validation.run(validation.modules(paths, revision), news)
    try:
        while True:
            console.note(f"watching {counted(len(seen), 'file')}; Ctrl-C ends it")
            now = _wait_for_change(paths, seen, sleep)
            with _start_mypy() as ahead:  # it loads while the editor finishes
                seen = _wait_until_quiet(paths, now, sleep)
                status = _validate_again(Validation(session, ahead), paths, revision, news)
    except KeyboardInterrupt:
        console.note("")
        return status


@contextmanager
def _start_mypy() -> Iterator[SharedPrestartedMypy | None]:
    """Start a mypy ahead, and give it to a block; None if it must be started later."""
    started = mypy_prestart.prestart_mypy()
    ahead = SharedPrestartedMypy(started) if started else None
    try:
        yield ahead
    finally:
        if ahead:
            ahead.end()


class ChangedVerdicts:
    """Chooses the verdicts to print: the new ones, and those that differ from the last round.

    A cached verdict is printed again if the module was broken in between.
    """

    def __init__(self) -> None:
        self._printed: dict[Path, tuple[str, str]] = {}

    def __call__(self, found: Sequence[CheckedModule]) -> list[CheckedModule]:
        """Return the verdicts to print, in order, and remember them as printed."""
        before = self._printed
        self._printed = {c.report.path: (c.report.sha256, c.report.verdict) for c in found}
        return [
            checked
            for checked in found
            if not checked.report.cached
            or before.get(checked.report.path) != self._printed[checked.report.path]
        ]


def _validate_again(
    validation: Validation, paths: Sequence[Path], revision: str | None, news: ChangedVerdicts
) -> int:
    try:
        return validation.run(validation.modules(paths, revision), news)
    except PulsusError as failure:
        click.echo(err=True)
        console.fail(failure, as_json=False)
        return failure.exit_status


def _wait_for_change(paths: Sequence[Path], before: Seen, sleep: Callable[[float], None]) -> Seen:
    """Wait for a change, and return the files' stamps after it."""
    now = before
    while now == before:
        sleep(POLL_SECONDS)
        now = _file_stamps(paths)
    return now


def _wait_until_quiet(paths: Sequence[Path], now: Seen, sleep: Callable[[float], None]) -> Seen:
    """Wait until nothing changes for a while, and return the files' stamps."""
    settled = 0
    while settled < _SETTLED_POLLS:
        sleep(POLL_SECONDS)
        later = _file_stamps(paths)
        settled = settled + 1 if later == now else 0
        now = later
    return now


def _file_stamps(paths: Sequence[Path]) -> Seen:
    found: Seen = {}
    for path in paths:
        for file in path.rglob("*.py") if path.is_dir() else (path,):
            try:
                status = file.stat()
            except OSError:
                continue
            found[file] = (status.st_mtime_ns, status.st_size, status.st_ctime_ns)
    return found
