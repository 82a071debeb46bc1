"""Words by which requests (verbs.py) and command lines (command_line.py) are read. Reads a file.

The words that mean a change (a write) stand in `verbs.txt`, and what each table is for.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def _read_tables() -> dict[str, dict[str, str]]:
    """Return the words of each table by key; "" is the key of a table without keys."""
    tables: dict[str, dict[str, str]] = {}
    text = Path(__file__).with_name("verbs.txt").read_text(encoding="utf-8")
    for line in text.replace("\n  ", " ").splitlines():
        name, sign, words = line.partition(": ")
        if sign and not line.startswith("#"):
            table, _, key = name.partition(" ")
            tables.setdefault(table, {})[key] = words
    return tables


_TABLES = _read_tables()


def _word_set(name: str) -> frozenset[str]:
    return frozenset(_TABLES[name][""].split())


def _word_sets_by_key(name: str) -> Mapping[str, frozenset[str]]:
    return {key: frozenset(words.split()) for key, words in _TABLES[name].items()}


def _objects_by_verb() -> Mapping[str, tuple[str, frozenset[str]]]:
    named = ((*key.split(), words) for key, words in _TABLES["OBJECTS"].items())
    return {verb: (group, frozenset(words.split())) for verb, group, words in named}


CHANGE = _word_sets_by_key("CHANGE")
NAMING = _word_sets_by_key("NAMING")
PARTICLES = {
    verb: dict(pair.split("=") for pair in pairs.split())
    for verb, pairs in _TABLES["PARTICLES"].items()
}
OBJECTS = _objects_by_verb()
INTO_VERBS = _word_set("INTO_VERBS")
INTO = {thing: group for group, things in _word_sets_by_key("INTO").items() for thing in things}
NUMBERED = _word_sets_by_key("NUMBERED")
RUN_VERBS = _word_set("RUN_VERBS")
SPANS = _word_set("SPANS")
RHYTHMS = _word_set("RHYTHMS")
NOUN_ALONE = _word_set("NOUN_ALONE")
NOUNS = _word_set("NOUNS")
AFTER_NOUN = _word_set("AFTER_NOUN")
NOUN_PAIRS = frozenset(_TABLES["NOUN_PAIRS"][""].split(", "))
WANTS = _word_set("WANTS")
MODALS = _word_set("MODALS")
OBLIGES = _word_set("OBLIGES")
AFTER_WISH = _word_set("AFTER_WISH")
WISHES = WANTS | OBLIGES | {"be"}
READING = _word_set("READING")
QUESTIONS = _word_set("QUESTIONS")
THINGS = _word_set("THINGS")
SYMPTOM = _word_set("SYMPTOM")
RELATIVE = _word_set("RELATIVE")
ANSWERS = _word_set("ANSWERS") | {"bring up"}
FOR_ME = _word_set("FOR_ME")
ANSWER_WORDS = _word_set("ANSWER_WORDS")
ROW_VERBS = _word_set("ROW_VERBS")
ROW_WORDS = _word_set("ROW_WORDS")
KEPT = _word_set("KEPT")
POLITE = _word_set("POLITE")

VERBS = frozenset[str]().union(*CHANGE.values())
"""All verbs of change. Some are programs themselves: `kill`, `mount`, `chmod`."""
PROGRAMS = _word_set("PROGRAMS")
CHANGES = VERBS | _word_set("MORE_CHANGES")
BROUGHT = _word_set("BROUGHT")
BRINGS = _word_set("BRINGS")
LOOKS = _word_set("LOOKS")
NEVER = _word_set("NEVER")
LOOKING = _word_sets_by_key("LOOKING")
WRITING = _word_sets_by_key("WRITING")
KNOWN = PROGRAMS.union(WRITING)
