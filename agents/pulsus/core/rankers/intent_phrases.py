"""Compare a request with the intents and the anti-intents of a manifest (spec §5). Pure.

`lexical_ranker.py` prefers a tool that has the request as one of its intents. In a question for the
state of a service the name does not count: "is cron running" is the intent "is nginx running".
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import lru_cache

from pulsus.core.text.state_questions import asks_for_a_service
from pulsus.core.text.tokens import stem, stems, words

_POLITE = re.compile(r"\b(?:please|pls|plz|thanks|thx)\b")
_ASKS_TO_SHOW = re.compile(
    r"^\W*(?:show|print|display|list|give)(?:\s+(?:me|us))?(?:\s+all)?(?:\s+the)?\s+(?=\S)"
)
_PARTICLES = frozenset(("in", "on", "out", "off"))


def is_one_of(request: str, intents: Iterable[str]) -> bool:
    """Return True if the request is one of the intents, perhaps after a verb that asks to see it.

    "print the local accounts" is the intent "local accounts".
    """
    polite = _POLITE.sub("", request.casefold())
    meant = {letters_of(request), letters_of(_ASKS_TO_SHOW.sub("", polite))}
    return any(letters_of(intent) in meant for intent in intents)


def has_service_question(intents: Iterable[str]) -> bool:
    """Return True if one of the intents asks if a service runs, whatever its name is."""
    return any(asks_for_a_service(intent) for intent in intents)


def letters_of(text: str) -> str:
    """Return a request or an intent as its letters alone: "Log in, pls?" and "login" are the same.

    Polite words are left out.
    """
    return _POLITE.sub("", text.casefold()).strip(" ,.!?").replace(" ", "").replace("-", "")


def share_of_anti_intent(hint: str, said: Collection[str], request: str) -> float:
    """Return the share of an anti-intent that a request says, from 0 to 1.

    `said` are the stems of the request. A verb with its particle counts as it stands only: "logged
    in" is about logins, and its only stem, "log", is in "the latest log files" too.
    """
    wanted, verb = _read_hint(hint)
    share = sum(key in said for key in wanted) / len(wanted) if wanted else 0.0
    return share if not (share and verb) or verb in _stemmed(request) else 0.0


@lru_cache(maxsize=4096)
def _read_hint(hint: str) -> tuple[tuple[str, ...], str]:
    """Return the stems of an anti-intent, and the whole of it if it is a verb with a particle.

    The result is cached: each clause of each request needs those of the same hints.
    """
    is_verb = len(said := words(hint)) == 2 and said[1] in _PARTICLES
    return tuple(stems(hint)), _stemmed(hint) if is_verb else ""


@lru_cache(maxsize=16)
def _stemmed(text: str) -> str:
    """Return the stems of all words, also of small ones, between blanks."""
    return f" {' '.join(map(stem, words(text)))} "
