"""How each request word matched a tool: exactly, by another meaning, or not at all. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from pulsus.core.rankers.lexical.bm25 import Hit
from pulsus.core.rankers.lexical.query import HOW, Term
from pulsus.core.types import WordMatch


def inexact_matches(terms: Sequence[Term], hits: Sequence[Hit]) -> tuple[WordMatch, ...]:
    """The words a tool has only as something else, each by its best meaning, in their order."""
    if {hit.weight for hit in hits} <= {1.0}:  # most of the time: each as itself
        return ()
    best: dict[int, Hit] = {}
    for hit in hits:
        if hit.term not in best or best[hit.term].weight < hit.weight:
            best[hit.term] = hit
    return tuple(
        WordMatch(terms[number].word, hit.key, HOW[hit.weight])
        for number, hit in sorted(best.items())
        if hit.weight in HOW
    )


def unmatched_words(terms: Sequence[Term], hits: Sequence[Hit]) -> tuple[str, ...]:
    """The words a tool has nothing for, in their order."""
    found = {hit.term for hit in hits}
    return tuple([term.word for number, term in enumerate(terms) if number not in found])
