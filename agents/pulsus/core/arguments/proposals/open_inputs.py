"""Decide which inputs of a tool a model is worth asking about, after the words were read. Pure.

A model takes seconds. So it is asked only if the words leave something open that they may hold: a
required input without a value, a value that is not sure, a value that no input took, or an input
that the request names. An input that no word of the request could fill is no reason to ask. The
most inputs and values of one question are limited here. The setting `model.inputs` switches such
questions off (`routing/inputs/route_inputs.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from pulsus.core.arguments.argument_model import ArgumentModel, shipped_model
from pulsus.core.arguments.assignment import (
    ScoredValue,
    best_assignment,
    with_second_choices,
)
from pulsus.core.arguments.candidates.candidate import Candidate
from pulsus.core.arguments.candidates.fill_limits import PROPOSE
from pulsus.core.arguments.features.confidence_features import confidence_features
from pulsus.core.arguments.features.request_reading import RequestReading, read_request
from pulsus.core.arguments.filler import Filling, score_options
from pulsus.core.arguments.inputs import Fillable, Input
from pulsus.fast_dataclass import dataclass

MOST_INPUTS: Final = 12
MOST_VALUES: Final = 6
"""A longer question would take too long to answer."""
_VALUES_OF_INPUT = 4

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class OpenValue:
    """Words of the request that no input has taken, and what they mean for each open input.

    `readings` gives the value by the name of the input.
    """

    text: str
    readings: Mapping[str, Candidate]


@dataclass(frozen=True, slots=True)
class OpenInputs:
    """The inputs to ask a model about, and the values of the request that may be theirs.

    `request` is the text that was read, without secrets. `options`, `picks` and `tried` are what
    the weights think of each input of `inputs`, in the same order: `tried` has a second choice for
    inputs to which the best assignment, `picks`, gives no value. `known` names the inputs that have
    a value, with its words. `taken` are the places of these words.
    """

    request: str
    inputs: Sequence[Input]
    options: Sequence[Sequence[ScoredValue]]
    picks: Sequence[int]
    tried: Sequence[int]
    known: Sequence[tuple[str, str]]
    taken: Sequence[Place]
    asked: Sequence[Input]
    values: Sequence[OpenValue]

    def place(self, name: str) -> int:
        """Return the number of the input with this name."""
        return next(n for n, one in enumerate(self.inputs) if one.name == name)

    def free_candidates(self, number: int) -> list[Candidate]:
        """Return the values that an input may still take, the likeliest first."""
        ranked = sorted(self.options[number], key=lambda option: -option[0])
        return [c for _, c in ranked if c is not None and is_free(c, self.taken)]

    def pick(self, number: int) -> Candidate | None:
        """Return the value that the weights give to an input, sure or not."""
        return self.options[number][self.picks[number]][1]

    def choice(self, number: int) -> Candidate | None:
        """Return the value that the words were tried with for an input, also a second choice."""
        return self.options[number][self.tried[number]][1]


def find_open_inputs(
    request: str,
    tool: Fillable,
    filling: Filling,
    *,
    now: datetime | None = None,
    given: Collection[str] = (),
    weights: ArgumentModel | None = None,
) -> OpenInputs | None:
    """Return what to ask a model about, or None if asking is not worth its time.

    `filling` is what the words gave. `given`, `now` and `weights` are those of that call of `fill`.
    """
    weights = weights or shipped_model()
    inputs = tuple(one for one in tool.inputs if one.name not in given)
    reading = read_request(request, Fillable(inputs, tool.own), now)
    options = score_options(reading, weights)
    if not options:
        return None
    picks = best_assignment(options)
    tried = with_second_choices(options, picks)
    numbers = confidence_features(options, picks, tried, reading)
    p = [weights.probability(features) if features else 0.0 for features in numbers]
    chosen = [option[n][1] for option, n in zip(options, tried, strict=True)]
    text = reading.found.request
    settled = _settled(inputs, chosen, p, filling, text)
    found = OpenInputs(
        text,
        inputs,
        options,
        picks,
        tried,
        known=[(name, words) for name, (words, _) in settled.items()],
        taken=[place for _, places in settled.values() for place in places],
        asked=(),
        values=(),
    )
    asked = _worth_asking(found, filling, reading)
    values = _open_values(found, asked, filling)
    return replace(found, asked=asked, values=values) if values else None


def is_free(candidate: Candidate, taken: Sequence[Place]) -> bool:
    """Return True if no word of the candidate is in a taken place."""
    return not any(a < s.end and s.start < b for s in candidate.spans for a, b in taken)


def _settled(
    inputs: Sequence[Input],
    chosen: Sequence[Candidate | None],
    p: Sequence[float],
    filling: Filling,
    request: str,
) -> dict[str, tuple[str, Sequence[Place]]]:
    """Return the inputs that are decided, with the words of their values and the words' places.

    These are filled, or understood as the input's default. A filled value need not be one of the
    weights: the words of a row tool are read by grammar.
    """
    filled = {value.name: value for value in filling.filled}
    settled: dict[str, tuple[str, Sequence[Place]]] = {}
    for one, candidate, sure in zip(inputs, chosen, p, strict=True):
        value = filled.get(one.name)
        is_default = candidate and candidate.value == one.default and sure >= PROPOSE
        if candidate and (is_default or (value and value.value == candidate.value)):
            words = request[candidate.start : candidate.end]
            settled[one.name] = (words, [(s.start, s.end) for s in candidate.spans])
        elif value:
            start = request.find(value.text)
            places = [(start, start + len(value.text))] if start >= 0 else []
            settled[one.name] = (value.text, places)
    return settled


def _worth_asking(
    found: OpenInputs, filling: Filling, reading: RequestReading
) -> tuple[Input, ...]:
    """Return the inputs to ask about, in the tool's order; none if nothing is amiss.

    Required inputs that no word could fill are among them: a model that cannot name them gives
    their values to other inputs.
    """
    known = {name for name, _ in found.known}
    proposed = {value.name for value in filling.values if value.state == "propose"}
    wanted: list[Input] = []
    amiss = False
    for n, one in enumerate(found.inputs):
        if one.name in known or not one.fillable:
            continue
        free = [found.request[c.start : c.end] for c in found.free_candidates(n)]
        if free:
            named = not (one.words & reading.words.present) <= reading.words.own
            unused = any(text in words for words in free for text in filling.unused)
            amiss = amiss or one.required or one.name in proposed or named or unused
        if free or one.required:
            wanted.append(one)
    return tuple(wanted[:MOST_INPUTS]) if amiss else ()


def _open_values(
    found: OpenInputs, asked: Sequence[Input], filling: Filling
) -> tuple[OpenValue, ...]:
    """Return the likeliest values of each input; values that no input took come first."""
    readings: dict[str, dict[str, Candidate]] = {}
    for one in asked:
        for candidate in found.free_candidates(found.place(one.name))[:_VALUES_OF_INPUT]:
            text = found.request[candidate.start : candidate.end]
            readings.setdefault(text, {}).setdefault(one.name, candidate)
    ranked = sorted(readings, key=lambda text: text not in filling.unused)
    return tuple(OpenValue(text, readings[text]) for text in ranked[:MOST_VALUES])
