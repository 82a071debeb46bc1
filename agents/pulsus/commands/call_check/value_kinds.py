"""Check one word against a kind that a table names (docs/commands.md lists them).

Here the patterns of kinds (number, name, host, path, duration) are. A word that does not fit is
refused in `arguments.py`.

Kinds that look into a word or into all that follow (`sql:postgres`, `awk`, `command`) are content
inspectors (`commands/content_inspector.py`) or wrappers (`nested_commands.py`), not here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from pulsus.commands.program_tables.program_table import WordKind
from pulsus.commands.program_tables.safe_regex import LONGEST
from pulsus.commands.shell.parent_folders import moved_elsewhere
from pulsus.commands.shell.words import Word
from pulsus.commands.shipped_data import rules_of

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
        "text": r"(?s:.*)",
        "path": r"(?s:.*)",
        "file": r"(?!\+)(?s:.*)",  # not an option such as `tail +1f`, `lsof +r1`
        "word": r"(?s:.+)",
        "settings": r"/(?:etc|usr/(?:local/)?(?:etc|lib|share))/(?!(?s:.*/)?\.\.(?:/|$))(?s:.+)",
        "assignment": r"(LC_[A-Z]+|LANG|LANGUAGE|TZ)=(?!:?/(?!usr/share/zoneinfo/)|:?~|.*\.\.).*",
    }.items()
}


def kind_texts() -> Mapping[str, Mapping[str, str]]:
    """Return the texts of the kinds: `about` for docs, `kinds` and `patterns` for refusals."""
    # Read late: most calls are not refused.
    texts: Mapping[str, Mapping[str, str]] = rules_of(Path(__file__).with_name("kind_texts.yaml"))
    return texts


WILD_OK: Final = frozenset({"path", "file", "text", "http_url"})
"""Kinds that any number of file names may fill (a URL's `?` stands for names that begin alike)."""


def fits(word: Word, kind: WordKind) -> bool:
    """Return True if `word` is a `kind`. A wild word is only where file names may stand."""
    if word.wild:
        return kind.name in WILD_OK and (kind.name != "file" or word.head[:1] != "+")
    if kind.name == "literal":
        return word.text in kind.literals
    if kind.pattern is not None:
        readings = (word.text, *moved_elsewhere(word.text))
        return len(word.text) <= LONGEST and all(map(kind.pattern.fullmatch, readings))
    return _PATTERNS[kind.name].fullmatch(word.text) is not None


NAMES: Final = frozenset(_PATTERNS) | {"literal", "pattern"}
"""Kinds that say what one word is."""


_NAMED: Final = 12
"""Literals that are all named in a refusal."""


def describe_kind(kind: WordKind, program: str) -> str:
    """Return what a word has to be, for a refusal of a call of `program`."""
    if kind.name == "literal":
        return _describe_choices(sorted(kind.literals))
    if kind.name == "pattern":
        there = f"words of another form (`pulsus commands show {program}` has it)"
        known = kind_texts()["patterns"].get(kind.argument)
        return kind.says or known or in_words(kind.argument) or there
    return kind_texts()["kinds"].get(kind.name, f"a {kind.name}")


def _describe_choices(words: Sequence[str]) -> str:
    if len(words) <= _NAMED:
        return " or ".join(words)
    return f"one of {', '.join(words[:_NAMED])} and {len(words) - _NAMED} more"


def too_long(word: Word, kind: WordKind) -> str:
    """Return why `word` is too long for a pattern, or an empty text."""
    long = kind.pattern is not None and len(word.text) > LONGEST
    return f"longer than the {LONGEST:,} characters that a pattern is asked about" if long else ""


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
