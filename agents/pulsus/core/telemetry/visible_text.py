"""Against injection by hidden characters: show each character of a text (tool calling §32.5).

The words of a model or a host stand on a card that a person approves. A character that hides
(zero-width), that reorders the line (bidi) or that looks like another one (homoglyph) is shown as
its code, such as `\\u{200b}`. Control characters for a terminal are stripped in `sanitize.py`. The
page does the same in `web/pages/static/shared.js`; a test compares both for every character. Pure.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from pulsus.late_pattern import late_pattern

_NOT_PLAIN = late_pattern(r"[^\t\n -~]")
_LATIN = late_pattern("[A-Za-z]")
_OWN_SIGNS = late_pattern("[⏎␣]")
_GAPS = late_pattern(r"\n+|[\t ]{9,}")
_IGNORABLE = (
    *((0x034F, 0x034F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x2800, 0x2800)),
    *((0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFFA0, 0xFFA0), (0xE0000, 0xE0FFF)),
)
"""Characters of other categories that are drawn as nothing, and the Braille blank."""

_LIKE_ASCII = (
    *((0xFF01, 0xFF5E), (0x1D400, 0x1D7FF), (0x2010, 0x2011), (0x2212, 0x2212), (0x2044, 0x2044)),
    *((0x2215, 0x2216), (0x2223, 0x2223), (0x2236, 0x2236), (0x037E, 0x037E), (0x01C0, 0x01C3)),
    *((0x2024, 0x2024), (0x2032, 0x2032), (0xA789, 0xA789), (0x00A6, 0x00A6), (0x00B4, 0x00B4)),
    *((0x00B8, 0x00B8), (0x02C4, 0x02C6), (0x02D7, 0x02D7), (0x02DC, 0x02DC), (0x0589, 0x0589)),
    *((0x05C0, 0x05C0), (0x05C3, 0x05C3), (0x060D, 0x060D), (0x066A, 0x066D), (0x06D4, 0x06D4)),
    *((0x1735, 0x1735), (0x201A, 0x201B), (0x2035, 0x2035), (0x2043, 0x2043), (0x204E, 0x204E)),
    *((0x2052, 0x2053), (0x205A, 0x205A), (0x2217, 0x2217), (0x223C, 0x223C), (0x23FD, 0x23FD)),
    *((0x2571, 0x2572), (0x2758, 0x2758), (0x2768, 0x2775), (0x2795, 0x2796), (0x27CB, 0x27CB)),
    *((0x27CD, 0x27CD), (0x29F5, 0x29F5), (0x29F8, 0x29F9), (0x31D3, 0x31D4), (0xFE30, 0xFE30)),
    *((0xFE50, 0xFE6F), (0xFFE8, 0xFFE8), (0x1FBF0, 0x1FBF9), (0x2025, 0x2025), (0xFB00, 0xFB06)),
    *((0x2160, 0x2188), (0x0131, 0x0131), (0x017F, 0x017F), (0x0251, 0x0251), (0x0261, 0x0261)),
    *((0x05C1, 0x05C2), (0x2039, 0x203A), (0x02C2, 0x02C3)),
)
"""Wide, small and mathematical forms of ASCII, ligatures, Roman numerals, and signs that are drawn
like one of a command line."""

NO_LAST_NEWLINE: Final = "\\ no newline at the end of the file"

_LATIN_LETTERS = ((0x00C0, 0x024F), (0x1E00, 0x1EFF))
"""Letters of living languages with Latin script. Phonetic ones look like ASCII: `ɡ`, `ɑ`."""


def visible_text(text: str) -> str:
    """Return the text with a code for each character that hides or deceives. Newlines stay."""
    if _is_plain(text):
        return text
    latin = _LATIN.search(text) is not None
    return _NOT_PLAIN.sub(
        lambda found: _code_of(found) if _misleads(found[0], latin=latin) else found[0], text
    )


def _is_plain(text: str) -> bool:
    """Return True if no character is one of `_NOT_PLAIN`: that search takes ten times as long."""
    return text.isascii() and text.replace("\n", "").replace("\t", "").isprintable()


def visible_lines(text: str) -> list[str]:
    """Return the lines of a text, with codes. Only a line feed ends a line.

    Other characters that break a line, such as a carriage return, are codes.
    """
    lines = visible_text(text).split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def compared_lines(text: str) -> list[str]:
    """Return the lines of a file for a difference, without codes.

    Only a line feed ends a line. A last line without one is followed by a line that says so.
    """
    lines = text.split("\n")
    return [*lines, NO_LAST_NEWLINE] if lines[-1] else lines[:-1]


def visible_command(text: str) -> str:
    """Return a text as one line in which nothing scrolls away: breaks and long gaps are signs.

    A line break is `⏎`, a run of them `⏎×60`, and a run of nine blanks or more `␣×9`.
    """
    shown = visible_text(_OWN_SIGNS.sub(_code_of, text))
    return _GAPS.sub(_sign_of, shown)


def _code_of(found: re.Match[str]) -> str:
    return f"\\u{{{ord(found[0]):x}}}"


def _sign_of(found: re.Match[str]) -> str:
    sign = "⏎" if found[0][0] == "\n" else "␣"
    times = f"×{len(found[0])}" if len(found[0]) > 1 else ""
    return f" {sign}{times} "


@lru_cache(maxsize=4096)
def _misleads(char: str, *, latin: bool) -> bool:
    """Return True for a character that needs a code; `latin` if its text has Latin letters."""
    code, category = ord(char), unicodedata.category(char)
    if category[0] in "CZ" or _within(code, _IGNORABLE) or _within(code, _LIKE_ASCII):
        return True
    if category == "Nd":
        return True
    # Beside Latin letters those of another script may be mistaken for them, and a mark is drawn
    # over the letter before it, or over what stands there.
    foreign = category[0] in "LM" or category == "Nl"
    return latin and foreign and not _within(code, _LATIN_LETTERS)


def _within(code: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= code <= last for first, last in ranges)
