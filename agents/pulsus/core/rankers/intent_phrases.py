"""Compare a whole request with the intents of a manifest (spec §5). Pure.

`lexical_ranker.py` prefers a tool that has the request as one of its intents.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_POLITE = re.compile(r"\b(?:please|pls|plz|thanks|thx)\b")
_ASKS_TO_SHOW = re.compile(
    r"^\W*(?:show|print|display|list|give)(?:\s+(?:me|us))?(?:\s+all)?(?:\s+the)?\s+(?=\S)"
)


def is_one_of(request: str, intents: Iterable[str]) -> bool:
    """Return True if the request is one of the intents, perhaps after a verb that asks to see it.

    "print the local accounts" is the intent "local accounts".
    """
    polite = _POLITE.sub("", request.casefold())
    meant = {letters_of(request), letters_of(_ASKS_TO_SHOW.sub("", polite))}
    return any(letters_of(intent) in meant for intent in intents)


def letters_of(text: str) -> str:
    """Return a request or an intent as its letters alone: "Log in, pls?" and "login" are the same.

    Polite words are left out.
    """
    return _POLITE.sub("", text.casefold()).strip(" ,.!?").replace(" ", "").replace("-", "")
