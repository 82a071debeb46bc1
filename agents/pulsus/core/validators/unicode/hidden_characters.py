"""Characters in a module that show a reader other code than Python reads (spec §8). Pure.

Zero-width, control and bidi characters are refused wherever they stand, in strings and comments
too: as an escape they are visible and allowed. Text in any language stays as it is.
`core/validators/steps/static_gate.py` asks. Generated modules also pass
`core/compose/guardrails/control_characters.py`. Text on an approval card is checked in
`core/telemetry/visible_text.py`.
"""

from __future__ import annotations

import unicodedata

from pulsus.late_pattern import late_pattern

_CONTROL = late_pattern("[\x01-\x08\x0b-\x1f\x7f]")
_BLANKS = late_pattern(r"\S[ \t\u00a0\u2000-\u200a\u202f\u205f\u3000]{100}[^\S\n]*\S")
_HIDDEN = ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")
_IGNORABLE = (
    *((0x034F, 0x034F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x2800, 0x2800)),
    *((0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0xE0000, 0xE0FFF)),
    (0xFDD0, 0xFDEF),
)
"""Default ignorable characters of other categories, the Braille blank, and noncharacters."""
_JOINERS = "\u200c\u200d"
_STYLES = "\ufe0e\ufe0f"
_JOINING = frozenset(
    (
        *("ARABIC", "BENGALI", "DEVANAGARI", "GUJARATI", "GURMUKHI", "KANNADA", "KHMER", "LAO"),
        *("MALAYALAM", "MONGOLIAN", "MYANMAR", "ORIYA", "SINHALA", "SYRIAC", "TAMIL", "TELUGU"),
        *("THAANA", "TIBETAN"),
    )
)
"""Scripts that spell words with a joiner between two letters."""


def find_hidden_character(text: str) -> str:
    """Return why these characters are refused, with the line; "" if all of them can be seen.

    Also refused: code behind a hundred blanks, which stands outside every window.
    """
    if text.isascii():
        found = _CONTROL.search(text.replace("\r\n", "\n"))
        return _describe_character(text, found[0]) if found else _find_far_text(text)
    for char in sorted(set(text)):
        if not char.isascii() or char < " ":
            if char in "\0\t\n\r" or not _is_hidden(char):
                continue
            if char not in _JOINERS + _STYLES or not _is_always_in_place(text, char):
                return _describe_character(text, char)
    return _find_far_text(text)


def _find_far_text(text: str) -> str:
    far = _BLANKS.search(text)
    if far is None:
        return ""
    line = text.count("\n", 0, far.start()) + 1
    return f"line {line}: over 100 blanks hide what follows them in the line: remove them"


def _is_hidden(char: str) -> bool:
    if unicodedata.category(char) in _HIDDEN:
        return True
    code = ord(char)
    return code & 0xFFFE == 0xFFFE or any(low <= code <= high for low, high in _IGNORABLE)


def _is_always_in_place(text: str, char: str) -> bool:
    """Return True if each `char` shapes an emoji, or joins letters of a script that needs it."""
    at = text.find(char)
    while at >= 0:
        before, after = text[at - 1 : at] or " ", text[at + 1 : at + 2] or " "
        if char in _STYLES:
            fits = _is_symbol(before) or (before in "#*0123456789" and after == "\u20e3")
        elif _is_symbol(before) or before == "\ufe0f":
            fits = char == "\u200d" and _is_symbol(after)
        else:
            fits = _script_of(before) in _JOINING and (
                _script_of(after) in _JOINING or after in " \n"
            )
        if not fits:
            return False
        at = text.find(char, at + 1)
    return True


def _is_symbol(char: str) -> bool:
    """Return True for an emoji or another symbol beyond ASCII, skin tones included."""
    return char > "\x7f" and unicodedata.category(char) in ("So", "Sm", "Sk", "Po")


def _script_of(char: str) -> str:
    return unicodedata.name(char, "").partition(" ")[0]


def _describe_character(text: str, char: str) -> str:
    line = text.count("\n", 0, text.index(char)) + 1
    name = unicodedata.name(char, "a control character").lower()
    what = f"line {line}: U+{ord(char):04X} ({name})"
    if unicodedata.bidirectional(char) in ("RLO", "LRO", "RLE", "LRE", "RLI", "LRI", "FSI", "PDI"):
        return f"{what} reorders the text on screen: remove it"
    return f"{what} is not seen, or starts a line in some editors: write an escape, or remove it"
