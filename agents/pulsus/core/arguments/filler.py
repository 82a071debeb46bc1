"""Argument filling: values of a request for the inputs of a tool, with their p. Pure.

One assignment serves all inputs, and "none" is a choice of each. A value is filled if its
probability p reaches the limit of its kind. From PROPOSE on it is proposed, and below it is left.
The limits (thresholds) are in `core/arguments/candidates/fill_limits.py`, the search for values in
`core/arguments/candidates/find_candidates.py`. Defaults, `--input` and the order of all sources are
in `routing/inputs/route_inputs.py`; missing inputs are asked for in
`routing/inputs/missing_inputs.py`; secrets in a request are left out in
`routing/inputs/request_values.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Literal

from pulsus.core.arguments.argument_model import ArgumentModel, shipped_model
from pulsus.core.arguments.assignment import (
    ScoredValue,
    best_assignment,
    log_softmax,
    with_second_choices,
)
from pulsus.core.arguments.candidates.alternative_inputs import find_needed_value
from pulsus.core.arguments.candidates.bound_sides import is_bound_for_exact
from pulsus.core.arguments.candidates.candidate import Candidate
from pulsus.core.arguments.candidates.fill_limits import (
    CHOICES,
    FIRM,
    FIRM_LIMIT,
    PROPOSE,
    TEXT_LIMIT,
    is_out_of_place,
    is_unlikely_copy,
    limit_of,
    raise_sure,
)
from pulsus.core.arguments.candidates.unclear_value import is_unclear
from pulsus.core.arguments.features.confidence_features import confidence_features
from pulsus.core.arguments.features.request_reading import RequestReading, read_request
from pulsus.core.arguments.inputs import Fillable, Input
from pulsus.core.arguments.subject_names import SubjectName, find_subject_name
from pulsus.core.arguments.word_values import WORD_P, find_word_values
from pulsus.core.arguments.words.abbreviations import stem_in_full
from pulsus.core.arguments.words.word_set import word_set
from pulsus.core.text.exclusions import find_exclusions, is_excluded
from pulsus.core.types import JsonValue, Proponent
from pulsus.fast_dataclass import dataclass

_NAMED_IF_UNUSED = FIRM | word_set(
    "number counted money numeral assign quoted email date identifier version"
)
_LIMITING = frozenset(
    map(stem_in_full, ["only", "just", "no", "not", "without", "except", "skip", "leave", "ignore"])
)
"""Words that say that a choice is meant to leave the others out."""

State = Literal["fill", "propose"]


@dataclass(frozen=True, slots=True)
class FilledValue:
    """A value for the input `name`, from the words `text` of the request; `p` in [0, 1].

    `by` says who gave these words to the input: the weights, a language model, or both. A proposal
    that is `unclear` may not be left out of a run without asking.
    """

    name: str
    value: JsonValue
    text: str
    p: float
    state: State
    by: tuple[Proponent, ...] = ("words",)
    unclear: bool = False


@dataclass(frozen=True, slots=True)
class Filling:
    """Values by input, in the tool's order, and the values in the request that nothing took.

    `same_as_default` are sure values that change nothing, because they are the defaults.
    """

    values: tuple[FilledValue, ...]
    unused: tuple[str, ...]
    same_as_default: tuple[FilledValue, ...] = ()

    @property
    def filled(self) -> tuple[FilledValue, ...]:
        """Return the values that are sure enough to be used."""
        return tuple(one for one in self.values if one.state == "fill")


def fill(
    request: str,
    tool: Fillable,
    *,
    now: datetime | None = None,
    given: Collection[str] = (),
    only_propose: bool = False,
    model: ArgumentModel | None = None,
) -> Filling:
    """Return the values of `request` for the inputs of `tool`.

    `given` names inputs that have a value already. With `only_propose` nothing is filled: for tools
    that change something. `now` is the moment of the request, for times of day.
    """
    used = model or shipped_model()
    open_inputs = tuple(one for one in tool.inputs if one.name not in given)
    reading = read_request(request, Fillable(open_inputs, tool.own), now)
    options = score_options(reading, used)
    picks = best_assignment(options) if options else []
    tried = with_second_choices(options, picks)
    numbers = confidence_features(options, picks, tried, reading)
    values: list[FilledValue] = []
    same: list[FilledValue] = []
    places: list[tuple[int, int]] = []
    for (one, _), option, pick, features in zip(
        reading.options, options, tried, numbers, strict=True
    ):
        candidate = option[pick][1]
        if candidate is None:
            continue
        p = raise_sure(used.probability(features), features, one, candidate, request)
        unclear = not only_propose and is_unclear(one, candidate, p)
        if p < PROPOSE and not unclear:
            continue
        if is_out_of_place(one, candidate) or is_unlikely_copy(one, candidate, p):
            continue
        if is_bound_for_exact(one, candidate, request):
            continue
        places.extend((s.start, s.end) for s in candidate.spans)
        sure = p >= limit_of(one, candidate) and not only_propose
        sure = sure and not _names_the_tool(one, candidate, reading)
        text = request[candidate.start : candidate.end]
        if candidate.value == one.default:  # the words are understood, and nothing changes
            if sure:
                same.append(FilledValue(one.name, candidate.value, text, p, "fill"))
            continue
        state: State = "fill" if sure else "propose"
        values.append(
            FilledValue(one.name, candidate.value, text, p, state, unclear=unclear and not sure)
        )
    _add_subject_name(values, places, request, Fillable(open_inputs, tool.own), only_propose)
    if not only_propose:
        _add_word_values(values, places, request, open_inputs, now)
    _add_needed_value(values, places, reading, only_propose)
    return Filling(tuple(values), _unused(reading, places, values), tuple(same))


def _add_subject_name(
    values: list[FilledValue],
    places: list[tuple[int, int]],
    request: str,
    tool: Fillable,
    only_propose: bool,
) -> None:
    """Add a bare name such as that of `is nginx up`, which the weights know nothing of."""
    found = find_subject_name(request, tool)
    if found is None or is_excluded(find_exclusions(request), found.start, found.end):
        return
    weaker = [v for v in values if v.p < found.p and _is_replaced_by(v, found)]
    if weaker and found.p >= TEXT_LIMIT and not only_propose:
        values[:] = [v for v in values if v not in weaker]
        places[:] = [(a, b) for a, b in places if a < found.start or found.end < b]
    if any(a < found.end and found.start < b for a, b in places):
        return
    if any(value.name == found.name for value in values):
        return
    places.append((found.start, found.end))
    values.append(_subject_value(found, only_propose))


def _is_replaced_by(value: FilledValue, found: SubjectName) -> bool:
    """Return True for the same words, or other words that were only proposed for the same input."""
    return value.text == found.text or (value.name == found.name and value.state == "propose")


def _add_word_values(
    values: list[FilledValue],
    places: list[tuple[int, int]],
    request: str,
    inputs: Sequence[Input],
    now: datetime | None,
) -> None:
    """Add what "today" and "the last line" say, for inputs that have no value yet."""
    taken = {value.name for value in values}
    for found in find_word_values(request, inputs, now):
        if found.name in taken:
            continue
        places.append((found.start, found.end))
        text = request[found.start : found.end]
        # "twice" in these words is no number of rows.
        values[:] = [v for v in values if v.state != "propose" or v.text not in text.split()]
        values.append(FilledValue(found.name, found.value, text, WORD_P, "fill"))


def _add_needed_value(
    values: list[FilledValue],
    places: list[tuple[int, int]],
    reading: RequestReading,
    only_propose: bool,
) -> None:
    """Add the only path or host of a request for inputs of which a call needs one.

    It replaces the same text of an optional input, and is then only proposed. So is a name that may
    be anything, such as `web01`. A run without it fails, and then it is offered.
    """
    group = {one.name for one, _ in reading.options if one.alternatives}
    used = {value.text for value in values if value.name not in group}
    given = {value.name for value in values if value.state == "fill"}
    found = find_needed_value(reading.options, given, used)
    if found is None:
        return
    one, candidate = found
    text = candidate.spans[0].text
    before = next((v for v in values if v.name == one.name and v.text == text), None)
    p = max(before.p if before else 0.0, FIRM_LIMIT)
    doubtful = text in used or candidate.kind not in FIRM
    state: State = "propose" if only_propose or doubtful else "fill"
    values[:] = [value for value in values if value.name != one.name and value.text != text]
    places.append((candidate.start, candidate.end))
    values.append(FilledValue(one.name, candidate.value, text, p, state))


def _subject_value(found: SubjectName, only_propose: bool) -> FilledValue:
    sure = found.p >= TEXT_LIMIT and not only_propose
    return FilledValue(
        found.name,
        found.text,
        found.text,
        found.p,
        "fill" if sure else "propose",
        unclear=not sure and not only_propose,
    )


def _names_the_tool(one: Input, candidate: Candidate, reading: RequestReading) -> bool:
    """Return True if the words of a list say which tool is meant, and nothing limits it to them.

    "the errors in app.log" asks for a tool that counts errors, not for its level `error` alone.
    """
    if one.type != "array" or not CHOICES.search(candidate.kind):
        return False
    words = reading.words
    said = {
        words.stems[place]
        for span in candidate.spans
        for place in words.after(span.start, 1)
        if words.starts[place] < span.end
    }
    return said <= words.own and words.present.isdisjoint(_LIMITING)


def score_options(reading: RequestReading, model: ArgumentModel) -> list[list[ScoredValue]]:
    """Return for each input the log probabilities of "none" and of each of its values."""
    result: list[list[ScoredValue]] = []
    for one, pairs in reading.options:
        scores = [model.score(reading.null[one.name]), *(model.score(f) for _, f in pairs)]
        logs = log_softmax(scores)
        result.append(
            [(logs[0], None), *((s, c) for s, (c, _) in zip(logs[1:], pairs, strict=True))]
        )
    return result


def _unused(
    reading: RequestReading, places: Sequence[tuple[int, int]], values: Sequence[FilledValue]
) -> tuple[str, ...]:
    """Return the words of every value that no input took, each once."""
    left: dict[tuple[int, int], str] = {}
    for span in reading.found.values:
        if span.kind not in _NAMED_IF_UNUSED:
            continue
        if any(a < span.end and span.start < b for a, b in (*places, *left)):
            continue
        left[span.start, span.end] = span.text
    return tuple(dict.fromkeys(left.values()))
