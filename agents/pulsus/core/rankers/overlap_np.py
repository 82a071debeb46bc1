"""BM25 over many postings (overlap.py): the same sums in the same order, on arrays."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import accumulate
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from pulsus.core.rankers.doc import Documents
from pulsus.core.rankers.overlap import K1, Hit, Lookup, norm
from pulsus.core.rankers.postings import Postings

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
Column = NDArray[np.unsignedinteger[Any]]

_BLOCKS = 64
"""Parts of the catalogue whose best tools bound the score of the last one that is kept."""

_LEAST = 5e-324
"""The smallest number above 0."""

_KEPT = 1 << 17
"""Postings whose scores are kept between requests: 2 MiB."""

_SMALL = 1 << 15
"""Tools up to which they are: adding up is most of a large catalogue's time anyway."""


def best(
    lookups: Sequence[Sequence[Lookup]],
    documents: Documents,
    size: int,
    admit: Callable[[int], bool] | None,
    extra: Collection[int],
) -> tuple[dict[int, float], dict[int, list[Hit]]]:
    """The best tools that are admitted, then `extra`, with their scores; and their hits."""
    norms = _norms(documents)
    if not any(lookups):
        return dict.fromkeys(extra, 0.0), {n: [] for n in extra}
    numbers: list[Numbers] = []
    values: list[Floats] = []
    stood: list[tuple[int, Lookup, Numbers, Postings]] = []
    for term, meanings in enumerate(lookups):
        own = [
            (meaning, part, *_scored(meaning, at, norms, documents))
            for meaning in meanings
            for at, part in enumerate(meaning.postings)
        ]
        stood += [(term, meaning, tools, part) for meaning, part, tools, _ in own]
        if len(meanings) > 1:
            tools, reached = _best_of([(tools, score) for _, _, tools, score in own], len(norms))
            numbers.append(tools)
            values.append(reached)
        else:
            numbers += [tools for _, _, tools, _ in own]
            values += [score for _, _, _, score in own]
    total = _sums(np.concatenate(numbers), np.concatenate(values), len(norms))
    if documents.gone:
        total[list(documents.gone)] = 0.0
    found = _first(total, documents, size, admit)
    found |= {n: float(total[n]) for n in extra if n not in found}
    return found, _hits(stood, found, len(norms))


def _first(
    scored: Floats, documents: Documents, size: int, admit: Callable[[int], bool] | None
) -> dict[int, float]:
    """The best of them, equal ones in the order of ids."""
    numbers = np.flatnonzero(scored >= _bar(scored, size) if admit is None else scored)
    scores = scored[numbers]
    if admit is None and len(numbers) > 2 * size:
        kept = scores >= np.partition(scores, len(scores) - size)[len(scores) - size]
        numbers, scores = numbers[kept], scores[kept]
    places = numbers if documents.delta is None else _positions(documents)[numbers]
    near = zip((-scores).tolist(), places.tolist(), numbers.tolist(), strict=True)
    found: dict[int, float] = {}
    for value, _, n in sorted(near):
        if admit is None or admit(n):
            found[n] = -value
            if len(found) == size:
                break
    return found


def _bar(scored: Floats, size: int) -> float:
    """A score above 0 that at least `size` tools reach, if that many are above 0: as many parts of
    the catalogue have one that does."""
    width = len(scored) // _BLOCKS
    if not width or size > _BLOCKS:
        return _LEAST
    tops: list[float] = scored[: width * _BLOCKS].reshape(_BLOCKS, width).max(axis=1).tolist()
    return max(_LEAST, sorted(tops)[_BLOCKS - size])


def _hits(
    stood: Sequence[tuple[int, Lookup, Numbers, Postings]], pool: Collection[int], tools: int
) -> dict[int, list[Hit]]:
    """Where the terms stand in each tool of the pool, in the order of terms."""
    wanted = np.zeros(tools, np.bool_)
    wanted[list(pool)] = True
    numbers = np.concatenate([own for _, _, own, _ in stood])
    at = np.flatnonzero(wanted[numbers])
    ends = list(accumulate(len(own) for _, _, own, _ in stood))
    which = np.searchsorted(ends, at, side="right").tolist()
    places = np.concatenate([np.frombuffer(p.places, np.uint8) for _, _, _, p in stood])
    hits: dict[int, list[Hit]] = {n: [] for n in pool}
    made: dict[tuple[int, int], Hit] = {}
    for own in zip(which, places[at].tolist(), numbers[at].tolist(), strict=True):
        hit = made.get(own[:2])
        if hit is None:
            term, meaning, _, _ = stood[own[0]]
            hit = made[own[:2]] = Hit(term, meaning.key, meaning.weight, own[1])
        hits[own[2]].append(hit)
    return hits


def _sums(numbers: Numbers, values: Floats, tools: int) -> Floats:
    """The values of each tool, added up in the order given."""
    return cast(Floats, np.bincount(numbers, values, tools))


def _scored(
    meaning: Lookup, at: int, norms: Floats, documents: Documents
) -> tuple[Numbers, Floats]:
    """The tools of one of a meaning's postings, and what it adds to each."""
    if len(norms) > _SMALL:
        return _values(meaning.gain, meaning.postings[at], norms)
    kept: dict[tuple[str, float, int], tuple[Numbers, Floats]]
    kept = documents.arrays.setdefault("scored", {})
    key = (meaning.key, meaning.gain, at)
    found = kept.get(key)
    if found is None:
        found = _values(meaning.gain, meaning.postings[at], norms)
        count = documents.arrays.get("kept", 0) + len(found[0])
        if count > _KEPT:
            kept.clear()
            count = len(found[0])
        documents.arrays["kept"] = count
        kept[key] = found
    return found


def _values(gain: float, part: Postings, norms: Floats) -> tuple[Numbers, Floats]:
    numbers = _array(part.tools).astype(np.int64)
    if part.first:
        numbers += part.first
    counts = np.frombuffer(part.counts, np.uint8).astype(np.float64)
    return numbers, gain * (counts * (K1 + 1)) / (counts + norms[numbers])


def _array(column: memoryview[int]) -> Column:
    return np.frombuffer(column, np.uint16 if column.itemsize == 2 else np.uint32)


def _best_of(meanings: Sequence[tuple[Numbers, Floats]], tools: int) -> tuple[Numbers, Floats]:
    """A word of several meanings counts by its best one."""
    reached = np.zeros(tools)
    for numbers, values in meanings:
        reached[numbers] = np.maximum(reached[numbers], values)
    found = np.flatnonzero(reached)
    return found, reached[found]


def _norms(documents: Documents) -> Floats:
    """What each tool's length adds below the line, kept with the documents."""
    kept: Floats | None = documents.arrays.get("norms")
    if kept is None:
        least, slope = norm(documents)
        lengths = _array(documents.base["lengths"])
        if documents.delta is not None:
            new = _array(documents.delta["lengths"])
            lengths = np.concatenate((lengths, new))
        kept = documents.arrays["norms"] = least + slope * lengths.astype(np.float64)
    return kept


def _positions(documents: Documents) -> Numbers:
    """Every tool's place in id order, kept with the documents."""
    kept: Numbers | None = documents.arrays.get("positions")
    if kept is None:
        every = range(len(_norms(documents)))
        kept = documents.arrays["positions"] = np.array([documents.position(n) for n in every])
    return kept
