"""The numbers that tell whether a chosen value is right, for the confidence model. Pure.

The thresholds are in `core/arguments/candidates/fill_limits.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from pulsus.core.arguments.assignment import ScoredValue
from pulsus.core.arguments.candidates.candidate import Candidate, fit_of_kind
from pulsus.core.arguments.candidates.list_candidates import stands_beside
from pulsus.core.arguments.features.request_reading import RequestReading
from pulsus.core.arguments.inputs import NO_DEFAULT, Input
from pulsus.core.text.tokens import STOP_WORDS
from pulsus.late_pattern import late_pattern

_JOINED = late_pattern(
    r"(?i)\s*(?:\([^)]{1,20}\)\s*)?,?\s*(?:(?P<order>to|until|till|then|and then|->|-->|→|=>)"
    r"|and|vs\.?|versus|against|with|or|compared (?:to|with)|(?<=\s))\s*(?:to |the |later )?"
)
_LEAST = -12.0
"""The log probability that stands for "no such option"."""
_FREE = 12.0
_MOST_FREE = 6
_MOST_LENGTH = 60


def confidence_features(
    options: Sequence[Sequence[ScoredValue]],
    picks: Sequence[int],
    tried: Sequence[int],
    reading: RequestReading,
) -> list[dict[str, float]]:
    """Return for every input the numbers of the value that is tried; empty for no value.

    `picks` is the best assignment. `tried` differs from it where it gives no value.
    """
    chosen = [options[n][pick][1] for n, pick in enumerate(picks)]
    scene = _of_request(chosen, reading)
    result: list[dict[str, float]] = []
    for n, (one, pairs) in enumerate(reading.options):
        candidate = options[n][tried[n]][1]
        if candidate is None:
            result.append({})
            continue
        taken = [c for m, c in enumerate(chosen) if m != n and c is not None]
        own = next(features for c, features in pairs if c is candidate)
        result.append(
            {
                **_scores(n, candidate, options, tried, taken),
                **_of_choice(one, candidate, own),
                **scene,
                "swap": _swap(n, options, tried),
                "pair": _pair(n, options, tried, reading),
                "picked": float(picks[n] == tried[n]),
                "taken": float(len(taken)),
                "joined": float(_in_enumeration(candidate, reading, taken)),
            }
        )
    return result


def _of_request(chosen: Sequence[Candidate | None], reading: RequestReading) -> dict[str, float]:
    """Return the numbers that are the same for all inputs."""
    words = reading.words
    content = [s for s, low in zip(words.stems, words.low, strict=True) if low not in STOP_WORDS]
    inputs = [one for one, _ in reading.options]
    missing = sum(one.required and c is None for one, c in zip(inputs, chosen, strict=True))
    return {
        "inputs": float(len(inputs)),
        "length": float(min(len(words.low), _MOST_LENGTH)),
        "relevance": sum(word in words.own for word in content) / max(1, len(content)),
        "unread": float(missing),
    }


def _scores(
    n: int,
    candidate: Candidate,
    options: Sequence[Sequence[ScoredValue]],
    picks: Sequence[int],
    taken: Sequence[Candidate],
) -> dict[str, float]:
    """Return the lead of the choice over other values, over other inputs, and over no value."""
    score = max(options[n][picks[n]][0], _LEAST)
    others = [(s, c) for k, (s, c) in enumerate(options[n]) if k != picks[n] and c is not None]
    elsewhere = [(s, c) for s, c in others if not _overlap(c, candidate)]
    alike = [(s, c) for s, c in elsewhere if c.kind == candidate.kind]
    wants = _best(
        s
        for m, other in enumerate(options)
        if m != n
        for s, c in other
        if c is not None and _overlap(c, candidate)
    )
    free = sum(not any(_overlap(t, c) for t in taken) for _, c in alike)
    return {
        "score": math.exp(options[n][picks[n]][0]),
        "log": score,
        "null": _best(s for s, c in options[n] if c is None),
        "rival": _best(s for s, _ in others),
        "apart": _best(s for s, _ in elsewhere),
        "alike": _best(s for s, _ in alike),
        "wants": wants,
        "margin": score - wants,
        "candidates": float(len(others) + 1),
        "free": float(min(free, _MOST_FREE)),
    }


def _swap(n: int, options: Sequence[Sequence[ScoredValue]], tried: Sequence[int]) -> float:
    """Return how much worse it is to exchange the value with that of another input.

    It is small where nothing but the order says which of two values is which; _FREE without any.
    """
    mine = options[n][tried[n]]
    worst = _FREE
    for m, pick in enumerate(tried):
        theirs = options[m][pick]
        if m == n or theirs[1] is None or mine[1] is None:
            continue
        here = _best(s for s, c in options[n] if c and _same_place(c, theirs[1]))
        there = _best(s for s, c in options[m] if c and _same_place(c, mine[1]))
        if here > _LEAST and there > _LEAST:
            worst = min(worst, mine[0] + theirs[0] - here - there)
    return worst


def _pair(
    n: int,
    options: Sequence[Sequence[ScoredValue]],
    tried: Sequence[int],
    reading: RequestReading,
) -> float:
    """Return 1 if the value and that of the next input stand as `A to B`, in the inputs' order.

    -1 is for the other order, and half of both for `A against B`, where the order says less.
    """
    one, _ = reading.options[n]
    mine = options[n][tried[n]][1]
    for m, (other, _) in enumerate(reading.options):
        theirs = options[m][tried[m]][1]
        if m == n or mine is None or theirs is None or other.role != one.role:
            continue
        if mine.kind != theirs.kind or other.required != one.required:
            continue
        first, last = sorted((mine, theirs), key=lambda c: c.start)
        joined = _JOINED.fullmatch(reading.words.request[first.end : last.start])
        if joined:
            order = 1.0 if (mine.start < theirs.start) == (one.place < other.place) else -1.0
            return order if joined["order"] else order / 2
    return 0.0


def _same_place(one: Candidate, other: Candidate) -> bool:
    return one.start == other.start and one.end == other.end


def _of_choice(one: Input, candidate: Candidate, own: dict[str, float]) -> dict[str, float]:
    """Return the numbers of the value and its input; `own` are the features of the pair."""
    text = str(candidate.value)
    return {
        "required": float(one.required),
        "defaulted": float(one.default is not NO_DEFAULT),
        "words": float(len(text.split())),
        "quoted": float(candidate.quoted),
        "alikeness": candidate.alike,
        "before": own.get("named before", 0.0),
        "after": own.get("named after", 0.0),
        "said": own.get("said near", 0.0),
        "itself": own.get("names itself", 0.0),
        "example": own.get("is example", 0.0),
        "outline": own.get("outline of example", 0.0),
        "part": sum(
            weight
            for own_named, weight in (("True other=False", 1.0), ("False other=True", -1.0))
            if f"part names own={own_named}" in own
        ),
        "spoken": sum(
            weight
            for own_said, weight in (("True other=False", 1.0), ("False other=True", -1.0))
            if f"part says own={own_said}" in own
        ),
        "start": float(candidate.start == 0),
        "region": float(one.region),
        "comma": float("," in text),
        "fit": float(fit_of_kind(one, candidate.kind)),
        "order": own.get("order=same", 0.0) - own.get("order=other", 0.0),
        f"kind={candidate.kind}": 1.0,
        f"type={one.type}": 1.0,
        f"role={one.role}": 1.0,
    }


def _best(scores: Iterable[float]) -> float:
    return max(scores, default=_LEAST)


def _overlap(one: Candidate, other: Candidate) -> bool:
    return one.start < other.end and other.start < one.end


def _in_enumeration(
    candidate: Candidate, reading: RequestReading, taken: Sequence[Candidate]
) -> bool:
    """Return True if another value of the kind is joined to it by "and", and no input took that.

    Then the request gives several values, and one alone is not what it says.
    """
    request = reading.words.request
    return any(
        other.kind == candidate.kind
        and (stands_beside(candidate, other, request) or stands_beside(other, candidate, request))
        and not any(_overlap(one, other) for one in taken)
        for _, pairs in reading.options
        for other, _ in pairs
    )
