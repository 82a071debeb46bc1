"""What a single word has to be, by the names that tables use (docs/commands.md lists them).

Kinds that look into a word or into all that follow (`sql:postgres`, `awk`, `command`) are content
inspectors (`content.py`) or wrappers (`nested.py`), not here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from pulsus.commands.program_tables.program_table import WordKind
from pulsus.commands.program_tables.safe_regex import LONGEST
from pulsus.commands.shell.words import Word

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
        "assignment": r"(LC_[A-Z]+|LANG|LANGUAGE|TZ)=(?!:?/(?!usr/share/zoneinfo/)|:?~|.*\.\.).*",
    }.items()
}

ABOUT: Final[Mapping[str, str]] = {
    "text": "any text; `*` may stand in it",
    "path": "any text that names a file; `*` may stand in it",
    "file": "a path that does not begin with `+`; `*` may stand in it",
    "word": "any text but an empty one, and no `*`",
    "number": "a whole number, with or without a sign: `5`, `-1`",
    "decimal": "a number with or without a fraction: `5`, `-1.5`, `.5`",
    "count": "a whole number with or without a unit: `5`, `10k`, `2MiB`",
    "size": "a number with or without a fraction and a unit: `5`, `1.5G`, `10c`",
    "duration": "a time: `5`, `0.5s`, `10min`, `200ms`",
    "name": "a letter, digit or `_`, then also `.`, `@`, `:`, `+`, `-` and `\\`",
    "host": "a host name or address: letters, digits and `_ . : % [ ] -`",
    "assignment": "`LC_*`, `LANG`, `LANGUAGE` or `TZ` with a value that names no file elsewhere",
    "command": "a program and all its words, judged in their turn",
    "command:fed": "the same, and more words follow that nobody knows (xargs)",
    "command:;": "the same, as an option's value, up to `;` or `+` (find)",
    "shell": "words that a shell on another machine reads once more (ssh)",
    "awk": "an awk program",
    "cloud": "the words of a cloud's client, judged by its verbs",
    "cql": "Cassandra's language",
    "http_url": "an address of http or https; `http_url:docker` one of docker's socket",
    "http_user": "`user:password`",
    "influxql": "InfluxDB's language",
    "jq": "a jq program",
    "miller": "Miller's verbs",
    "mongo": "MongoDB's shell language",
    "postgres_place": "a database's name or address, without a setting that runs something",
    "ps": "the words of ps, in both of its readings; `ps:podman` columns of podman",
    "redis": "a redis command, word by word",
    "redis_times": "how often redis-cli repeats: above 0",
    "sed": "a sed script; `sed:joined` where several options make up one",
    "sql": "SQL of the dialect behind the colon",
    "yq": "a yq program",
}
"""Every kind that tables name, as docs/commands.md has it; `=lit` and `/pattern/` beside them."""

WILD_OK: Final = frozenset({"path", "file", "text", "http_url"})
"""Kinds that any number of file names may fill (a URL's `?` stands for names that begin alike)."""


def fits(word: Word, kind: WordKind) -> bool:
    """Whether `word` is a `kind`. A wild word is only where file names may stand."""
    if word.wild:
        return kind.name in WILD_OK and (kind.name != "file" or word.head[:1] != "+")
    if kind.name == "literal":
        return word.text in kind.literals
    if kind.pattern is not None:
        return len(word.text) <= LONGEST and kind.pattern.fullmatch(word.text) is not None
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

_SAID: Final[Mapping[str, str]] = {
    "(?!)": "no value",
    r"[\s\S]": "one character",
    "[0-9]+": "a whole number",
    "-?[0-9]+": "a whole number",
    "=?[0-9]+": "a whole number",
    "[1-9][0-9]*": "a whole number above 0",
    "[0-3]": "a number from 0 to 3",
    "[0-5]": "a number from 0 to 5",
    "[0-9]+[smh]": "a time such as 30s, 5m or 2h",
    "[1-9][0-9]*[smh]": "a time such as 30s, 5m or 2h",
    "[0-9:]+": "a time such as 12:30",
    "[^-].*": "a word that does not begin with -",
    "[^@].*": "a word that does not begin with @",
    "[^@-].*": "a word that begins with neither @ nor -",
    "(?!@)[^\\n]*": "a line that does not begin with @",
    "(?!@)[\\s\\S]*": "a text that does not begin with @",
    "[^:]+": "a word without a colon",
    "[^:=]+": "a word without : and =",
    "[^=]+": "a word without =",
    "[^%]*": "a text without %",
    "[^|]+": "a word without |",
    "[^$`]*": "a text without $ and `",
    r"[^\n]*": "one line",
    r"[^\n]+": "one line",
    r"\/.*": "a path that begins with /",
    r"[\/].*": "a path that begins with /",
    r"https?:\/\/[^ ]+": "an address that begins with http:// or https://",
    r"[A-Za-z][A-Za-z0-9_.@-]*": "a name that begins with a letter",
    r"[A-Za-z_\/][^ ]*": "a name that begins with a letter, _ or /",
    "[a-z]+(,[a-z]+)*": "small letters, with commas between words",
    r"[A-Za-z_][A-Za-z0-9_]*=[\s\S]*": "NAME=value",
    r"[A-Za-z_][A-Za-z0-9_]*=(.|\n)*": "NAME=value",
    r"\+(.|\n)*": "a format that begins with +",
}
"""What common patterns are in words; others begin with a comment that says it (`(?#a day)`)."""

_TOLD: Final[Mapping[str, str]] = {
    "number": "a whole number",
    "decimal": "a number",
    "count": "a whole number such as 5 or 10k",
    "size": "a size such as 5 or 1.5G",
    "duration": "a time such as 5, 0.5s or 10min",
    "name": "a name of letters, digits and . _ - + : @",
    "host": "a host name or address",
    "assignment": "a language or time zone such as LC_ALL=C",
    "word": "a word that is not empty",
    "text": "a text",
    "path": "a path",
    "file": "a file whose name does not begin with +",
    "command": "a program to run",
}
"""What kinds are in a refusal; an inspector's is its name."""

_NAMED: Final = 12
"""Literals that are all named in a refusal."""


def shown(kind: WordKind, program: str) -> str:
    """What a word has to be, for a refusal of a call of `program`."""
    if kind.name == "literal":
        return _one_of(sorted(kind.literals))
    if kind.name == "pattern":
        there = f"words of another form (`pulsus commands show {program}` has it)"
        return kind.says or _SAID.get(kind.argument) or in_words(kind.argument) or there
    return _TOLD.get(kind.name, f"a {kind.name}")


def _one_of(words: Sequence[str]) -> str:
    if len(words) <= _NAMED:
        return " or ".join(words)
    return f"one of {', '.join(words[:_NAMED])} and {len(words) - _NAMED} more"


def too_long(word: Word, kind: WordKind) -> str:
    """Why a pattern is not asked about `word`; empty where it is."""
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
