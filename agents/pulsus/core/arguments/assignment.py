"""Give values to inputs, none twice: the best joint choice by a bounded search. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pulsus.core.arguments.candidates import Candidate

MOST_OPTIONS = 6
MOST_NODES = 4000

Option = tuple[float, Candidate | None]
"""A log probability, and the value; None for no value."""


def log_softmax(scores: Sequence[float]) -> list[float]:
    """Return the logarithms of softmax(scores)."""
    top = max(scores)
    total = top + math.log(sum(math.exp(s - top) for s in scores))
    return [s - total for s in scores]


def best_assignment(options: Sequence[Sequence[Option]]) -> list[int]:
    """Return for each input the number of its option, so that no two places overlap.

    Depth first, inputs with the clearest choice first, with the sum of the best options that are
    left as the bound. After MOST_NODES the best found so far is returned.
    """
    order = sorted(range(len(options)), key=lambda n: -max(s for s, _ in options[n]))
    ranked = [
        sorted(range(len(options[n])), key=lambda k: -options[n][k][0])[:MOST_OPTIONS]
        for n in order
    ]
    for place, n in enumerate(order):
        null = next(k for k, (_, c) in enumerate(options[n]) if c is None)
        if null not in ranked[place]:
            ranked[place].append(null)
    bounds = [0.0] * (len(order) + 1)
    for place in range(len(order) - 1, -1, -1):
        bounds[place] = bounds[place + 1] + options[order[place]][ranked[place][0]][0]
    best: list[int] = []
    best_score = -math.inf
    nodes = 0

    def search(place: int, score: float, taken: list[tuple[int, int]], chosen: list[int]) -> None:
        nonlocal best, best_score, nodes
        nodes += 1
        if place == len(order):
            if score > best_score:
                best, best_score = chosen[:], score
            return
        for k in ranked[place]:
            value, candidate = options[order[place]][k]
            if score + value + bounds[place + 1] <= best_score or (nodes > MOST_NODES and best):
                continue
            ranges = [] if candidate is None else [(s.start, s.end) for s in candidate.spans]
            if any(a < end and start < b for a, b in ranges for start, end in taken):
                continue
            chosen.append(k)
            search(place + 1, score + value, taken + ranges, chosen)
            chosen.pop()

    search(0, 0.0, [], [])
    result = [0] * len(options)
    for place, n in enumerate(order):
        result[n] = best[place]
    return result
