"""Compare a request with the intents and the anti-intents of a manifest (spec §5). Pure.

`lexical_ranker.py` prefers a tool that has the request as one of its intents. In a question for the
state of a service the name does not count: "is cron running" is the intent "is nginx running".
`scorer.py` lowers the score by an anti-intent. Synonyms are looked up in
`core/rankers/lexical/query_terms.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import lru_cache

from pulsus.core.text.state_questions import asks_for_a_service
from pulsus.core.text.tokens import stem, stems, words
from pulsus.core.types import ToolSpec
from pulsus.late_pattern import late_pattern

_POLITE = late_pattern(r"\b(?:please|pls|plz|thanks|thx)\b")
_ASKS_TO_SHOW = late_pattern(
    r"^\W*(?:show|print|display|list|give)(?:\s+(?:me|us))?(?:\s+all)?(?:\s+the)?\s+(?=\S)"
)
_PARTICLES = frozenset(("in", "on", "out", "off"))
_PREPOSITIONS = frozenset(("in", "on"))
_BETWEEN = frozenset(words("me us him her it them back still currently already now recently"))
"""Words between a verb and "in" or "on"; behind other words these are prepositions."""
_MOST_BETWEEN = 2
"""Words between a verb and its particle: "turn the server off"."""
_SERVICES = frozenset(map(stem, ("service", "unit", "daemon")))


def is_one_of(request: str, intents: Iterable[str]) -> bool:
    """Return True if the request is one of the intents, perhaps after a verb that asks to see it.

    "print the local accounts" is the intent "local accounts".
    """
    polite = _POLITE.sub("", request.casefold())
    meant = {letters_of(request), letters_of(_ASKS_TO_SHOW.sub("", polite))}
    return any(letters_of(intent) in meant for intent in intents)


def answers_for_any_service(tool: ToolSpec) -> bool:
    """Return True if a tool has an intent that asks if a service runs, and an input for its name.

    A tool without such an input answers for the service of its intent alone.
    """
    intents = tool.manifest.intents if tool.manifest else ()
    if not any(asks_for_a_service(intent) for intent in intents):
        return False
    named = (stems(f"{arg.name} {arg.description}") for arg in tool.args if arg.type_hint == "str")
    return any(not _SERVICES.isdisjoint(said) for said in named)


def letters_of(text: str) -> str:
    """Return a request or an intent as its letters alone: "Log in, pls?" and "login" are the same.

    Polite words are left out.
    """
    return _POLITE.sub("", text.casefold()).strip(" ,.!?").replace(" ", "").replace("-", "")


def share_of_anti_intent(hint: str, said: Collection[str], request: str) -> float:
    """Return the share of an anti-intent that a request says, from 0 to 1.

    `said` are the stems of the request. A verb with its particle counts with it only, a few words
    apart or as one word: "logged in" is about logins, and its only stem, "log", is in "the latest
    log files" too.
    """
    wanted, verb = _read_hint(hint)
    share = sum(key in said for key in wanted) / len(wanted) if wanted else 0.0
    if verb and (said_apart := _says_verb(verb, request)) != bool(share):
        return float(said_apart)
    return share


def _says_verb(verb: tuple[str, str], request: str) -> bool:
    """Return True for a verb (its stem) with its particle: "logged into", "log me in", "login"."""
    key, particle = verb
    asked = [(word, stem(word)) for word in words(request)]
    for place, (word, its_stem) in enumerate(asked):
        if word.startswith(key) and its_stem in (f"{key}{particle}", stem(f"{key}{particle}s")):
            return True
        if its_stem != key:
            continue
        for near, _ in asked[place + 1 : place + 2 + _MOST_BETWEEN]:
            if near in (particle, f"{particle}to"):
                return True
            if particle in _PREPOSITIONS and near not in _BETWEEN:
                break
    return False


@lru_cache(maxsize=4096)
def _read_hint(hint: str) -> tuple[tuple[str, ...], tuple[str, str] | None]:
    """Return the stems of an anti-intent, and stem and particle if it is a verb with a particle.

    The result is cached: each clause of each request needs those of the same hints.
    """
    said = words(hint)
    is_verb = len(said) == 2 and said[1] in _PARTICLES
    return tuple(stems(hint)), (stem(said[0]), said[1]) if is_verb else None
