"""The values that `pulsus apply` gets beside those of its plan, and those it needs. Pure.

The values are checked in `routing/plans/apply_plan.py`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pulsus.approvals.run_consent import input_options
from pulsus.cli.console import in_given_places
from pulsus.core.compose.saved_plans.saved_plan import SavedPlan
from pulsus.core.types import ParamRef
from pulsus.errors import InputMissing, PlanMoved
from pulsus.routing.inputs.missing_words import other_notes, proposed_option, read_proposals
from pulsus.routing.inputs.rejected_inputs import (
    alternatives_after_rejection,
    alternatives_missing,
    is_rejection,
)

if TYPE_CHECKING:
    from pulsus.core.types import Catalogue
    from pulsus.routing.plans.apply_plan import AppliedRun

_NAMED_INPUT = re.compile(r"(?:\bset |--input )(\w+)")
"""Finds an input that the message or the hint of a tool says to give."""


def other_value_hint(plan: Path, inputs: Sequence[str]) -> str:
    """Return how to run the plan with another value: of `inputs`, or else of the plan itself."""
    file = shlex.quote(str(plan))
    again = "".join(f" --input {name}=…" for name in _names(inputs))
    if again:
        return f"give another value: {in_given_places(f'pulsus apply {file}{again}')}"
    command = f"pulsus plan --file {file} -o NEW_FILE --input NAME=VALUE"
    return f"for another value make a new plan: {in_given_places(command)}"


def unplanned_input_hint(
    applied: AppliedRun, saved: SavedPlan, catalogue: Catalogue, inputs: Sequence[str]
) -> str | None:
    """Return how to give an input that the error of a step names and that the plan does not have.

    `pulsus plan --file` knows the inputs of the plan only, so the plan is made from its request
    again. None for a plan without one.
    """
    failed = {each.step: each.error for each in applied.record.steps if each.state == "failed"}
    step = next((each for each in saved.plan.steps if failed.get(each.id)), None)
    tool = catalogue.get(step.tool) if step else None
    if step is None or tool is None or not saved.request:
        return None
    error = failed[step.id] or {}
    named = _NAMED_INPUT.findall(f"{error.get('message')} {error.get('hint')}")
    new = next((a.name for a in tool.args if a.name in named and a.name not in step.inputs), None)
    if new is None:
        return None
    given = {name: each.value for name, each in saved.inputs.items() if each.source == "option"}
    options = (*(each for each in input_options(given)), *inputs)
    command = ["pulsus", "plan", saved.request, "-o", "NEW_FILE"]
    command += [word for each in options for word in ("--input", each)]
    whole = in_given_places(f"{shlex.join(command)} --input {new}:=…")
    return f"to give {new}, make the plan from its request: {whole}"


def missing_alternatives(
    applied: AppliedRun, saved: SavedPlan, catalogue: Catalogue, plan: Path
) -> InputMissing | None:
    """Return the error of a run whose tool needs one of several inputs that have their defaults.

    None if the run failed for another reason, or if the plan has no parameter for such an input.
    Each hint makes the plan again with one input, because a plan is applied only as reviewed.
    """
    rejection = applied.end.error
    # A run that waits or is done may have an error too, of a step that does not stop it.
    if applied.end.state != "failed" or not is_rejection(rejection):
        return None
    failed = {each.step for each in applied.record.steps if each.state == "failed"}
    of_tool = [s for s in saved.plan.steps if s.tool == rejection.details.get("tool")]
    step = next((each for each in of_tool if each.id in failed), None)
    tool = catalogue.get(step.tool) if step else None
    if step is None or tool is None:
        return None
    unset = {
        name: value.name
        for name, value in step.inputs.items()
        if isinstance(value, ParamRef)
        if value.name in saved.inputs and saved.inputs[value.name].source == "default"
    }
    named = alternatives_after_rejection(rejection, tool, set(step.inputs) - set(unset))
    params = [unset[arg.name] for arg in named if arg.name in unset]
    if not params:
        return None
    error = alternatives_missing(rejection, tool, named)
    proposed = read_proposals(saved.notes)
    again = f"pulsus plan --file {shlex.quote(str(plan))} -o NEW_FILE"
    error.offer(
        *(
            f"make a new plan with {name}: "
            + in_given_places(f"{again} {proposed_option(name, proposed)}")
            for name in params
        )
    )
    return error


def notes_to_show(saved: SavedPlan, inputs: Sequence[str]) -> list[str]:
    """Return the notes of the plan, without those on values that `inputs` give now.

    An input without a value is asked for, or named in an error, with what the request proposes.
    """
    return other_notes(saved.notes, [*_names(inputs), *saved.missing])


@contextmanager
def name_file_of_plan(plan: Path) -> Iterator[None]:
    """Name the file of the plan in the hint of PlanMoved, which does not know it."""
    file = in_given_places(shlex.quote(str(plan)))
    try:
        yield
    except PlanMoved as moved:
        if moved.new_plan_inputs is not None:
            moved.offer_new_plan(moved.new_plan_inputs, file)
        raise


def _names(inputs: Sequence[str]) -> list[str]:
    """Return the names in `--input` texts."""
    return [pair.partition("=")[0].rstrip(":") for pair in inputs]
