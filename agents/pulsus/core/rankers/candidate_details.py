"""Details that only p needs. They are looked up lazily, for the candidates shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import NamedTuple

from pulsus.core.rankers.feature_protocol import PastVotes
from pulsus.core.rankers.lexical.documents import Documents
from pulsus.core.rankers.lexical.query_matches import QueryMatches
from pulsus.core.rankers.lexical.tool_fields import NAME


class CandidateDetail(NamedTuple):
    """`heard` are the request's words it has, by number; `in_name` how many of them its name has.

    `rarest` is the highest idf among them, `alike` the cosine of character n-grams in [0, 1], 0
    where others were compared instead; `recalled` what past requests say of it, in [-1, 1].
    """

    heard: frozenset[int] = frozenset()
    in_name: int = 0
    rarest: float = 0.0
    alike: float = 0.0
    recalled: float = 0.0


def candidate_details(
    found: QueryMatches,
    documents: Documents,
    alike: Mapping[int, float],
    recalled: Mapping[str, PastVotes],
) -> Callable[[int], CandidateDetail]:
    """The detail of a tool by its number, looked up once."""

    @cache
    def detail(number: int) -> CandidateDetail:
        hits = found.found[number].hits
        past = recalled.get(documents.id(number)) if recalled else None
        return CandidateDetail(
            heard=frozenset([hit.term for hit in hits]),
            in_name=len({hit.term for hit in hits if hit.places & NAME}),
            rarest=max([documents.weight(hit.key) for hit in hits], default=0.0),
            alike=alike.get(number, 0.0),
            recalled=past.value if past else 0.0,
        )

    return detail
