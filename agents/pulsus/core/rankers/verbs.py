"""The verbs that ask for a change, and where in a clause one does (verbs.toml). Pure."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from pulsus.core.rankers.text import STOP_WORDS, stem, words
from pulsus.record import dataclass

Known = Callable[[str], bool]
"""Whether a lower-case word is one of the catalogue's: then it is no misspelt verb."""

_REACH = 4
"""Words up to which a particle belongs to its verb, and a symptom to what shows it."""
_SHORTEST = 5
"""Letters of a word that may be a misspelt verb."""
_FOR_ME = (["me"], ["us"])
_FOLDER = re.compile(r"\S*/[^\s.]*(?=\s|$)")
"""A path that names no file: its words are nobody's object."""
_SURE = 7
"""Letters from which one wrong letter is a slip: "attack" is not "attach"."""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """`groups` maps the stem of a verb of change to its group, `naming` that of a word that only
    names the change; `plain` a verb to its stem, `particles` to the particles it takes, `objects`
    to what it must be about, `with_object` to its group then. `heads` begin commands. The other
    tables are as in verbs.toml."""

    groups: Mapping[str, str]
    naming: Mapping[str, str]
    plain: Mapping[str, str]
    heads: frozenset[str]
    particles: Mapping[str, Mapping[str, str]]
    objects: Mapping[str, frozenset[str]]
    with_object: Mapping[str, str]
    output_verbs: frozenset[str]
    output_for_me: frozenset[str]
    output_words: frozenset[str]
    tables: Mapping[str, Mapping[str, frozenset[str]]]


@cache
def lexicon() -> Lexicon:
    """The verbs shipped with Pulsus."""
    data = tomllib.loads(Path(__file__).with_name("verbs.toml").read_text("utf-8"))
    particles: dict[str, dict[str, str]] = {}
    for group, phrases in data["phrasal"].items():
        for phrase in phrases:
            verb, _, particle = phrase.partition(" ")
            particles.setdefault(verb, {})[particle] = group
    objects = data["object"]
    plain = {verb: stem(verb) for verbs in data["change"].values() for verb in verbs}
    return Lexicon(
        groups=_by_stem(data["change"]),
        naming=_by_stem(data["naming"]),
        plain=plain,
        heads=frozenset(plain).union(particles, *objects.values()),
        particles=particles,
        objects={verb: frozenset(about) for d in objects.values() for verb, about in d.items()},
        with_object={verb: group for group, d in objects.items() for verb in d},
        output_verbs=frozenset(data["output"]["verbs"]),
        output_for_me=frozenset(data["output"]["for_me"]),
        output_words=frozenset(stem(w) for w in data["output"]["words"]),
        tables={
            name: {key: frozenset(listed) for key, listed in data[name].items()}
            for name in ("noun", "wanted", "reading", "symptom", "rows", "polite")
        },
    )


def _by_stem(groups: Mapping[str, Any]) -> dict[str, str]:
    return {stem(verb): group for group, verbs in groups.items() for verb in verbs}


def may_command(said: Sequence[str], known: Known) -> bool:
    """Whether a request of these words can give a command at all: a quick look."""
    lex = lexicon()
    if not lex.heads.isdisjoint(said):
        return True
    wanted = lex.tables["wanted"]
    if not wanted["signs"].isdisjoint(said) and any(w.endswith(("ed", "ing")) for w in said):
        return True
    return any(len(w) >= _SHORTEST and not known(w) for w in said)


def command(clause: str, known: Known) -> str | None:
    """The verb of change a clause gives as a command; None where it gives none.

    It is the clause's first word past polite ones, in its plain form or misspelt, with a particle
    ("turn off") or an object ("open port 80") where it asks for a change only so. A wish counts as
    well: "I want nginx restarted", "it needs to be restarted".
    """
    said = words(_FOLDER.sub(" ", clause))
    polite = lexicon().tables["polite"]["words"]
    start = next((n for n, w in enumerate(said) if w not in polite), len(said))
    if start == len(said):
        return None
    first, rest = said[start], said[start + 1 :]
    verb = _meant(first, rest, known)
    if verb is None:
        return _wish(said)
    return None if _is_no_order(verb, rest, clause) else verb


def _meant(first: str, rest: Sequence[str], known: Known) -> str | None:
    """The command that begins with this word: one word, or a verb with its particle."""
    lex = lexicon()
    particle = _particle(lex.particles.get(first, {}), rest)
    if particle:
        return f"{first} {particle}"
    if first in lex.plain:
        return first
    if first in lex.objects:
        return first if _has_object(lex.objects[first], rest) else None
    return _misspelt(first, known)


