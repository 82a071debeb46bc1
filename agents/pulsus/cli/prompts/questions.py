"""Questions to the person at the terminal: one line, a word of a list, yes or no. Reads stdin.

No answer, or three that are not understood, count as no. If a person can be asked at all is decided
in `cli/command_session.py`. Lines that were typed ahead are dropped before a second try.
"""

from __future__ import annotations

import sys
import termios
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import partial
from typing import Final

import click

from pulsus.cli import console
from pulsus.core.telemetry.sanitize import strip_controls
from pulsus.core.types import ArgSpec

TRIES: Final = 3
"""A question is asked this often. Then the caller's `unclear` stands for the answer."""

UNCLEAR: Final = "unclear"
"""The result of `ask_word` if no answer was understood. It is no answer that a person can give."""

AskLine = Callable[[str], str | None]
"""Asks for one line; None at the end of the input."""


def confirm(question: str, details: Callable[[], None] | None = None) -> bool:
    """Ask a yes-or-no question. The end of the input means no.

    With `details` the person may also answer d, which shows them and asks again.
    """
    ways, asked = ["yes", "no"], f"{question} [y/N]"
    if details is not None:
        ways, asked = [*ways, "details"], f"{question} [y/N, d: details]"
    ask = partial(ask_word, ask_line, asked, ways, enter="no", unclear="no")
    while (said := ask()) == "details" and details:
        details()
    return said == "yes"


def ask_word(
    ask: AskLine,
    prompt: str,
    words: Collection[str],
    *,
    enter: str | None = None,
    unclear: str = UNCLEAR,
) -> str | None:
    """Return the word that the person types, or its unique beginning. None at the end of the input.

    Enter returns `enter`. After any other answer the question is asked again. If no answer is
    understood, the result is `unclear`.
    """
    for _ in range(TRIES):
        said = ask(prompt)
        if said is None:
            return None
        if not said and enter is not None:
            return enter
        meant = [word for word in words if word.startswith(said.lower())]
        if len(meant) == 1:
            return meant[0]
        console.note(f"{said!r} is not one of the answers: type {answer_letters(words)}")
        drop_typed_ahead()
    if unclear != UNCLEAR:
        console.note(f"no answer was understood: taken as {unclear}")
    return unclear


def drop_typed_ahead() -> None:
    """Discard the lines that were typed, or pasted, before the question is asked again.

    Otherwise the second line of a pasted text would answer the question before it is read.
    """
    if sys.stdin.isatty():
        with suppress(termios.error):  # the terminal is gone: the next question ends the input
            termios.tcflush(sys.stdin, termios.TCIFLUSH)


def answer_letters(words: Collection[str]) -> str:
    """Return the first letters of the answers, as `a, e, r or d`."""
    *most, last = (word[0] for word in words)
    return f"{', '.join(most)} or {last}"


def ask_value(prompt: str, arg: ArgSpec, proposed: str) -> str | None:
    """Return the text of a value. A bare yes to a proposed value is asked once more.

    Many people type y for what Enter does, and as a folder or a name it would be another value.
    """
    text = ask_line(prompt)
    if (
        not proposed
        or text is None
        or text.lower() not in ("y", "yes")
        or "bool" in (arg.type_hint or "")
    ):
        return text
    console.note(
        f"{text!r} would be the value of {arg.name}: press Enter for the proposed value, or type "
        f"{text!r} again to use it"
    )
    drop_typed_ahead()
    return ask_line(prompt)


def ask_line(prompt: str) -> str | None:
    """Return one line from the person; None at the end of input. Ctrl-C raises click.Abort."""
    try:
        said: str = click.prompt(prompt, default="", show_default=False, err=True)
    except click.Abort as stopped:
        if isinstance(stopped.__context__, KeyboardInterrupt):
            raise
        console.note("")
        return None
    return strip_controls(said).strip()
