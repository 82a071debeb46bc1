"""Give values to inputs, none twice: the best joint choice by a bounded search. Pure.

The scores of the choices are from `filler.py`. A tie between two inputs for one value is decided
here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from pulsus.core.arguments.candidates.candidate import Candidate
from pulsus.core.arguments.spans.span import Span

MOST_OPTIONS: Final = 6
MOST_NODES: Final = 4000

ScoredValue = tuple[float, Candidate | None]
"""A log probability, and the value; None for no value."""


def log_softmax(scores: Sequence[float]) -> list[float]:
    """Return the logarithms of softmax(scores); `scores` is not empty."""
    top = max(scores)
    total = top + math.log(sum(math.exp(score - top) for score in scores))
    return [score - total for score in scores]


def best_assignment(options: Sequence[Sequence[ScoredValue]]) -> list[int]:
    """Return for each input the number of its option, so that no two places overlap.

    Each input has exactly one option without a value. The search is depth first. Inputs with the
    clearest choice come first, and the sum of the best options that are left is the bound. After
    MOST_NODES the best assignment so far is returned.
    """
    order = sorted(range(len(options)), key=lambda n: -max(score for score, _ in options[n]))
    search = _Search([options[n] for n in order])
    search.visit(0, 0.0)
    chosen = dict(zip(order, search.best, strict=True))
    return [chosen[n] for n in range(len(options))]


def with_second_choices(
    options: Sequence[Sequence[ScoredValue]], picks: Sequence[int]
) -> list[int]:
    """Return the picks, where each input without a value has its best value that is still free.

    The score prefers no value for most inputs that may be left out. Whether such a value is right
    is for the confidence to say, which knows more about it.
    """
    chosen = list(picks)
    taken = [(s.start, s.end) for n, k in enumerate(picks) for s in _spans(options[n][k])]
    waiting = [
        (score, n, k)
        for n, pick in enumerate(picks)
        if options[n][pick][1] is None
        for k, (score, candidate) in enumerate(options[n])
        if candidate is not None
    ]
    for _, n, k in sorted(waiting, key=lambda one: (-one[0], one[1], one[2])):
        places = [(s.start, s.end) for s in _spans(options[n][k])]
        free = not any(a < end and start < b for a, b in places for start, end in taken)
        if free and options[n][chosen[n]][1] is None:
            chosen[n] = k
            taken.extend(places)
    return chosen


def _spans(value: ScoredValue) -> tuple[Span, ...]:
    return value[1].spans if value[1] else ()


class _Search:
    def __init__(self, options: Sequence[Sequence[ScoredValue]]) -> None:
        self.options = options
        self.ranked = [_best_options(one) for one in options]
        self.best: list[int] = []
        self._best_score = -math.inf
        self._nodes = 0
        self._chosen: list[int] = []
        self._taken: list[tuple[int, int]] = []
        self._bounds = [0.0]
        """The most that the inputs from a place on can add."""
        for one, ranked in zip(reversed(options), reversed(self.ranked), strict=True):
            self._bounds.append(self._bounds[-1] + one[ranked[0]][0])
        self._bounds.reverse()

    def visit(self, place: int, score: float) -> None:
        """Try the options of the input at `place`, with those before it chosen."""
        self._nodes += 1
        if place == len(self.options):
            if score > self._best_score:
                self.best, self._best_score = self._chosen[:], score
            return
        for number in self.ranked[place]:
            value, candidate = self.options[place][number]
            most = score + value + self._bounds[place + 1]
            if most <= self._best_score or (self._nodes > MOST_NODES and self.best):
                continue
            spans = [(s.start, s.end) for s in candidate.spans] if candidate else []
            if any(a < end and start < b for a, b in spans for start, end in self._taken):
                continue
            self._chosen.append(number)
            self._taken.extend(spans)
            self.visit(place + 1, score + value)
            self._chosen.pop()
            del self._taken[len(self._taken) - len(spans) :]


def _best_options(options: Sequence[ScoredValue]) -> list[int]:
    """Return the numbers of the best options, best first, with that of no value among them."""
    ranked = sorted(range(len(options)), key=lambda n: -options[n][0])[:MOST_OPTIONS]
    null = next(n for n, (_, candidate) in enumerate(options) if candidate is None)
    return ranked if null in ranked else [*ranked, null]
