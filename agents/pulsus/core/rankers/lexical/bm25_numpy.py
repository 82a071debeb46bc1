"""BM25 over many postings (bm25.py): the same sums in the same order, on arrays."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import accumulate
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from pulsus.core.rankers.lexical.bm25 import K1, Hit, Lookup, length_norm
from pulsus.core.rankers.lexical.documents import Documents
from pulsus.core.rankers.lexical.postings import Postings

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]

_BLOCKS = 64
"""Parts of the catalogue whose best tools bound the score of the last one that is kept."""

_LEAST = 5e-324
"""The smallest number above 0."""

_KEPT = 1 << 17
"""Postings whose scores are kept between requests: 2 MiB."""

_SMALL = 1 << 15
"""Tools up to which they are: adding up is most of a large catalogue's time anyway."""


class _Column(NamedTuple):
    """The tools one posting list has, what it adds to each, and where the word stands there."""

    tools: Numbers
    values: Floats
    places: NDArray[np.uint8]


def best_matches(
    lookups: Sequence[Sequence[Lookup]],
    documents: Documents,
    size: int,
    admit: Callable[[int], bool] | None,
    extra: Collection[int],
) -> tuple[dict[int, float], dict[int, list[Hit]]]:
    """Return the best tools that are admitted, then `extra`, with their scores; and their hits."""
    tools = _tool_count(documents)
    if not any(lookups):
        return dict.fromkeys(extra, 0.0), {n: [] for n in extra}
    stood: list[tuple[int, Lookup]] = []
    columns: list[_Column] = []
    for term, meanings in enumerate(lookups):
        own = [
            (meaning, _score_postings(meaning, at, documents))
            for meaning in meanings
            for at in range(len(meaning.postings))
        ]
        stood += [(term, meaning) for meaning, _ in own]
        found = [column for _, column in own]
        columns += found if len(meanings) < 2 else _keep_best_meaning(found, tools)
    numbers = np.concatenate([column.tools for column in columns])
    total = _sum_by_tool(numbers, np.concatenate([column.values for column in columns]), tools)
    if documents.gone:
        total[list(documents.gone)] = 0.0
    scores = _select_best(total, documents, size, admit)
    scores |= {n: float(total[n]) for n in extra if n not in scores}
    wanted = np.zeros(tools, np.bool_)
    wanted[list(scores)] = True
    at = wanted[numbers].nonzero()[0]
    hits: dict[int, list[Hit]] = {n: [] for n in scores}
    for n, hit in zip(numbers[at].tolist(), _list_hits(stood, columns, at), strict=True):
        hits[n].append(hit)
    return scores, hits


def _select_best(
    scored: Floats, documents: Documents, size: int, admit: Callable[[int], bool] | None
) -> dict[int, float]:
    """Return the best tools by score, equal ones in the order of ids."""
    numbers = np.flatnonzero(scored >= _score_threshold(scored, size) if admit is None else scored)
    scores = scored[numbers]
    if admit is None and len(numbers) > 2 * size:
        kept = scores >= np.partition(scores, len(scores) - size)[len(scores) - size]
        numbers, scores = numbers[kept], scores[kept]
    places = numbers if documents.delta is None else _tool_positions(documents)[numbers]
    near = zip((-scores).tolist(), places.tolist(), numbers.tolist(), strict=True)
    found: dict[int, float] = {}
    for value, _, n in sorted(near):
        if admit is None or admit(n):
            found[n] = -value
            if len(found) == size:
                break
    return found


def _score_threshold(scored: Floats, size: int) -> float:
    """Return a score above 0 that at least `size` tools reach, if so many are above 0.

    The catalogue is cut into blocks, and at least `size` blocks contain such a tool.
    """
    width = len(scored) // _BLOCKS
    if not width or size > _BLOCKS:
        return _LEAST
    tops: list[float] = scored[: width * _BLOCKS].reshape(_BLOCKS, width).max(axis=1).tolist()
    return max(_LEAST, sorted(tops)[_BLOCKS - size])


def _list_hits(
    stood: Sequence[tuple[int, Lookup]], columns: Sequence[_Column], at: Numbers
) -> Iterator[Hit]:
    """Yield the hits at these positions of the joined columns."""
    ends = list(accumulate(len(column.tools) for column in columns))
    which = np.searchsorted(ends, at, side="right").tolist()
    places = np.concatenate([column.places for column in columns])[at].tolist()
    cached: dict[tuple[int, int], Hit] = {}
    for own in zip(which, places, strict=True):
        hit = cached.get(own)
        if hit is None:
            term, meaning = stood[own[0]]
            hit = cached[own] = Hit(term, meaning.key, meaning.weight, own[1])
        yield hit


def _sum_by_tool(numbers: Numbers, values: Floats, tools: int) -> Floats:
    """Return the values of each tool, added up in the order given."""
    return cast(Floats, np.bincount(numbers, values, tools))


def _score_postings(meaning: Lookup, at: int, documents: Documents) -> _Column:
    """Return the tools of one posting list, and the score that it adds to each."""
    if _tool_count(documents) > _SMALL:
        return _compute_column(meaning.gain, meaning.postings[at], documents)
    kept: dict[tuple[str, float, int], _Column] = documents.arrays.setdefault("scored", {})
    key = (meaning.key, meaning.gain, at)
    found = kept.get(key)
    if found is None:
        found = _compute_column(meaning.gain, meaning.postings[at], documents)
        count = documents.arrays.get("kept", 0) + len(found.tools)
        if count > _KEPT:
            kept.clear()
            count = len(found.tools)
        documents.arrays["kept"] = count
        kept[key] = found
    return found


def _compute_column(gain: float, part: Postings, documents: Documents) -> _Column:
    least, slope = length_norm(documents)
    numbers = _to_array(part.tools).astype(np.int64)
    counts = np.frombuffer(part.counts, np.uint8).astype(np.float64)
    lengths = _to_array(part.lengths)[numbers].astype(np.float64)
    values = gain * (counts * (K1 + 1)) / (counts + (least + slope * lengths))
    if part.first:
        numbers += part.first
    return _Column(numbers, values, np.frombuffer(part.places, np.uint8))


def _tool_count(documents: Documents) -> int:
    """Return one more than the highest number of a tool."""
    return len(documents.base) + (0 if documents.delta is None else len(documents.delta))


def _to_array(column: memoryview[int]) -> NDArray[np.unsignedinteger[Any]]:
    return np.frombuffer(column, np.uint16 if column.itemsize == 2 else np.uint32)


def _keep_best_meaning(meanings: Sequence[_Column], tools: int) -> list[_Column]:
    """Return the columns with the best meaning of a word for each tool. The others add nothing."""
    reached = np.zeros(tools)
    for numbers, values, _ in meanings:
        reached[numbers] = np.maximum(reached[numbers], values)
    found = []
    for numbers, values, places in meanings:
        taken = values == reached[numbers]
        reached[numbers[taken]] = np.inf  # once: another may reach as high
        found.append(_Column(numbers, np.where(taken, values, 0.0), places))
    return found


def _tool_positions(documents: Documents) -> Numbers:
    """Return every tool's place in id order, kept with the documents."""
    kept: Numbers | None = documents.arrays.get("positions")
    if kept is None:
        every = range(_tool_count(documents))
        kept = documents.arrays["positions"] = np.array([documents.position(n) for n in every])
    return kept
