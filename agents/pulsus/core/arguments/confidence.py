"""The numbers that tell whether a chosen value is right, for the confidence model. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pulsus.core.arguments.assignment import Option
from pulsus.core.arguments.candidates import Candidate, fit_of_kind, stands_beside
from pulsus.core.arguments.inputs import NO_DEFAULT, Input
from pulsus.core.arguments.request_reading import RequestReading
from pulsus.core.text.tokens import STOP_WORDS

_LEAST = -12.0
"""The log probability that stands for "no such option"."""

Taken = Sequence[Candidate]


def confidence_features(
    options: Sequence[Sequence[Option]], picks: Sequence[int], reading: RequestReading
) -> list[dict[str, float]]:
    """Return for every input the numbers of its chosen value; empty for an input without one."""
    inputs = [one for one, _ in reading.options]
    chosen = [options[n][k][1] for n, k in enumerate(picks)]
    scene = reading.scene
    content = [w for n, w in enumerate(scene.stems) if scene.low[n] not in STOP_WORDS]
    relevance = sum(w in scene.tool.own for w in content) / max(1, len(content))
    missing = sum(1 for one, c in zip(inputs, chosen, strict=True) if one.required and c is None)
    result: list[dict[str, float]] = []
    for n, one in enumerate(inputs):
        candidate = chosen[n]
        if candidate is None:
            result.append({})
            continue
        taken = [c for m, c in enumerate(chosen) if m != n and c is not None]
        result.append(
            {
                **_scores(n, candidate, options, picks, taken),
                **_words(one, candidate, reading.options[n][1]),
                "inputs": float(len(inputs)),
                "taken": float(len(taken)),
                "length": float(min(len(scene.low), 60)),
                "relevance": relevance,
                "unread": float(missing),
                "joined": float(_in_enumeration(candidate, reading, taken)),
            }
        )
    return result


def _scores(
    n: int,
    candidate: Candidate,
    options: Sequence[Sequence[Option]],
    picks: Sequence[int],
    taken: Taken,
) -> dict[str, float]:
    """How far the choice is ahead: of other places, of other inputs, of giving nothing."""
    score = options[n][picks[n]][0]
    others = [(s, c) for k, (s, c) in enumerate(options[n]) if k != picks[n] and c is not None]
    elsewhere = [(s, c) for s, c in others if not _overlap(c, candidate)]
    wants = max(
        (s for m, other in enumerate(options) if m != n for s, c in other if c is not None and _overlap(c, candidate)),
        default=_LEAST,
    )  # fmt: skip
    free = sum(
        1
        for _, c in elsewhere
        if c.kind == candidate.kind and not any(_overlap(t, c) for t in taken)
    )
    return {
        "score": math.exp(score),
        "log": max(score, _LEAST),
        "null": max(next(s for s, c in options[n] if c is None), _LEAST),
        "rival": max((s for s, _ in others), default=_LEAST),
        "apart": max((s for s, _ in elsewhere), default=_LEAST),
        "alike": max((s for s, c in elsewhere if c.kind == candidate.kind), default=_LEAST),
        "wants": max(wants, _LEAST),
        "margin": max(score, _LEAST) - max(wants, _LEAST),
        "candidates": float(len(others) + 1),
        "free": float(min(free, 6)),
    }


def _words(
    one: Input, candidate: Candidate, pairs: Sequence[tuple[Candidate, dict[str, float]]]
) -> dict[str, float]:
    own = next(features for c, features in pairs if c is candidate)
    return {
        "required": float(one.required),
        "defaulted": float(one.default is not NO_DEFAULT),
        "words": float(len(str(candidate.value).split())),
        "quoted": float(candidate.quoted),
        "alikeness": candidate.alike,
        "before": own.get("named before", 0.0),
        "after": own.get("named after", 0.0),
        "said": own.get("said near", 0.0),
        "itself": own.get("names itself", 0.0),
        "example": own.get("is example", 0.0),
        "outline": own.get("outline of example", 0.0),
        "start": float(candidate.start == 0),
        "region": float(one.region),
        "comma": float("," in str(candidate.value)),
        "fit": float(fit_of_kind(one, candidate.kind)),
        "order": own.get("order=same", 0.0) - own.get("order=other", 0.0),
        f"kind={candidate.kind}": 1.0,
        f"type={one.type}": 1.0,
        f"role={one.role}": 1.0,
    }


def _overlap(one: Candidate, other: Candidate) -> bool:
    return one.start < other.end and other.start < one.end


def _in_enumeration(candidate: Candidate, reading: RequestReading, taken: Taken) -> bool:
    """Return True if one more value of the kind stands beside it behind "and", and no input took that."""
    request = reading.scene.request
    for _, pairs in reading.options:
        for other, _ in pairs:
            if other.kind != candidate.kind or any(_overlap(t, other) for t in taken):
                continue
            if stands_beside(candidate, other, request) or stands_beside(other, candidate, request):
                return True
    return False
