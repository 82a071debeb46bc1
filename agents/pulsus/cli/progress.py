"""How far long work is, on one line of a terminal that is gone when it is done."""

from __future__ import annotations

import sys
from collections.abc import Callable

from pulsus.cli.console import is_terminal, note

LONG = 50
"""Texts from which encoding takes longer than a moment."""
_EVERY = 10


def encoding_progress(quiet: bool) -> Callable[[int, int], None] | None:
    """What to call with the number of texts encoded and that of all; None where nobody looks."""
    return count_progress("learning what tools and docs mean", quiet=quiet)


def count_progress(label: str, *, quiet: bool) -> Callable[[int, int], None] | None:
    """What to call with how many are done and how many there are; None where nobody looks."""
    if quiet or not is_terminal(sys.stderr):
        return None
    import click  # it takes its time to load, and mostly nobody looks

    def tell(done: int, count: int) -> None:
        if count < LONG or (done % _EVERY and done != count):
            return
        line = f"\r{label}: {done} of {count}"
        click.echo(line if done < count else "\r\033[K", nl=False, err=True)

    return tell


def line_progress(*, quiet: bool) -> Callable[[str], None]:
    """What to call with a line on how far work is that takes minutes; silent where nobody looks."""
    return (lambda _: None) if quiet or not is_terminal(sys.stderr) else note
