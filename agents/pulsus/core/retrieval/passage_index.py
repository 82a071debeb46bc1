"""Search over passages: BM25, and meaning where vectors are at hand (spec §14). Pure.

Passages below the threshold `LEAST`, and more than `FIRST` of them, are dropped here. BM25
(Robertson and Zaragoza 2009) with the usual k1 and b. A passage's score is the share of the best
score any passage could have had for the request, so that it lies in [0, 1]. `document_passages.py`
cuts documents into passages. Facts of the knowledge base are in `kb/fact_base.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from pulsus.core.rankers.lexical.postings import idf
from pulsus.core.retrieval.document_passages import DocSection, Place
from pulsus.core.text.tokens import stems
from pulsus.core.types import Passage

_K1, _B = 1.2, 0.75
FIRST = 3
"""Passages taken as hints."""
LEAST = 0.25
"""Score from which a passage says something about the request."""
_MEANT = 0.65
"""Share of meaning in the score, as in the doc feature."""

Posting = tuple[int, int]
"""Passage number, and how often it has the word."""


class Likeness(Protocol):
    """Compares passages with a request by meaning."""

    def similar(self, text: str) -> Mapping[int, float]:
        """Cosine in [-1, 1] by the passage's number."""
        ...


@dataclass(frozen=True, slots=True)
class PassageIndex:
    """Passages made ready for searching."""

    cards: tuple[Passage, ...]
    lengths: tuple[int, ...]
    postings: Mapping[str, tuple[Posting, ...]]
    meaning: Likeness | None = field(default=None, compare=False)

    @classmethod
    def of(cls, sections: Sequence[DocSection]) -> PassageIndex:
        """Return the index of these sections; their headings count as text."""
        postings: dict[str, list[Posting]] = {}
        lengths = []
        for number, section in enumerate(sections):
            counts = Counter(stems(f"{section.heading}\n{section.text}"))
            lengths.append(counts.total())
            for key, count in counts.items():
                postings.setdefault(key, []).append((number, count))
        cards = tuple(Passage(s.source, s.heading, 0.0, s.places, s.tools) for s in sections)
        found = {key: tuple(column) for key, column in sorted(postings.items())}
        return cls(cards, tuple(lengths), found)

    def passages(self, text: str) -> tuple[Passage, ...]:
        """Return the passages that say something about a request, best first; ties in index
        order.
        """
        scores = self._score_by_words(text)
        if self.meaning:
            meant = self.meaning.similar(text)
            scores = {
                n: (1 - _MEANT) * scores.get(n, 0.0) + _MEANT * max(0.0, meant.get(n, 0.0))
                for n in {*scores, *meant}
            }
        best = sorted(scores, key=lambda n: (-round(scores[n], 9), n))[:FIRST]
        return tuple(
            replace(self.cards[n], score=round(min(1.0, scores[n]), 6))
            for n in best
            if scores[n] >= LEAST
        )

    def _score_by_words(self, text: str) -> dict[int, float]:
        size = len(self.cards)
        mean = sum(self.lengths) / size if size else 0.0
        scores: dict[int, float] = {}
        most = 0.0
        for key in dict.fromkeys(stems(text)):
            column = self.postings.get(key, ())
            weight = idf(size, len(column))
            most += weight * (_K1 + 1)
            for number, count in column:
                drag = _K1 * (1 - _B + _B * self.lengths[number] / mean)
                gain = weight * count * (_K1 + 1) / (count + drag)
                scores[number] = scores.get(number, 0.0) + gain
        return {number: score / most for number, score in scores.items()} if most else {}


def to_json(index: PassageIndex) -> dict[str, Any]:
    """Return JSON values from which `from_json` makes an equal index."""
    return {
        "cards": [[c.source, c.heading, c.places, c.tools] for c in index.cards],
        "lengths": index.lengths,
        "postings": index.postings,
    }


def from_json(data: Mapping[str, Any]) -> PassageIndex:
    """Return the index. Raises KeyError, TypeError or ValueError for anything `to_json` did not
    make.
    """
    cards = tuple(
        Passage(
            str(source), str(heading), 0.0, tuple(map(_parse_place, places)), tuple(map(str, tools))
        )
        for source, heading, places, tools in data["cards"]
    )
    index = PassageIndex(
        cards,
        tuple(map(int, data["lengths"])),
        {
            str(key): tuple((int(n), int(count)) for n, count in column)
            for key, column in data["postings"].items()
        },
    )
    numbers = range(len(cards))
    if len(index.lengths) != len(cards) or not all(
        n in numbers and count > 0 for column in index.postings.values() for n, count in column
    ):
        raise ValueError("its parts speak of different passages")
    return index


def _parse_place(raw: Sequence[Any]) -> Place:
    domain, action = raw
    return (None if domain is None else str(domain), str(action))
