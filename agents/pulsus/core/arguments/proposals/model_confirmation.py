"""Confirm values by a model: both its answers must agree. A value is then filled or proposed. Pure.

Only a value that both answers of the model name counts (model_questions.py). If the weights chose
the same value, it is filled. If only the model names it, it is filled if its kind is plain, the
weights do not speak against it, and no required input is open that it may belong to.
`routing/inputs/ask_model_for_inputs.py` asks the model, with the timeout `model.input_seconds`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from pulsus.core.arguments.candidates.candidate import Candidate
from pulsus.core.arguments.candidates.fill_limits import limit_of
from pulsus.core.arguments.filler import FilledValue, Filling
from pulsus.core.arguments.inputs import Input
from pulsus.core.arguments.proposals.open_inputs import OpenInputs, is_free
from pulsus.core.arguments.proposals.proposal_grounding import means
from pulsus.core.arguments.words.word_set import word_set
from pulsus.core.types import JsonValue, Proponent

AGREED_P: Final = 0.93
MODEL_P: Final = 0.91
PROPOSED_P: Final = 0.75
"""The share of right values on development rows, out of fold (docs/benchmarks.md)."""

LEAST_ODDS: Final = -2.0
"""The log odds of the weights, value against no value, from which a model's value is filled."""

_PLAIN_KINDS = word_set("""
    path file host address network port url cron glob prefix sysctl size duration percent clock
    datetime date number counted numeral assign identifier email version named
    """)
"""Kinds whose value has one form. A name or a phrase may have to be written in another one."""


def confirm(
    given_to: Mapping[str, str], words: Mapping[str, JsonValue], found: OpenInputs
) -> dict[str, Candidate]:
    """Return the values that both answers of a model name, by input.

    `given_to` is the input for each value's words, `words` the words for each input. No two
    values share words; the one that the weights prefer stays.
    """
    agreed: list[tuple[float, str, Candidate]] = []
    for value in found.values:
        name = given_to.get(value.text, "")
        candidate = value.readings.get(name)
        answer = words.get(name)
        if candidate is None or answer is None:
            continue
        number = found.place(name)
        if means(answer, candidate, number, found):
            agreed.append((_odds(candidate, number, found), name, candidate))
    confirmed: dict[str, Candidate] = {}
    taken: list[tuple[int, int]] = []
    for _, name, candidate in sorted(agreed, key=lambda one: -one[0]):
        if name not in confirmed and is_free(candidate, taken):
            confirmed[name] = candidate
            taken.extend((s.start, s.end) for s in candidate.spans)
    return confirmed


def with_agreed_values(
    filling: Filling, found: OpenInputs, confirmed: Mapping[str, Candidate]
) -> Filling:
    """Return the filling with the values that the model confirmed; its filled values stay."""
    if not confirmed:
        return filling
    taken = [(s.start, s.end) for c in confirmed.values() for s in c.spans]
    values = {
        value.name: value
        for value in filling.values
        if value.state == "fill" or not _shares_words(value, taken, found)
    }
    open_names = {one.name for one in found.asked if one.required} - set(confirmed)
    for name, candidate in confirmed.items():
        number = found.place(name)
        one = found.inputs[number]
        if candidate.value == one.default:  # the words are understood, and nothing changes
            values.pop(name, None)
            continue
        proposed = any(v.name == name and v.value == candidate.value for v in filling.values)
        own = found.pick(number)
        chosen = proposed or (own is not None and own.value == candidate.value)
        sure = _is_sure(one, candidate, number, found) and not open_names
        values[name] = _value(one, candidate, found, chosen=chosen, sure=sure)
    order = [one.name for one in found.inputs]
    ranked = sorted(values.values(), key=lambda value: order.index(value.name))
    texts = [found.request[c.start : c.end] for c in confirmed.values()]
    unused = tuple(text for text in filling.unused if not any(text in one for one in texts))
    return replace(filling, values=tuple(ranked), unused=unused)


def _value(
    one: Input, candidate: Candidate, found: OpenInputs, *, chosen: bool, sure: bool
) -> FilledValue:
    """Return the value: `chosen` by the weights too, or only by the model and `sure` or not."""
    text = found.request[candidate.start : candidate.end]
    allowed = limit_of(one, candidate) <= 1.0
    by: tuple[Proponent, ...] = ("words", "model") if chosen else ("model",)
    if allowed and (chosen or sure):
        p = AGREED_P if chosen else MODEL_P
        return FilledValue(one.name, candidate.value, text, p, "fill", by)
    return FilledValue(one.name, candidate.value, text, PROPOSED_P, "propose", by)


def _is_sure(one: Input, candidate: Candidate, number: int, found: OpenInputs) -> bool:
    """Return True for a value of one form that the weights do not speak against."""
    names_path = isinstance(one.default, str) and one.default.startswith("/")
    plain = candidate.kind in _PLAIN_KINDS and not names_path
    return plain and _odds(candidate, number, found) >= LEAST_ODDS


def _odds(candidate: Candidate, number: int, found: OpenInputs) -> float:
    """Return the log probability of the value over that of no value."""
    scores = {id(c): score for score, c in found.options[number]}
    return scores[id(candidate)] - scores[id(None)]


def _shares_words(value: FilledValue, taken: Sequence[tuple[int, int]], found: OpenInputs) -> bool:
    own = found.choice(found.place(value.name))
    return own is not None and not is_free(own, taken)
