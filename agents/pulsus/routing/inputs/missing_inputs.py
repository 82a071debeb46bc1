"""Ask a person for required inputs without a value, once each, or say which are missing."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pulsus.approvals.approver_protocol import Approver
from pulsus.core.types import ArgSpec, InputValue, JsonValue, RouteOutcome
from pulsus.errors import InputMissing
from pulsus.execution.inputs import parse_inputs


def collect_inputs(outcome: RouteOutcome, person: Approver | None) -> RouteOutcome:
    """Return the outcome with an answer for every missing input; a proposal is the default.

    Raises InputMissing, which offers what the request proposes, if no person can be asked or one
    gives no value, and UsageError for an answer that does not fit.
    """
    if not outcome.missing:
        return outcome
    proposed = {name: value.value for name, value in outcome.proposed.items()}
    answers = ask_for_inputs(outcome.missing, proposed, person)
    given = {name: InputValue(value, "answer") for name, value in answers.items()}
    left = {name: value for name, value in outcome.proposed.items() if name not in given}
    return replace(outcome, inputs={**given, **outcome.inputs}, missing=(), proposed=left)


def ask_for_inputs(
    missing: Sequence[ArgSpec], proposed: Mapping[str, JsonValue], person: Approver | None
) -> dict[str, JsonValue]:
    """Return a value for each argument, as the person typed it. Raises InputMissing, UsageError."""
    if person is None:
        raise input_missing(missing, proposed)
    pairs = []
    for place, arg in enumerate(missing):
        text = person.value(arg, input_text(proposed[arg.name]) if arg.name in proposed else "")
        if not text:
            raise input_missing(missing[place:], proposed)
        pairs.append(f"{arg.name}={text}")
    return parse_inputs(pairs, missing)


def is_required(arg: ArgSpec) -> bool:
    """Return True for an argument that a call has to give."""
    return arg.required and not arg.kind.startswith("var_")


def input_missing(missing: Sequence[ArgSpec], proposed: Mapping[str, JsonValue]) -> InputMissing:
    """Return the error that names each missing input, its type, its meaning and the fix."""
    named = "; ".join(
        f"{arg.name} ({arg.type_hint or 'any'}){f': {said}' if (said := _first_line(arg)) else ''}"
        for arg in missing
    )
    options = " ".join(
        f"--input {shlex.quote(f'{arg.name}={input_text(proposed[arg.name])}')}"
        if arg.name in proposed
        else f"--input {arg.name}=…"
        for arg in missing
    )
    return InputMissing(
        f"{'an input has' if len(missing) == 1 else 'inputs have'} no value: {named}",
        hint=f"add {options}",
        missing=[
            {"name": arg.name, "type": arg.type_hint, "description": arg.description}
            for arg in missing
        ],
    )


def input_text(value: JsonValue) -> str:
    """Return a value as `--input` takes it behind `NAME=`."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _first_line(arg: ArgSpec) -> str:
    return " ".join(arg.description.split())[:100]
