"""Find the verb by which a clause asks for a change (words: verbs.txt). Pure.

So this tells a request for a write from a question; a misspelt verb is corrected here.
`core/rankers/effect_mismatch.py` decides if a tool does the opposite. The domain and action of the
catalogue that a request means are found in `routing/prompt_parser.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise

from pulsus.core.text import verb_tables as table
from pulsus.core.text.access_wishes import LEADS, wishes_less_access
from pulsus.core.text.tokens import STOP_WORDS, stem, words
from pulsus.late_pattern import late_pattern

Known = Callable[[str], bool]
"""Decides if the catalogue has a lower-case word. Then it is not a misspelt verb."""

_REACH = 4
"""Words up to which a particle belongs to its verb, and a symptom to what shows it."""
_SHORTEST = 5
"""Letters of a word that may be a misspelt verb."""
_SURE = 7
"""Letters from which one wrong letter is a slip: "attack" is not "attach"."""
_FOLDER = late_pattern(r"\S*/[^\s.]*(?=\s|$)")
"""A path that names no file: its words are not the object of a verb."""

_FILE = late_pattern(r"\S*(?:/|\w\.\w)\S*")
"""A path or a file name: `access.log` is no access that "give me" asks for."""

_IN_A_FILE = frozenset({"set", "change", "update", "make"})
"""Verbs for what a file holds: `app.yaml` in their clause is no answer as YAML."""

_SETTINGS_FILE = r"(?<!\S) \S{0,200} \. (?:ini|conf|cfg|cnf|env|properties|toml|ya?ml) \b"
_SIMPLE_VALUE = r"(?P<value>\d[\w.]* | on | off | yes | no | true | false)"

MADE_SETTING = late_pattern(
    rf"""(?ix) \bmake \s (?:(?:the|its)\s)? (?P<key>(?:[\w.-]+\s){{0,2}}
    (?!(?:a|an|the|of|top|first|last|than|only)\s) [\w.-]+) \s (?:to\sbe\s)?
    {_SIMPLE_VALUE} \s in \s (?:[\w.-]+\s){{0,2}} {_SETTINGS_FILE}"""
)
"""A setting of a file that gets a value: "make the timeout 30 in app.ini"."""

_WISHED_SETTING = late_pattern(
    rf"""(?ix) (?<![\w.-]) (?P<key>[\w.-]{{1,80}})
    (?:\s (?:in|under|of) \s (?:the\s)? \S{{1,200}})? \s
    (?:must | shall | should | (?:ha[sv]e? | needs? | ought) \s to) \s
    (?:become | be \s (?:set | changed | switched) \s to) \s {_SIMPLE_VALUE} (?![\w-])""",
    words=("become", "set", "changed", "switched"),
)
"""The same as a wish, in a text that names the file: "the port must become 8443"."""

_NAMES_SETTINGS_FILE = late_pattern(rf"(?ix) {_SETTINGS_FILE}")

_ME = frozenset({"me", "us"})
_EACH = frozenset({"every", "each"})
_BEHIND_RHYTHM = frozenset({"at", "on", "as", "by", "in", "for", "with", "through", "via"})
_BECOMES = frozenset({"become"})
_PLAIN = table.VERBS
_HEADS = _PLAIN.union(
    table.PARTICLES, table.OBJECTS, table.INTO_VERBS, table.RUN_VERBS, LEADS, _BECOMES
)
_INTO = frozenset({"in", "to", "as"})
_ONE = frozenset({"a", "an", "one", "new"})
_INTO_REACH = 3
"""Words behind "into" among which the thing stands that is made: "into a new archive"."""


def may_command(said: Sequence[str], known: Known) -> bool:
    """Return False if a request of these words contains no command, by a quick check."""
    if not _HEADS.isdisjoint(said):
        return True
    if not table.WISHES.isdisjoint(said) and any(w.endswith(("ed", "ing")) for w in said):
        return True
    return any(len(w) >= _SHORTEST and not known(w) for w in said)


def find_command(clause: str, known: Known) -> str | None:
    """Return the verb of change a clause gives as a command; None if it gives none.

    It is the clause's first word past polite ones, in its plain form or misspelt, with a particle
    ("turn off") or an object ("open port 80") where it asks for a change only so. A wish counts as
    well: "I want nginx restarted", "it needs to be restarted".
    """
    said = words(_FOLDER.sub(" ", clause) if "/" in clause else clause)
    start = next((n for n, w in enumerate(said) if w not in table.POLITE), len(said))
    if start == len(said):
        return None
    first, rest = said[start], said[start + 1 :]
    if first in table.OBJECTS and not _ME.isdisjoint(rest[:1]):
        rest = words(_FILE.sub(" ", clause))[start + 1 :]
    if first == "make" and MADE_SETTING.search(clause):
        return "set"
    if first not in table.QUESTIONS and find_wished_setting(clause):
        return "set"
    if first in table.RUN_VERBS and _recurs(rest):
        return "schedule"
    if wishes_less_access(clause):
        return "restrict"
    verb = _find_command_verb(first, rest, known)
    if verb is None:
        return _find_wished_verb(said)
    sure = " into " in verb
    return None if not sure and _is_no_order(verb, rest, clause) else verb


def find_wished_setting(text: str) -> re.Match[str] | None:
    """Return the `key` and `value` of a wish for a setting, if the text names a settings file."""
    return _WISHED_SETTING.search(text) if _NAMES_SETTINGS_FILE.search(text) else None


def verb_groups(said: Iterable[str]) -> frozenset[str]:
    """Return the groups of change these words belong to, in any form of theirs."""
    known = _groups_by_stem()
    return frozenset(known[s] for s in map(stem, said) if s in known)


def naming_groups(said: Sequence[str]) -> frozenset[str]:
    """Return the same, with words that name a change and command none: "put", "dump".

    A verb that is a noun as well names no change in the plural: "restarts in the log".
    """
    known = _index_by_stem(table.NAMING)
    names = {known[s] for s in map(stem, said) if s in known}
    return verb_groups(word for word in said if not _is_plural_noun(word)) | names


def _is_plural_noun(word: str) -> bool:
    """Return True for "restarts" or "mounts": things to count or list."""
    return word.endswith("s") and word[:-1] in table.NOUNS


@lru_cache(maxsize=256)
def command_groups(asked: tuple[str, ...]) -> frozenset[str]:
    """Return the groups of commands: a verb alone, with its particle, or with its object."""
    found = set(verb_groups(asked))
    for verb, _, particle in (said.partition(" ") for said in asked):
        if particle.startswith("into "):
            found.add(table.INTO[particle.removeprefix("into ")])
        elif particle:
            found.add(table.PARTICLES[verb][particle])
        elif verb in table.OBJECTS:
            found.add(table.OBJECTS[verb][0])
    return frozenset(found)


@cache
def _groups_by_stem() -> Mapping[str, str]:
    return _index_by_stem(table.CHANGE)


def _index_by_stem(verbs: Mapping[str, Iterable[str]]) -> dict[str, str]:
    return {stem(verb): group for group, listed in verbs.items() for verb in listed}


def _find_command_verb(first: str, rest: Sequence[str], known: Known) -> str | None:
    """Return the command that begins with this word: one word, or a verb with its particle."""
    particle = _find_particle(table.PARTICLES.get(first, {}), rest)
    if particle:
        return f"{first} {particle}"
    if first in _PLAIN:
        return first
    thing = _find_thing_made(rest) if first in table.INTO_VERBS else None
    if thing:
        return f"{first} into {thing}"
    if first in table.OBJECTS:
        return first if _has_object(first, rest) else None
    if first in table.INTO_VERBS:
        return None
    return _correct_verb(first, known)


def _find_particle(taken: Mapping[str, str], rest: Sequence[str]) -> str | None:
    """Return the particle that follows: at once, or among few words. "on" far off is a place."""
    if rest and rest[0] in taken:
        return rest[0]
    near = enumerate(rest[:_REACH], start=1)
    return next((w for n, w in near if w in taken and (w != "on" or n == len(rest))), None)


def _recurs(rest: Sequence[str]) -> bool:
    """Return True for "every night" and "daily at 2", not for "the nightly backup"."""
    for at, word in enumerate(rest):
        behind = rest[at + 1 : at + 2]
        if word in table.RHYTHMS and (not behind or behind[0] in _BEHIND_RHYTHM):
            return True
        if word in _EACH and _is_span(*behind[:1]):
            return True
    return False


def _is_span(word: str = "") -> bool:
    return word.isdecimal() or word.removesuffix("s") in table.SPANS


def _find_thing_made(rest: Sequence[str]) -> str | None:
    """Return "archive" of "put the logs into a new archive"."""
    near = (
        rest[n + 1 : n + 1 + _INTO_REACH]
        for n, w in enumerate(rest)
        if w == "into" or (w in _INTO and not _ONE.isdisjoint(rest[n + 1 : n + 2]))
    )
    return next((w for words_near in near for w in words_near if w in table.INTO), None)


def _has_object(verb: str, rest: Sequence[str]) -> bool:
    _, about = table.OBJECTS[verb]
    numbered = table.NUMBERED.get(verb, frozenset())
    return not about.isdisjoint(rest) or any(
        a in numbered and b.isdecimal() for a, b in pairwise(rest)
    )


def _correct_verb(word: str, known: Known) -> str | None:
    """Return the verb an unknown word must be: one slip away, two in a long word, the same first
    letter.

    A form of a verb ("deleted") is not a misspelling of it.
    """
    if len(word) < _SHORTEST or not word.isalpha() or known(word) or _is_grammar(word):
        return None
    if stem(word) in _groups_by_stem():
        return None
    allowed = 1 if len(word) < 8 else 2  # as for the words of tools (query_terms.py)
    from rapidfuzz.distance import OSA  # only for a word that no tool has

    near = (v for v in _PLAIN if v[0] == word[0] and len(v) >= _SHORTEST and _is_slip(word, v))
    found = sorted((OSA.distance(word, verb), verb) for verb in near)
    return found[0][1] if found and found[0][0] <= allowed else None


def _is_grammar(word: str) -> bool:
    return word in STOP_WORDS or word in table.READING or word in table.POLITE


def _is_slip(word: str, verb: str) -> bool:
    """Return True for a slip: letters swapped, lost or doubled, not replaced."""
    return len(word) >= _SURE or len(word) != len(verb) or sorted(word) == sorted(verb)


def _is_no_order(verb: str, rest: Sequence[str], clause: str) -> bool:
    """Return True if the verb is a noun, asks for an answer, or describes a symptom."""
    return _is_noun(verb, rest) or _is_asking_for_answer(verb, rest, clause) or _is_symptom(rest)


def _is_noun(verb: str, rest: Sequence[str]) -> bool:
    if not rest:
        return verb in table.NOUN_ALONE
    if f"{verb} {rest[0]}" in table.NOUN_PAIRS:
        return True
    return verb in table.NOUNS and rest[0] in table.AFTER_NOUN


def _is_asking_for_answer(verb: str, rest: Sequence[str], clause: str) -> bool:
    for_me = verb in table.FOR_ME and not _ME.isdisjoint(rest[:1])
    if for_me or verb in table.ANSWERS:
        if verb in _IN_A_FILE:
            rest = words(_FILE.sub(" ", clause))
        return not table.ANSWER_WORDS.isdisjoint(w for word in rest for w in (word, word[:-1]))
    if verb not in table.ROW_VERBS or table.ROW_WORDS.isdisjoint(rest):
        return False
    return table.KEPT.isdisjoint(rest) and "/" not in clause and "." not in clause.rstrip(".")


def _is_symptom(rest: Sequence[str]) -> bool:
    telling = (w for w in rest[:_REACH] if w in table.SYMPTOM or w in table.RELATIVE)
    return next(telling, "") in table.SYMPTOM


def _find_wished_verb(clause_words: Sequence[str]) -> str | None:
    """Return the verb of "I want X restarted", "X must be restarted", "X needs restarting"."""
    for at, word in enumerate(clause_words):
        if at and word.endswith(("ed", "ing")) and _is_wanted_participle(clause_words, at):
            verb = _find_plain_form(word)
            return verb if verb and table.READING.isdisjoint(clause_words[: at + 1]) else None
    return None


def _find_plain_form(form: str) -> str | None:
    """Return the verb of change of which the word is a form."""
    key = stem(form)
    return next((verb for verb in sorted(_PLAIN) if stem(verb) == key), None)


def _is_wanted_participle(clause_words: Sequence[str], at: int) -> bool:
    """Return True if the clause wants or needs the participle."""
    before = clause_words[:at]
    if clause_words[at].endswith("ing"):
        return before[-1] in ("need", "needs")
    if before[-1] == "be":
        obliged = before[-2:-1] == ["to"] and not table.OBLIGES.isdisjoint(before[-3:-2])
        return obliged or not table.MODALS.isdisjoint(before[-2:-1])
    ends = clause_words[at + 1 : at + 2]
    return not table.WANTS.isdisjoint(before[:-1]) and table.AFTER_WISH.issuperset(ends)
