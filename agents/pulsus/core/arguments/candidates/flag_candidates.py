"""`True` for a flag that a request names, and `False` for one that it negates. Pure.

Flags that a person alone gives (`force`, `overwrite`) are listed in `core/arguments/inputs.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rapidfuzz import fuzz

from pulsus.core.arguments.candidates.candidate import Candidate, make_from_words
from pulsus.core.arguments.inputs import Input
from pulsus.core.arguments.spans.span import RequestSpans
from pulsus.core.arguments.words.abbreviations import stem_in_full
from pulsus.core.arguments.words.word_set import word_set
from pulsus.core.text.tokens import stem
from pulsus.core.text.tokens import words as split_words

NEGATIONS: Final = word_set(
    "no not without don't dont never exclude excluding except avoid skip isn't"
)
LEAST_LETTERS: Final = 5
"""A shorter word is never taken as a misspelt one."""
LEAST_RATIO: Final = 84
_WORDS_OF_ALL_FLAGS = word_set("""
include is has have allow allowed enable enabled with use show required need flag only should
accept accepts available for
""")


def find_flag(one: Input, found: RequestSpans) -> Iterator[Candidate]:
    """Yield one value if the request has words of the flag's name that no other flag has."""
    low = [word.text.lower() for word in found.words]
    stems = [stem_in_full(word) for word in low]
    wanted = one.words - set(map(stem, _WORDS_OF_ALL_FLAGS)) or one.words
    at = [place for place, word in enumerate(stems) if word in wanted]
    if not at:
        full = [word for word in split_words(one.name) if stem_in_full(word) in wanted]
        at = [n for n, word in enumerate(low) if any(_misspells(word, name) for name in full)]
    if not at or "mind" in low[max(0, at[0] - 6) : at[0]]:
        return
    if at == [0] and len(wanted) > 1:
        return  # the command of the request: "delete the entry" says nothing of `delete_empty`
    negated = not NEGATIONS.isdisjoint(low[max(0, at[0] - 5) : at[-1]])
    share = min(1.0, len({stems[place] for place in at}) / len(wanted))
    words = [found.words[place] for place in at]
    yield make_from_words(one, not negated, "negated" if negated else "flag", words, share)


def _misspells(word: str, wanted: str) -> bool:
    return min(len(word), len(wanted)) >= LEAST_LETTERS and fuzz.ratio(wanted, word) >= LEAST_RATIO
