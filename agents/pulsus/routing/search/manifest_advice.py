"""Words to give a tool so that it is found (spec §12): only what the request says itself. Pure.

`routing/search/why_not.py` and `routing/evaluation/diagnosis.py` give this advice.
"""

from __future__ import annotations

from collections.abc import Sequence

from pulsus.core.text.literals import cut_out_values
from pulsus.core.text.tokens import STOP_WORDS, WEAK_WORDS, clean, words
from pulsus.core.types import Ranked

_FILLING = """
bother bothering chance cheers currently dear example gimme gonna gotta guys hello hey hmm instance
lemme mind ok okay oh ones pal please pls quick right sorry thx today wanna wonder wondering yo
"""
_FILLERS = frozenset(_FILLING.split())
"""Words that carry a request and tell no tool from another: as an intent they would only draw
others to it."""

_NEGATED = """
ain aren couldn didn doesn don hadn hasn haven isn shouldn wasn weren won wouldn
"""
_NEGATIONS = frozenset(word + end for word in _NEGATED.split() for end in ("", "t"))
"""`didn't` without its end, as the tokeniser cuts it, and `didnt`."""

_MOST = 5


def typed_words(found: Sequence[str], request: str) -> tuple[str, ...]:
    """Return the words that the request has itself, without the kinds of its values (`path`).

    Return all of them if the request is unknown (empty).
    """
    said = frozenset(words(clean(request)))
    return tuple(word for word in found if word in said) if said else tuple(found)


def intent_words(found: Sequence[str], request: str) -> tuple[str, ...]:
    """Return the words to put into an intent: no values, no fillers, no numbers, no slips."""
    rest = cut_out_values(clean(request))[0]
    plain = typed_words(found, rest) if request else tuple(found)
    apart = STOP_WORDS | WEAK_WORDS | _FILLERS | _NEGATIONS
    return tuple(
        word
        for word in plain
        if word not in apart and not word.isdecimal() and not _is_swapped_stop_word(word)
    )


def _is_swapped_stop_word(word: str) -> bool:
    """Return True for a stop word with two neighbouring letters swapped: `adn` for `and`."""
    return any(
        word[:at] + word[at + 1] + word[at] + word[at + 2 :] in STOP_WORDS
        for at in range(len(word) - 1)
    )


def suggest_intent(found: Sequence[str], request: str, tool_id: str) -> str:
    """Return the advice to add the request, or an intent with these words; empty without words.

    The request comes first, because it helps more. The tool is named, because the sentence around
    the advice may speak of another one.
    """
    told = ", ".join(repr(word) for word in intent_words(found, request)[:_MOST])
    return f"{suggest_request(tool_id)}, or an intent with {told}" if told else ""


def suggest_request(tool_id: str) -> str:
    """Return the advice to add the request itself."""
    return f"add this request to `requests` in the manifest of {tool_id}"


def no_words_reason(found: Sequence[str]) -> str:
    """Return the reason of a tool that has none of these words."""
    return "it has none of your words" + (f": {', '.join(found[:8])}" if found else "")


def suggest_for_mismatch(own: Ranked) -> str:
    """Return the advice for a tool that is meant although it is at odds with the request."""
    if own.caution and "manifest" in own.caution:
        return "if it is meant for this after all, take the anti-intent out of its manifest"
    return "if it does do this, say so in its name, summary and Kind"


def suggest_for_competitor(winner: Ranked, fix: str) -> str:
    """Return the advice for a tool that lost to a sure winner, with what it costs the winner."""
    who = winner.tool.id
    return f"only if {who} (p {winner.p:.2f}) is wrong here: {fix}; {who} then loses such requests"
