"""Past requests like this one, and what they say about each tool (spec §4, §10; ADR 16). Pure.

Two things are recalled. Votes: every past request counts for the tools it was right for and against
those it was wrong for, by how alike it is. Text: the words of its past requests belong to a tool.
Past requests are read in `past_routes.py`, kept as columns in `request_index.py`, and weighed after
feedback in `feedback_weights.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from pulsus.core.memory.request_index import RequestSegment, WordCounts
from pulsus.core.rankers.feature_protocol import PastVotes
from pulsus.core.text.phrases import Phrase, phrases
from pulsus.core.types import Vote
from pulsus.fast_dataclass import dataclass

_SHARPNESS = 3
"""A vote is similarity to this power: 2 lets many vague ones win, 4 and 6 the single nearest."""
_FLOOR = 0.2
"""Requests less alike do not vote; below it a vote is worth less than a hundredth."""
_DOUBT = 0.05
"""The votes that the best tool needs: one request of similarity 0.37."""
_DOUBT_AGAINST = 0.5
"""The same for votes against a tool, which need a very similar request."""
_K1, _B = 1.2, 0.25
"""BM25 over a tool's past requests. At b = 0 the tools asked most win, at 0.5 the least."""
_MOST = 100
"""Tools recalled for the words of their past requests alone."""
_SHOWN = 3
"""Past requests named for one tool."""

_Ballot = tuple[float, float, str]
"""A vote's weight, the similarity of its request, and that request."""


@dataclass(frozen=True, slots=True)
class PastMemory:
    """The memory at one moment. `now` is in seconds of the epoch.

    Word weights come from `counts` alone. They are renewed whenever memory doubles, not with every
    request: so one more request never takes from a tool what it says for it.
    """

    counts: WordCounts
    segments: tuple[RequestSegment, ...]
    now: float

    @property
    def known(self) -> float:
        """The share of the catalogue's tools that have a past, in [0, 1]."""
        return self.counts.known

    def recall(self, text: str) -> Mapping[str, PastVotes]:
        """For each tool with a past that bears on `text`, the votes in [-1, 1] and its words."""
        asked = phrases(text)
        if not asked:
            return {}
        ballots = self._collect_ballots(asked)
        net = _sum_votes(ballots)
        best = max(max(net.values(), default=0.0), 0.0)
        values = {tool: _relative_value(votes, best) for tool, votes in net.items()}
        words = self._score_past_words(asked)
        tools = {*values, *_select_strongest(words)}
        return {
            tool: PastVotes(
                values.get(tool, 0.0),
                _list_shown_votes(ballots.get(tool, ())),
                words.get(tool, 0.0),
            )
            for tool in tools
        }

    def _collect_ballots(self, asked: Sequence[Phrase]) -> dict[str, list[_Ballot]]:
        """Return every tool's votes. A request made many times is one request with more weight."""
        found = sorted(
            (seg.request_text(n), similarity, tool, count)
            for seg in self.segments
            for n, similarity in self._find_similar_requests(asked, seg)
            for tool, count in seg.verdicts(n, self.now)
        )
        ballots: dict[str, list[_Ballot]] = {}
        for (text, tool), same in groupby(sorted(found, key=itemgetter(0, 2)), itemgetter(0, 2)):
            rows = list(same)
            similarity = rows[0][1]
            believed = _belief_from_count(math.fsum(count for _, _, _, count in rows))
            weight = similarity**_SHARPNESS * believed
            ballots.setdefault(tool, []).append((weight, similarity, text))
        return ballots

    def _find_similar_requests(
        self, asked: Sequence[Phrase], seg: RequestSegment
    ) -> Iterator[tuple[int, float]]:
        """Yield the segment's requests of similarity `_FLOOR` and more.

        Similarity is the cosine of the weighted sets of words and word pairs. Common words come
        last: a request that shares only those cannot reach the floor, and is skipped.
        """
        weights = sorted(
            ((self.counts.rarity(phrase) ** 2, phrase.likeness) for phrase in asked), reverse=True
        )
        length = math.fsum(weight for weight, _ in weights)
        remaining = length
        shared: dict[int, float] = {}
        rest: list[tuple[float, int]] = []
        for weight, key in weights:
            if remaining < _FLOOR * _FLOOR * length:
                rest.append((weight, key))
                continue
            remaining -= weight
            for n in seg.requests_with(key):
                shared[n] = shared.get(n, 0.0) + weight
        lengths, least = seg.lengths, _FLOOR * _FLOOR * length
        near = [
            (n, weight)
            for n, weight in shared.items()
            if (weight + remaining) ** 2 >= least * lengths[n]
        ]
        for n, weight in near:
            scale = math.sqrt(length * lengths[n])
            more = math.fsum(w for w, key in rest if seg.has(n, key))
            similarity = (weight + more) / scale
            if similarity >= _FLOOR:
                yield n, min(1.0, round(similarity, 9))

    def _score_past_words(self, asked: Sequence[Phrase]) -> dict[str, float]:
        """Return how much of this request each tool's past requests contain.

        1 stands for one past request of the same words. The score is BM25 with a phrase's rarity
        among tools, as a share of the request's own mass. It is multiplied by the share of tools
        that have past requests: if only a few have any, having some must not decide.
        """
        known = self.counts.known
        weights = [(self.counts.telling(phrase) ** 2, phrase) for phrase in asked]
        mass = math.fsum(weight for weight, phrase in weights if not phrase.pair)
        if not mass or not known:
            return {}
        sizes, found = self.counts.sizes, dict[str, float]()
        for weight, phrase in weights:
            gain = known * weight / mass * (_K1 + 1)
            for tool, count in self._list_tools_with(phrase):
                if count > 0:
                    usual = _K1 * (1 - _B) + _K1 * _B * sizes.get(tool, 0.0)
                    found[tool] = found.get(tool, 0.0) + gain * count / (count + usual)
        return found

    def _list_tools_with(self, phrase: Phrase) -> Iterable[tuple[str, float]]:
        """Return the tools whose past requests contain the phrase, with their number."""
        first, *more = (seg.tools_with(phrase.key, self.now) for seg in self.segments)
        if not any(more):
            return first
        counts: dict[str, float] = {}
        for found in (first, *more):
            for tool, count in found:
                counts[tool] = counts.get(tool, 0.0) + count
        return counts.items()


