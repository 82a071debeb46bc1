"""Read a request for one tool: the values that each input may take, with their features. Pure.

`core/arguments/filler.py` chooses among them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from pulsus.core.arguments.candidates.bound_sides import suits_side
from pulsus.core.arguments.candidates.candidate import Candidate
from pulsus.core.arguments.candidates.excluded_values import without_excluded
from pulsus.core.arguments.candidates.find_candidates import find_candidates
from pulsus.core.arguments.features.pair_features import null_features, pair_features
from pulsus.core.arguments.inputs import Fillable, Input
from pulsus.core.arguments.request_words import RequestWords
from pulsus.core.arguments.spans.find_spans import find_spans
from pulsus.core.arguments.spans.span import RequestSpans
from pulsus.core.text.exclusions import Exclusion, find_exclusions
from pulsus.fast_dataclass import dataclass

_ORDERED_KINDS = {
    "number": ("number", "counted", "assign", "money"),
    "string": ("name", "region", "quoted", "path", "file", "host", "date"),
}
"""Kinds whose order in the request may be that of the inputs: "sides 3, 4 and 5"."""


@dataclass(frozen=True, slots=True)
class RequestReading:
    """For each input its values with features, and by its name the features of no value."""

    options: list[tuple[Input, list[tuple[Candidate, dict[str, float]]]]]
    null: Mapping[str, dict[str, float]]
    words: RequestWords
    found: RequestSpans


def read_request(request: str, tool: Fillable, now: datetime | None = None) -> RequestReading:
    """Return what each input of `tool` may take from `request`."""
    found = find_spans(request, now)
    words = RequestWords(found, tool)
    exclusions = find_exclusions(request)
    wanted = [(one, list(_values_of(one, found, exclusions))) for one in tool.inputs]
    rivals = Counter(start for _, values in wanted for start in {c.start for c in values})
    orders = _orders(wanted)
    options = []
    null = {}
    for one, values in wanted:
        same = Counter(candidate.kind for candidate in values)
        pairs = []
        for candidate in values:
            features = pair_features(one, candidate, words, rivals, same[candidate.kind])
            if order := orders.get((one.place, candidate.start)):
                features[f"order={order}"] = 1.0
                features[f"order={order}|{candidate.kind}"] = 1.0
            pairs.append((candidate, features))
        options.append((one, pairs))
        null[one.name] = null_features(one, words, len(values))
    return RequestReading(options, null, words, found)


def _values_of(
    one: Input, found: RequestSpans, exclusions: Sequence[Exclusion]
) -> Iterator[Candidate]:
    """Yield the values that the input may take and that do not stand for their opposite."""
    for value in without_excluded(one, find_candidates(one, found), exclusions):
        if suits_side(one, value, found.request, exclusions):
            yield value


def _orders(wanted: Sequence[tuple[Input, list[Candidate]]]) -> dict[tuple[int, int], str]:
    """Compare the order of the inputs of a type with the order of the values that suit them.

    The key is an input's number and a place of at least two. The text is `same` or `other`, with a
    question mark if there are not as many inputs as places.
    """
    groups: dict[str, list[tuple[Input, list[Candidate]]]] = {"number": [], "string": []}
    for one, values in wanted:
        if one.type in ("integer", "number", "string") and not one.choices:
            groups["string" if one.type == "string" else "number"].append((one, values))
    return {key: order for name, group in groups.items() for key, order in _ranks(name, group)}


def _ranks(
    name: str, group: Sequence[tuple[Input, list[Candidate]]]
) -> Iterator[tuple[tuple[int, int], str]]:
    kinds = _ORDERED_KINDS[name]
    places = sorted({c.start for _, values in group for c in values if c.kind in kinds})
    if len(places) < 2:
        return
    doubt = "" if len(places) == len(group) else "?"
    for rank, (one, _) in enumerate(group):
        for at, place in enumerate(places):
            yield (one.place, place), ("same" if at == rank else "other") + doubt