def _particle(taken: Mapping[str, str], rest: Sequence[str]) -> str | None:
    """The particle that follows: at once, or last of few words. "on" far off is a place."""
    if rest and rest[0] in taken:
        return rest[0]
    near = rest[:_REACH]
    far = (w for n, w in enumerate(near) if w in taken and (w != "on" or n + 1 == len(rest)))
    return next(far, None)


def _has_object(about: frozenset[str], rest: Sequence[str]) -> bool:
    if any(w in about for w in rest):
        return True
    numbered = {thing.removesuffix(" #") for thing in about if thing.endswith(" #")}
    return any(a in numbered and b.isdecimal() for a, b in pairwise(rest))


def _misspelt(word: str, known: Known) -> str | None:
    """The verb an unknown word must be: one slip away, two in a long word, the same first letter.

    A form of a verb ("deleted") is no misspelling of it.
    """
    lex = lexicon()
    if (
        len(word) < _SHORTEST
        or not word.isalpha()
        or word in STOP_WORDS
        or stem(word) in lex.groups
    ):
        return None
    if any(word in listed for table in lex.tables.values() for listed in table.values()):
        return None
    if known(word):
        return None
    near = [verb for verb in lex.plain if verb[0] == word[0] and len(verb) >= _SHORTEST]
    allowed = 1 if len(word) < 8 else 2  # as for the words of tools (query.py)
    from rapidfuzz.distance import OSA  # only for a word that no tool has

    found = {v: OSA.distance(word, v, score_cutoff=allowed) for v in near if _slip(word, v)}
    best = min(found, key=lambda v: (found[v], v), default=None)
    return best if best and found[best] <= allowed else None


def _slip(word: str, verb: str) -> bool:
    """Whether one was typed for the other: letters swapped, lost or doubled, not just others."""
    return len(word) >= _SURE or len(word) != len(verb) or sorted(word) == sorted(verb)


def _is_no_order(verb: str, rest: Sequence[str], clause: str) -> bool:
    """Whether the verb is a noun here, asks for an answer, or is what a symptom shows in."""
    return _is_noun(verb, rest) or _asks_for_answer(verb, rest, clause) or _is_symptom(rest)


def _is_noun(verb: str, rest: Sequence[str]) -> bool:
    nouns = lexicon().tables["noun"]
    if not rest:
        return verb in nouns["alone"]
    if f"{verb} {rest[0]}" in nouns["pairs"]:
        return True
    return verb in nouns["verbs"] and rest[0] in nouns["before"]


def _asks_for_answer(verb: str, rest: Sequence[str], clause: str) -> bool:
    lex = lexicon()
    answers = verb in lex.output_verbs or (verb in lex.output_for_me and rest[:1] in _FOR_ME)
    if answers and any(stem(w) in lex.output_words for w in rest):
        return True
    rows = lex.tables["rows"]
    about = frozenset(rest)
    return (
        verb in rows["verbs"]
        and bool(about & rows["words"])
        and not (about & rows["kept"] or "/" in clause or "." in clause.rstrip("."))
    )


def _is_symptom(rest: Sequence[str]) -> bool:
    shown = lexicon().tables["symptom"]
    for word in rest[:_REACH]:
        if word in shown["relative"]:
            return False
        if word in shown["words"]:
            return True
    return False


def _wish(said: Sequence[str]) -> str | None:
    """The verb of "I want X restarted", "X must be restarted", "X needs restarting"."""
    lex = lexicon()
    wanted, reading = lex.tables["wanted"], lex.tables["reading"]["words"]
    for at, word in enumerate(said):
        if at and said[at - 1] not in reading and _is_done(word) and _is_wanted(said, at, wanted):
            return _plain(stem(word)) if reading.isdisjoint(said[: at + 1]) else None
    return None


def _plain(key: str) -> str:
    return next(verb for verb, own in lexicon().plain.items() if own == key)


def _is_done(word: str) -> bool:
    return word.endswith(("ed", "ing")) and stem(word) in lexicon().groups


def _is_wanted(said: Sequence[str], at: int, wanted: Mapping[str, frozenset[str]]) -> bool:
    before = list(said[:at])
    if said[at].endswith("ing"):
        return before[-1] in ("need", "needs")
    if before[-1] == "be":
        to = before[-2:-1] == ["to"] and bool(wanted["obliges"] & set(before[-3:-2]))
        return to or bool(wanted["modals"] & set(before[-2:-1]))
    ends = said[at + 1 : at + 2]
    return bool(wanted["wants"] & set(before[:-1])) and (not ends or ends[0] in wanted["after"])
