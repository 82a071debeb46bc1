"""Read the values of a request for the steps of a decision (ADR 36, ADR 38). Pure.

A secret of the request is never taken as a value here. The filler that scores the words is
`core/arguments/filler.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from pulsus.core.arguments.candidates.excluded_values import is_about_excluding
from pulsus.core.arguments.filler import FilledValue, Filling
from pulsus.core.arguments.referred_values import PLACES, propose_referred, says_place
from pulsus.core.arguments.rows.row_filler import RowRequest, fill_rows
from pulsus.core.arguments.step_filler import fill_steps
from pulsus.core.arguments.write_choices import propose_write_choices
from pulsus.core.contract import type_compatibility, type_hints
from pulsus.core.telemetry.redaction import redact, redact_value
from pulsus.core.text.exclusions import says_only_excluded
from pulsus.fast_dataclass import dataclass
from pulsus.routing.inputs.plan_steps import StepInputs

if TYPE_CHECKING:
    from pulsus.core.types import InputModelUse, JsonValue
    from pulsus.routing.inputs.ask_model_for_inputs import InputModel


@dataclass(frozen=True, slots=True)
class RequestValues:
    """The values of each step, in order, and the values in the request that nothing took.

    `same_as_default` are the values of each step that the request says, and that are the defaults.
    """

    values: tuple[tuple[FilledValue, ...], ...]
    unused: tuple[str, ...]
    same_as_default: tuple[tuple[FilledValue, ...], ...] = ()


NO_VALUES = RequestValues((), ())
"""The values of a request that is not read."""


def read_values(
    request: str, steps: Sequence[StepInputs], given: Collection[str], now: datetime
) -> RequestValues:
    """Return what the request says for each step. `given` names parameters that have a value.

    The inputs of a tool that works on rows are read first, by grammar. The fitted filler reads the
    rest of the words for all other inputs.
    """
    rows = [step.row_inputs for step in steps]
    closed = [step.fixed | _given_names(step, given) for step in steps]
    read = [
        fill_rows(RowRequest(request, step.clause, step.columns, step.about), own)
        for step, own in zip(steps, rows, strict=True)
    ]
    spoken = [value.text for own in read for value in own if value.state == "fill"]
    clauses = _with_leftovers(steps, read, [_without(step.clause, spoken) for step in steps])
    fillings = fill_steps(
        _without(request, spoken),
        [step.inputs for step in steps],
        clauses if all(step.clause for step in steps) else [],
        fixed=[
            names | own.names | _optional_names(step)
            for step, names, own in zip(steps, closed, rows, strict=True)
        ],
        now=now,
    )
    values = [
        [value for value in (*filling.values, *ready) if value.name not in names]
        for filling, ready, names in zip(fillings, read, closed, strict=True)
    ]
    heard: list[str] = []
    for place, step in enumerate(steps):
        if step.tool.kind == "write":
            # Words about an input that an option gives are understood too.
            choices = propose_write_choices(step.clause or request, step.inputs.inputs)
            heard += [value.text for value in choices]
            # A part that names its own place may write to what an earlier step reads.
            before = () if step.clause else values[:place]
            earlier = {value.text for own in before for value in own}
            values[place] = _as_proposals(values[place], step, request, closed[place], earlier)
            values[place] = _with_referred(place, steps, values, closed[place])
            values[place] = _without_excluded(values[place], step, request)
    fitting = [_fitting(step, own) for step, own in zip(steps, values, strict=True)]
    dropped = [
        v.text for own, kept in zip(values, fitting, strict=True) for v in own if v not in kept
    ]
    is_secret = _find_secrets(request)
    fitting = [
        [v for v in _without_named_secrets(own) if not is_secret(v.text, v.value)]
        for own in fitting
    ]
    unread = (*_unused(fillings, values, heard, single=len(steps) == 1), *dropped)
    unused = tuple(text for text in unread if not is_secret(text))
    # A value that is the default is understood, and changes nothing.
    new = tuple(
        tuple(one for one in own if not _is_default(step, one))
        for step, own in zip(steps, fitting, strict=True)
    )
    said = [
        [one for one in (*filling.same_as_default, *ready) if one.name not in names]
        for filling, ready, names in zip(fillings, read, closed, strict=True)
    ]
    same = tuple(
        tuple(one for one in _fitting(step, own) if _says_default(step, one))
        for step, own in zip(steps, said, strict=True)
    )
    return RequestValues(new, unused, same)


def improve_values(
    request: str,
    steps: Sequence[StepInputs],
    given: Collection[str],
    now: datetime,
    read: RequestValues,
    model: InputModel,
) -> tuple[RequestValues, InputModelUse | None]:
    """Return the values with those that `model` confirms, and how it was asked.

    It is asked about one tool that reads: not about a plan, and not about a tool that writes.
    """
    if len(steps) != 1 or steps[0].tool.kind == "write":
        return read, None
    (step,) = steps
    filling, use = model.improve(
        request,
        (step.tool.id, step.tool.summary),
        step.inputs,
        Filling(read.values[0], read.unused),
        given=step.fixed | _given_names(step, given),
        now=now,
    )
    is_secret = _find_secrets(request)
    safe = [v for v in filling.values if not is_secret(v.text, v.value)]
    fitting = _without_excluded(_fitting(step, safe), step, request)
    dropped = [value.text for value in safe if value not in fitting]
    unused = tuple(text for text in (*filling.unused, *dropped) if not is_secret(text))
    return RequestValues((tuple(fitting),), unused, read.same_as_default), use


def _find_secrets(request: str) -> Callable[..., bool]:
    """Return a test of words and values: True if they hold what is a secret in the request.

    A secret is neither used nor proposed, and nothing names it: logs and plans would keep it.
    """
    shown = redact(request)

    def is_secret(*found: JsonValue) -> bool:
        texts = (one for one in found if isinstance(one, str))
        return any(text in request and text not in shown for text in texts)

    return is_secret if shown != request else lambda *_: False


def _without_named_secrets(values: Sequence[FilledValue]) -> list[FilledValue]:
    """Return the values without those that another one calls a secret, as `key: password` does."""
    row = {one.name: one.value for one in values}
    shown = redact_value(dict(row))
    return [one for one in values if isinstance(shown, dict) and shown[one.name] == one.value]


def _without(text: str, spoken: Sequence[str]) -> str:
    """Return the text with a comma in place of each of the words that were read already."""
    for words in sorted(spoken, key=len, reverse=True):
        whole = rf"(?<![\w/.-]){re.escape(words)}(?![\w/-]|\.\w)"
        text = re.sub(whole, ",".ljust(len(words)), text, count=1) if words else text
    return text


def _with_leftovers(
    steps: Sequence[StepInputs], read: Sequence[Sequence[FilledValue]], clauses: Sequence[str]
) -> list[str]:
    """Return the parts, that of a tool with the words that a condition on its rows leaves over.

    In "images | larger than 1 GB via podman" the engine belongs to the tool that lists images.
    """
    found = list(clauses)
    for place, (step, own) in enumerate(zip(steps[1:], read[1:], strict=True), start=1):
        before = steps[place - 1]
        whole = {value.name for value in own if value.state == "fill"} >= step.row_inputs.names
        if own and whole and not before.columns and step.tool.kind == "read" and step.row_inputs.op:
            found[place - 1] = f"{found[place - 1]}, {clauses[place]}"
    return found


def _optional_names(step: StepInputs) -> frozenset[str]:
    """Return the optional inputs of a row tool whose part of the request is not known.

    A number of the request is then more likely a limit of the tool that gives the rows.
    """
    unknown = bool(step.columns) and not step.clause
    return frozenset(a.name for a in step.tool.args if unknown and not a.required)


def _given_names(step: StepInputs, given: Collection[str]) -> frozenset[str]:
    return frozenset(a.name for a in step.tool.args if step.names.get(a.name, a.name) in given)


def _fitting(step: StepInputs, values: Sequence[FilledValue]) -> list[FilledValue]:
    """Return the values that their inputs take by their type hints, each input once."""
    hints = {arg.name: type_hints.parse_hint(arg.type_hint) for arg in step.tool.args}
    found: dict[str, FilledValue] = {}
    for value in values:
        if type_compatibility.accepts(hints[value.name], value.value):
            found.setdefault(value.name, value)
    return list(found.values())


def _is_default(step: StepInputs, value: FilledValue) -> bool:
    default = next(one.default for one in step.inputs.inputs if one.name == value.name)
    return default == value.value and type(default) is type(value.value)


def _says_default(step: StepInputs, value: FilledValue) -> bool:
    """Return True for a sure value that is the default. Yes or no follows from too many words."""
    sure = value.state == "fill" and not isinstance(value.value, bool)
    return sure and _is_default(step, value)


def _as_proposals(
    values: Sequence[FilledValue],
    step: StepInputs,
    request: str,
    closed: Collection[str],
    earlier: Collection[str],
) -> list[FilledValue]:
    """Return the values as proposals: what a tool changes is never taken from words alone.

    What an earlier step reads is no place to write to.
    """
    inputs = [one for one in step.inputs.inputs if one.name not in closed]
    read = list(propose_write_choices(step.clause or request, inputs, earlier))
    taken = {*earlier, *(value.text for value in read)}
    named = {value.name for value in read}
    own = [v for v in values if v.name not in named and v.text not in taken]
    return [replace(value, state="propose", unclear=False) for value in (*own, *read)]


def _without_excluded(
    values: Sequence[FilledValue], step: StepInputs, request: str
) -> list[FilledValue]:
    """Return the values without those that the request excludes, also of a model.

    True and False are read from a negation, and an input may be about excluding.
    """
    inputs = {one.name: one for one in step.inputs.inputs}
    return [
        value
        for value in values
        if isinstance(value.value, bool)
        or (value.name in inputs and is_about_excluding(inputs[value.name]))
        or not says_only_excluded(request, value.text)
    ]


def _with_referred(
    place: int,
    steps: Sequence[StepInputs],
    values: Sequence[Sequence[FilledValue]],
    closed: Collection[str],
) -> list[FilledValue]:
    """Return the values of a step with those that "it" or "that file" in its part points to.

    A path from another part of the request is no value of a part that points to one.
    """
    step, own = steps[place], list(values[place])
    if not step.clause:
        return own
    inputs = {one.name: one for one in step.inputs.inputs}
    if says_place(step.clause):
        own = [v for v in own if inputs[v.name].role not in PLACES or v.text in step.clause]
    taken = {value.name for value in own} | set(closed)
    known = [
        [(one, v) for v in found for one in before.inputs.inputs if one.name == v.name]
        for before, found in zip(steps[:place], values[:place], strict=True)
    ]
    open_inputs = [one for name, one in inputs.items() if name not in taken]
    return [*own, *propose_referred(step.clause, open_inputs, known)]


def _unused(
    fillings: Sequence[Filling],
    values: Sequence[Sequence[FilledValue]],
    heard: Sequence[str],
    *,
    single: bool,
) -> tuple[str, ...]:
    """Return the values that no step took: each clause names those of its own part."""
    own = () if single else (value.text for step in values for value in step)
    used = [*heard, *own]
    named = dict.fromkeys(text for filling in fillings for text in filling.unused)
    return tuple(text for text in named if not any(_has_words(words, text) for words in used))


def _has_words(words: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(text)}(?!\w)", words) is not None


def by_parameter(
    steps: Sequence[StepInputs], values: Sequence[Sequence[FilledValue]]
) -> Mapping[str, FilledValue]:
    """Return the values by parameter of the plan; the first step that has one decides."""
    found: dict[str, FilledValue] = {}
    for step, own in zip(steps, values, strict=True):
        for value in own:
            name = step.names.get(value.name)
            if name:
                found.setdefault(name, replace(value, name=name))
    return found
