"""Refuse plans and inputs that hold secrets: plan files and the journal keep them. Pure.

A secret is recognised by `core/telemetry/redaction.py`. `routing/plans/save_plan.py` and
`routing/plans/apply_plan.py` call this check.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pulsus.core.compose.plans.dsl.plan_values import value_to_json
from pulsus.core.compose.plans.dsl.step_references import list_step_values
from pulsus.core.types import Constant, JsonValue, ParamRef, Plan, PlanStep
from pulsus.errors import UsageError
from pulsus.routing.delivery.project_protocol import Project


def refuse_secrets(project: Project, plan: Plan, inputs: Mapping[str, JsonValue]) -> None:
    """Raise UsageError for a value that looks like a secret: files and the journal keep it.

    The inputs of a step are looked at together: beside `key: password` its `value` is a secret.
    """
    for name, value in inputs.items():
        if project.redactor.redact_value({name: value}) != {name: value}:
            raise _secret_error(f"the input {name!r}", input=name)
    for step in plan.steps:
        known = dict(_known_inputs(step, inputs))
        if project.redactor.redact_value(dict(known)) != known:
            raise _secret_error(f"a value of step {step.id}", step=step.id)


def _known_inputs(
    step: PlanStep, inputs: Mapping[str, JsonValue]
) -> Iterator[tuple[str, JsonValue]]:
    for name, value in step.inputs.items():
        if isinstance(value, Constant):
            yield name, value.value
        elif isinstance(value, ParamRef) and value.name in inputs:
            yield name, inputs[value.name]


def refuse_secret_texts(project: Project, plan: Plan) -> None:
    """Raise UsageError for a secret in an expression of a step or in the plan's description."""
    for step in plan.steps:
        for place, value in list_step_values(step):
            written = value_to_json(value)
            if project.redactor.redact_value(written) != written:
                raise _secret_error(f"{step.id}.{place}", step=step.id)
    if project.redactor.redact(plan.description) != plan.description:
        raise _secret_error(
            "the request holds what",
            hint="leave it out of the words; a tool names it under Secrets:, and reads it from the "
            "environment",
        )


def _secret_error(what: str, hint: str = "", **details: str) -> UsageError:
    return UsageError(
        f"{what} looks like a secret, and a plan file and its runs are read by others",
        hint=hint or "let the tool name it under Secrets:, and set it in the environment",
        **details,
    )
