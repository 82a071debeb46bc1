"""Words by which requests (verbs.py) and command lines (command_line.py) are read. Reads a file.

The words and what each table is for stand in `verbs.txt`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def _read() -> dict[str, dict[str, str]]:
    """Return the words of each table by key; "" is the key of a table without keys."""
    tables: dict[str, dict[str, str]] = {}
    text = Path(__file__).with_name("verbs.txt").read_text(encoding="utf-8")
    for line in text.replace("\n  ", " ").splitlines():
        name, sign, words = line.partition(": ")
        if sign and not line.startswith("#"):
            table, _, key = name.partition(" ")
            tables.setdefault(table, {})[key] = words
    return tables


_TABLES = _read()


def _set(name: str) -> frozenset[str]:
    return frozenset(_TABLES[name][""].split())


def _by_key(name: str) -> Mapping[str, frozenset[str]]:
    return {key: frozenset(words.split()) for key, words in _TABLES[name].items()}


def _objects() -> Mapping[str, tuple[str, frozenset[str]]]:
    named = ((*key.split(), words) for key, words in _TABLES["OBJECTS"].items())
    return {verb: (group, frozenset(words.split())) for verb, group, words in named}


CHANGE = _by_key("CHANGE")
NAMING = _by_key("NAMING")
PARTICLES = {
    verb: dict(pair.split("=") for pair in pairs.split())
    for verb, pairs in _TABLES["PARTICLES"].items()
}
OBJECTS = _objects()
NUMBERED = _by_key("NUMBERED")
NOUN_ALONE = _set("NOUN_ALONE")
NOUNS = _set("NOUNS")
AFTER_NOUN = _set("AFTER_NOUN")
NOUN_PAIRS = frozenset(_TABLES["NOUN_PAIRS"][""].split(", "))
WANTS = _set("WANTS")
MODALS = _set("MODALS")
OBLIGES = _set("OBLIGES")
AFTER_WISH = _set("AFTER_WISH")
WISHES = WANTS | OBLIGES | {"be"}
READING = _set("READING")
QUESTIONS = _set("QUESTIONS")
THINGS = _set("THINGS")
SYMPTOM = _set("SYMPTOM")
RELATIVE = _set("RELATIVE")
ANSWERS = _set("ANSWERS") | {"bring up"}
FOR_ME = _set("FOR_ME")
ANSWER_WORDS = _set("ANSWER_WORDS")
ROW_VERBS = _set("ROW_VERBS")
ROW_WORDS = _set("ROW_WORDS")
KEPT = _set("KEPT")
POLITE = _set("POLITE")

VERBS = frozenset[str]().union(*CHANGE.values())
"""All verbs of change. Some are programs themselves: `kill`, `mount`, `chmod`."""
PROGRAMS = _set("PROGRAMS")
CHANGES = VERBS | _set("MORE_CHANGES")
BROUGHT = _set("BROUGHT")
BRINGS = _set("BRINGS")
LOOKS = _set("LOOKS")
NEVER = _set("NEVER")
LOOKING = _by_key("LOOKING")
WRITING = _by_key("WRITING")
KNOWN = PROGRAMS.union(WRITING)
