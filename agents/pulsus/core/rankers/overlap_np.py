"""BM25 over many postings (overlap.py): the same sums in the same order, on arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulsus.core.rankers.doc import Documents
from pulsus.core.rankers.overlap import K1, Lookup, norm
from pulsus.core.rankers.postings import Postings

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]


def scores(lookups: Sequence[Sequence[Lookup]], documents: Documents) -> Floats:
    """The score of every tool by number; 0 where it shares no word."""
    norms = _norms(documents)
    total = np.zeros(len(norms))
    for meanings in lookups:
        if len(meanings) == 1:
            for part in meanings[0].postings:
                numbers, values = _values(meanings[0].gain, part, norms)
                total[numbers] += values
        elif meanings:
            _add_best(total, meanings, norms)
    if documents.gone:
        total[list(documents.gone)] = 0.0
    return total


def first(
    scored: Floats, documents: Documents, size: int, admit: Callable[[int], bool] | None
) -> dict[int, float]:
    """The best of them that are admitted, equal ones in the order of ids."""
    numbers = np.flatnonzero(scored)
    values = scored[numbers]
    if admit is None and len(values) > size:
        kept = values >= np.partition(values, len(values) - size)[len(values) - size]
        numbers, values = numbers[kept], values[kept]
    places = numbers if documents.delta is None else _positions(documents)[numbers]
    found: dict[int, float] = {}
    for at in np.lexsort((places, -values)):
        n = int(numbers[at])
        if admit is None or admit(n):
            found[n] = float(values[at])
            if len(found) == size:
                break
    return found


def _values(
    gain: float, part: Postings, norms: Floats
) -> tuple[NDArray[np.unsignedinteger[Any]], Floats]:
    numbers = _array(part.tools)
    if part.first:
        numbers = numbers + np.uint32(part.first)
    counts = np.frombuffer(part.counts, np.uint8).astype(np.float64)
    return numbers, gain * (counts * (K1 + 1)) / (counts + norms[numbers])


def _array(column: memoryview[int]) -> NDArray[np.unsignedinteger[Any]]:
    return np.frombuffer(column, np.uint16 if column.itemsize == 2 else np.uint32)


def _add_best(total: Floats, meanings: Sequence[Lookup], norms: Floats) -> None:
    """A word of several meanings counts by its best one."""
    reached = np.zeros(len(total))
    for meaning in meanings:
        for part in meaning.postings:
            numbers, values = _values(meaning.gain, part, norms)
            reached[numbers] = np.maximum(reached[numbers], values)
    total += reached


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
