"""Read a request for one tool: the values that each input may take, with their features. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime

from pulsus.core.arguments.candidates import Candidate, candidates_for
from pulsus.core.arguments.features import Scene, null_features, pair_features
from pulsus.core.arguments.inputs import Fillable, Input
from pulsus.core.arguments.phrases import find_phrases
from pulsus.core.arguments.spans import FIRM, Span, find_spans
from pulsus.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class RequestReading:
    """For each input its values with features, and the features of no value."""

    options: list[tuple[Input, list[tuple[Candidate, dict[str, float]]]]]
    null: Mapping[str, dict[str, float]]
    scene: Scene
    spans: Sequence[Span]


def read_request(request: str, tool: Fillable, now: datetime | None = None) -> RequestReading:
    """Return what each input of `tool` may take from `request`."""
    spans, words = find_spans(request)
    firm = [s for s in spans if s.kind in FIRM or s.quoted]
    phrases = find_phrases(request, words, firm)
    scene = Scene(request, words, tool)
    wanted = [
        (one, candidates_for(one, spans, words, phrases, request, now)) for one in tool.inputs
    ]
    rivals = Counter(start for _, found in wanted for start in {c.start for c in found})
    options = []
    null = {}
    orders = _orders(wanted)
    for one, found in wanted:
        same = Counter(c.kind for c in found)
        pairs = [(c, pair_features(one, c, scene, rivals, same[c.kind])) for c in found]
        for candidate, features in pairs:
            if (order := orders.get((one.place, candidate.start))) is not None:
                features[f"order={order}"] = 1.0
                features[f"order={order}|{candidate.kind}"] = 1.0
        options.append((one, pairs))
        null[one.name] = null_features(one, scene, len(found))
    return RequestReading(options, null, scene, spans)


def _orders(wanted: Sequence[tuple[Input, list[Candidate]]]) -> dict[tuple[int, int], str]:
    """Compare the order of the inputs of a type with the order of the values that suit them.

    Only where there are as many of both, and at least two: "sides 3, 4 and 5".
    """
    groups: dict[str, list[tuple[Input, list[Candidate]]]] = {}
    for one, found in wanted:
        if one.type in ("integer", "number", "string") and not one.choices:
            groups.setdefault("number" if one.type != "string" else "string", []).append(
                (one, found)
            )
    result: dict[tuple[int, int], str] = {}
    for name, group in groups.items():
        kinds = (
            ("number", "counted", "assign", "money")
            if name == "number"
            else ("name", "region", "quoted", "path", "file", "host", "date")
        )
        places = sorted({c.start for _, found in group for c in found if c.kind in kinds})
        if len(places) < 2:
            continue
        even = len(places) == len(group)
        for rank, (one, _) in enumerate(group):
            for at, place in enumerate(places):
                result[one.place, place] = ("same" if at == rank else "other") + (
                    "" if even else "?"
                )
    return result
