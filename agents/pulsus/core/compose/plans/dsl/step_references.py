"""List the values of a step, what they refer to, and the steps that it waits for. Pure.

A reference to an undefined step or output is refused in `plan_checks.py`.
`execution/engine/schedule.py` decides when a step starts.
"""

from __future__ import annotations

from collections.abc import Iterator

from pulsus.core.compose.plans.dsl.plan_values import references
from pulsus.core.types import Constant, OutputRef, ParamRef, PlanStep, PlanValue


def list_step_values(step: PlanStep) -> Iterator[tuple[str, PlanValue]]:
    """Yield every value of the step with its place in it: inputs, `for_each` and `when`."""
    if step.for_each is not None:
        yield "for_each.items", step.for_each.items
    if step.when is not None:
        yield "when", step.when
    for name, value in step.inputs.items():
        yield f"inputs.{name}", value


def step_references(step: PlanStep) -> Iterator[ParamRef | OutputRef | str]:
    """Yield what the values of the step read: parameters, outputs, and the word `item`."""
    for place, value in list_step_values(step):
        yield from references(value, place)


def list_dependencies(step: PlanStep) -> tuple[str, ...]:
    """Return the ids of the steps that this step waits for: by reference, or in `needs`."""
    read = [ref.step for ref in step_references(step) if isinstance(ref, OutputRef)]
    return tuple(dict.fromkeys((*read, *step.needs)))


def uses_control(step: PlanStep) -> bool:
    """Return True if the step has a key that spec §6 does not have, or computes a value.

    Such a plan runs from its file, with `pulsus apply`. It cannot become a module.
    """
    plain = all(isinstance(v, OutputRef | ParamRef | Constant) for v in step.inputs.values())
    control = (step.needs, step.when, step.for_each, step.retry, step.timeout_s)
    return not plain or any(control) or step.on_failure != "stop"