def _sum_votes(ballots: Mapping[str, Sequence[_Ballot]]) -> dict[str, float]:
    """Return the sum of the votes for each tool.

    A request of the same words overrules requests that are only similar. If it votes for a tool,
    they cannot vote against that tool or for another one. If it votes against a tool, they cannot
    vote for it. As its own votes fade, theirs count again.
    """
    same = {
        tool: min(1.0, max(-1.0, math.fsum(w for w, alike, _ in cast if alike >= 1.0)))
        for tool, cast in ballots.items()
    }
    surest = max(0.0, *same.values()) if same else 0.0
    net = {}
    for tool, cast in ballots.items():
        own = same[tool]
        left_for = 1 - max(0.0, -own, surest - max(0.0, own))
        left_against = 1 - max(0.0, own)
        net[tool] = math.fsum(
            w if alike >= 1.0 else w * (left_for if w > 0 else left_against) for w, alike, _ in cast
        )
    return net


def _select_strongest(words: Mapping[str, float]) -> Iterable[str]:
    if len(words) <= _MOST:
        return words
    least = sorted(words.values())[-_MOST]
    return (tool for tool, value in words.items() if value >= least)


def _belief_from_count(count: float) -> float:
    """Return 1 for one request, at most 2 for many, and a number below 0 for a wrong one."""
    return 2 * count / (1 + abs(count))


def _relative_value(votes: float, best: float) -> float:
    """Return votes for a tool relative to the best tool's. Votes against it count alone."""
    doubt = best + _DOUBT if votes > 0 else abs(votes) + _DOUBT_AGAINST
    return votes / doubt


def _list_shown_votes(cast: Iterable[_Ballot]) -> tuple[Vote, ...]:
    strongest = sorted(cast, key=lambda ballot: (-abs(ballot[0]), ballot[2]))[:_SHOWN]
    return tuple(Vote(text, similarity, weight) for weight, similarity, text in strongest if weight)
