"""Table patterns in plain words, for refusals: a regular expression tells a reader nothing."""

from __future__ import annotations

import re
from typing import Final

_LITERALS: Final = re.compile(r"[A-Za-z0-9_.:=+-]+(\|[A-Za-z0-9_.:=+-]+){0,11}")
_CLASS: Final = re.compile(r"\[(?P<held>(?:\\.|[^\\\]^])(?:\\.|[^\\\]])*)\](?:[+*]|\{[\d,]+\})")
_RANGES: Final = (("A-Z", "capital letters"), ("a-z", "small letters"), ("0-9", "digits"))


def in_words(pattern: str) -> str:
    """Return what `pattern` takes, or an empty text if it is more than a list or a set of signs."""
    if _LITERALS.fullmatch(pattern) and "." not in pattern:
        return pattern.replace("|", " or ")
    found = _CLASS.fullmatch(pattern)
    if found is None:
        return ""
    held = found["held"]
    named = [word for span, word in _RANGES if span in held]
    for span, _ in _RANGES:
        held = held.replace(span, "")
    held = held.replace(r"\w", "").replace(r"\d", "")
    if "letters" not in " ".join(named) and r"\w" in found["held"]:
        named.insert(0, "letters")
    signs = re.sub(r"\\(.)", r"\1", held)
    if re.search(r"[A-Za-z0-9]-", signs):
        return ""  # another range
    named += ["blanks"] if " " in signs else []
    marks = " ".join(dict.fromkeys(signs.replace(" ", "")))
    if named[:2] == ["capital letters", "small letters"]:
        named[:2] = ["letters"]
    return " and ".join(filter(None, (", ".join(named), marks)))
