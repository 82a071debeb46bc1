"""Characters that hide what a command does, and commands that are too long: refused before parsing.

Invisible Unicode (zero width, bidi, control characters) and invalid UTF-8 are refused. A command
too long is refused too. The longest command is LONGEST_COMMAND in `command_limits.py`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from pulsus.commands.shell.command_limits import LONGEST_COMMAND
from pulsus.commands.shell.words import Word

_HALVES: Final = re.compile("[\ud800-\udfff]")
_ASCII = re.compile(r"[\t\n\x20-\x7e]*")
_HIDING: Final = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"}
"""Unicode categories of what is not seen: controls, formats (zero width, bidi), odd blanks."""


def find_hidden(command: str) -> tuple[str, str] | None:
    """Return the first character that must not stand in a command, as `(U+XXXX, why)`, or None.

    Other characters than ASCII may stand in arguments (`grep –i` is found where words are judged).
    """
    if len(command) > LONGEST_COMMAND:
        return f"{len(command)} characters", f"longer than the limit of {LONGEST_COMMAND}"
    if _ASCII.fullmatch(command):
        return None
    for char in command:
        if char in "\t\n" or " " <= char <= "~":
            continue
        if "\udc80" <= char <= "\udcff":  # how Python keeps a byte that it could not read
            return (
                f"\\x{ord(char) - 0xDC00:02x}",
                "the command has to be UTF-8, and this byte is not",
            )
        if unicodedata.category(char) == "Cs":
            return f"U+{ord(char):04X}", "half of a UTF-16 surrogate pair is no character"
        if unicodedata.category(char) in _HIDING:
            return f"U+{ord(char):04X}", _hiding_reason(char)
    return None


def _hiding_reason(char: str) -> str:
    name = unicodedata.name(char, "a control character").lower()
    return f"{name} is invisible and may separate or hide words"


def escape_invalid(command: str) -> str:
    """Return `command` as text that UTF-8 can hold: `\\xff` for a byte that it cannot, `\\ud800`
    for a half of a pair.
    """
    return _HALVES.sub(_escape_character, command)


def _escape_character(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"


_SIGNS: Final = "\u2212\u02d7\u2043\u2796"
"""Minus sign, modifier minus, hyphen bullet, heavy minus."""


def dash_readings(words: Sequence[Word]) -> Iterator[tuple[Word, ...]]:
    """Yield `words` as they are, then with plain dashes at their beginnings if that differs."""
    as_they_are = tuple(words)
    yield as_they_are
    meant = with_plain_dashes(words)
    if meant != as_they_are:
        yield meant


def with_plain_dashes(words: Sequence[Word]) -> tuple[Word, ...]:
    """Return `words` with a plain dash for each sign at their beginnings that looks like one."""
    if "".join([word.text[:1] for word in words]).isascii():
        return tuple(words)  # most calls, and the quickest way for them
    return tuple(map(_with_plain_dashes, words))


def _with_plain_dashes(word: Word) -> Word:
    if not word.text or word.text[0].isascii() or not _is_dash(word.text[0]):
        return word
    return replace(word, text=_replace_dashes(word.text), head=_replace_dashes(word.head))


def _replace_dashes(text: str) -> str:
    bare = text.lstrip("".join(filter(_is_dash, set(text))))
    return "-" * (len(text) - len(bare)) + bare


def _is_dash(char: str) -> bool:
    return unicodedata.category(char) == "Pd" or char in _SIGNS
