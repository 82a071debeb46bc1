"""Refuse plans and inputs that hold secrets: plan files and the journal keep them. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from pulsus.core.compose.plans.dsl.plan_values import value_to_json
from pulsus.core.compose.plans.dsl.step_references import list_step_values
from pulsus.core.types import Constant, JsonValue, Plan
from pulsus.errors import UsageError
from pulsus.routing.delivery.project_protocol import Project


def refuse_secrets(project: Project, inputs: Mapping[str, JsonValue]) -> None:
    """Raise UsageError for a value that looks like a secret: files and the journal keep it."""
    for name, value in inputs.items():
        if project.redactor.redact_value({name: value}) != {name: value}:
            raise _secret_error(f"the input {name!r}", input=name)


def refuse_secret_constants(project: Project, plan: Plan) -> None:
    """Raise UsageError for a secret that a step or the description of the plan holds."""
    for step in plan.steps:
        constants = {n: v.value for n, v in step.inputs.items() if isinstance(v, Constant)}
        if project.redactor.redact_value(dict(constants)) != constants:
            raise _secret_error(f"a value of step {step.id}", step=step.id)
        for place, value in list_step_values(step):
            written = value_to_json(value)
            if project.redactor.redact_value(written) != written:
                raise _secret_error(f"{step.id}.{place}", step=step.id)
    if project.redactor.redact(plan.description) != plan.description:
        raise _secret_error("the description of the plan")


def _secret_error(what: str, **details: str) -> UsageError:
    return UsageError(
        f"{what} looks like a secret, and a plan file and its runs are read by others",
        hint="let the tool name it under Secrets:, and set it in the environment",
        **details,
    )
