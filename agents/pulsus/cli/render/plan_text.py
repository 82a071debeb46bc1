"""The plan of a decision: as YAML to apply, or as steps with values to read (spec §6). Pure.

A saved plan is shown by `cli/render/plan_views/saved_plan_text.py`. The plan's YAML is written by
`core/compose/plans/dsl/plan_file.py`.
"""

from __future__ import annotations

from collections.abc import Iterator

from pulsus.cli.render.inputs_text import shown
from pulsus.cli.render.validation_text import printable
from pulsus.core.types import Constant, OutputRef, ParamRef, PlanValue, RouteOutcome
from pulsus.routing.inputs.missing_words import origin


@printable
def plan(outcome: RouteOutcome) -> Iterator[str]:
    """Yield the plan DSL and nothing else (spec §12 `--plan`)."""
    if outcome.decision.plan:
        from pulsus.core.compose.plans.dsl.plan_file import (
            render_yaml,  # reads YAML: slow to import
        )

        yield from render_yaml(outcome.decision.plan).rstrip("\n").split("\n")


@printable
def plan_steps(outcome: RouteOutcome) -> Iterator[str]:
    """Yield the steps of the plan with the values that their inputs get, for a person.

    `plan` gives the same as YAML, where an input is a reference and not its value.
    """
    steps = outcome.decision.plan.steps if outcome.decision.plan else ()
    if steps:
        yield "plan (in a pipe --plan prints it as YAML):"
    for step in steps:
        yield f"  {step.id}  {step.tool}"
        wide = max(map(len, step.inputs), default=0)
        for name, value in step.inputs.items():
            yield f"      {name:<{wide}}  {_step_value(outcome, value)}"


def _step_value(outcome: RouteOutcome, value: PlanValue) -> str:
    """Return what an input of a step gets: a value and its origin, or the output it takes."""
    match value:
        case Constant(constant):
            return shown(constant)
        case OutputRef(step, output):
            return f"{output} of {step}"
        case ParamRef(name) if name in outcome.inputs:
            return f"{shown(outcome.inputs[name].value)}{origin(outcome.inputs[name])}"
        case _:
            return "missing"
