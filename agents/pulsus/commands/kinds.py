"""What a single word has to be, by the names that tables use (docs/commands.md lists them).

Kinds that look into a word or into all that follow (`sql:postgres`, `awk`, `command`) are content
inspectors (`content.py`) or wrappers (`nested.py`), not here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from pulsus.commands.table import WordKind
from pulsus.commands.words import Word

_PATTERNS: Final[Mapping[str, re.Pattern[str]]] = {
    name: re.compile(pattern)
    for name, pattern in {
        "number": r"[+-]?\d+",
        "decimal": r"[+-]?(\d+(\.\d*)?|\.\d+)",
        "size": r"[+-]?\d+(\.\d+)?([bcwkKmMgGtTpPeE](i?B)?)?",
        "count": r"[+-]?\d+([bkKmMgGtTpPeE](i?B)?)?",
        "duration": r"\d*\.?\d+([smhd]|ms|us|min|sec)?",
        "name": r"[A-Za-z0-9_][A-Za-z0-9_.@:+\\-]*",
        "host": r"[A-Za-z0-9_:\[][A-Za-z0-9_.:%\[\]-]*",
        "assignment": r"(LC_[A-Z]+|LANG|LANGUAGE|TZ)=(?!:?/(?!usr/share/zoneinfo/)|.*\.\.).*",
    }.items()
}

WILD_OK: Final = frozenset({"path", "file", "text", "http_url"})
"""Kinds that any number of file names may fill (a URL's `?` stands for names that begin alike)."""


def fits(word: Word, kind: WordKind) -> bool:
    """Whether `word` is a `kind`. A wild word is only where file names may stand."""
    if word.wild:
        return kind.name in WILD_OK and (kind.name != "file" or word.head[:1] != "+")
    if kind.name == "literal":
        return word.text in kind.literals
    if kind.pattern is not None:
        return kind.pattern.fullmatch(word.text) is not None
    known = _PATTERNS.get(kind.name)
    if known is not None:
        return known.fullmatch(word.text) is not None
    return _CHECKS[kind.name](word.text)


def _any(text: str) -> bool:
    return True


def _nonempty(text: str) -> bool:
    return bool(text)


def _unsigned(text: str) -> bool:
    """No option that begins with `+` (`tail +1f`, `lsof +r1`)."""
    return not text.startswith("+")


_CHECKS: Final[Mapping[str, Callable[[str], bool]]] = {
    "text": _any,
    "path": _any,
    "file": _unsigned,
    "word": _nonempty,
}

NAMES: Final = frozenset(_PATTERNS) | frozenset(_CHECKS) | {"literal", "pattern"}
"""Kinds that say what one word is."""

_READABLE: Final = 30
"""Characters of a pattern that still say something to whoever reads a refusal."""


def shown(kind: WordKind) -> str:
    """What a word has to be, for a refusal."""
    if kind.name == "literal":
        return " or ".join(sorted(kind.literals))
    if kind.name == "pattern":
        plain = len(kind.argument) <= _READABLE and "(?" not in kind.argument
        return f"/{kind.argument}/" if plain else "words of another form"
    return f"a {kind.name}"
