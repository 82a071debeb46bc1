"""The plan DSL: the grammar as mappings of JSON values (§6, docs/plans.md). Pure.

An unknown or a missing key of a plan or a step is refused here, by `field_checks.py`.
`plan_file.py` reads and writes the text of a plan.
"""

from __future__ import annotations

from typing import Literal

from pulsus.core.compose.plans.dsl import plan_checks
from pulsus.core.compose.plans.dsl.field_checks import (
    optional_text,
    require_mapping,
    require_names,
    require_number,
    require_text,
)
from pulsus.core.compose.plans.dsl.plan_values import parse_expression, parse_value, value_to_json
from pulsus.core.compose.plans.dsl.refusal import refuse
from pulsus.core.types import ForEach, JsonValue, Plan, PlanStep, Retry

PLAN_KEYS = frozenset({"plan", "io"})
"""The keys of a plan of spec §6 as a whole."""

STEP_KEYS = frozenset(
    {
        *("id", "tool", "version", "sha256", "inputs", "outputs"),
        *("needs", "when", "for_each", "retry", "timeout_s", "on_failure"),
    }
)
"""The keys of a step: those of spec §6, its pin, and those that control it (docs/plans.md)."""


def plan_to_dict(plan: Plan) -> dict[str, JsonValue]:
    """Return `plan` as JSON values in the form of spec §6, with the `sha256` of pinned steps."""
    steps: list[JsonValue] = [_step_to_dict(step) for step in plan.steps]
    return {
        "plan": {"description": plan.description, "steps": steps},
        "io": {"params": list(plan.params), "returns": list(plan.returns)},
    }


def plan_from_dict(data: object) -> Plan:
    """Return the plan in a mapping of the form of spec §6.

    Raises PlanInvalid for an unknown key, a value of the wrong type, or a broken rule of
    `plan_checks.check_plan`.
    """
    top = require_mapping(data, "the plan file", required={"plan"}, allowed=PLAN_KEYS)
    body = require_mapping(
        top["plan"], "plan", required={"steps"}, allowed={"description", "steps"}
    )
    io = require_mapping(top.get("io", {}), "io", required=set(), allowed={"params", "returns"})
    rows = body["steps"]
    if not isinstance(rows, list):
        refuse("plan.steps", rows, "it is not a list", "write one item a step")
    plan = Plan(
        description=require_text(body.get("description", ""), "plan.description"),
        steps=tuple(_parse_step(row, f"plan.steps[{i}]") for i, row in enumerate(rows)),
        params=require_names(io.get("params", []), "io.params"),
        returns=require_names(io.get("returns", []), "io.returns"),
    )
    plan_checks.check_plan(plan)
    return plan


def _step_to_dict(step: PlanStep) -> dict[str, JsonValue]:
    pin: dict[str, JsonValue] = {"version": step.version, "sha256": step.sha256}
    return {
        "id": step.id,
        "tool": step.tool,
        **{key: value for key, value in pin.items() if value is not None},
        "inputs": {name: value_to_json(value) for name, value in step.inputs.items()},
        "outputs": dict(step.outputs),
        **_control_to_dict(step),
    }


def _control_to_dict(step: PlanStep) -> dict[str, JsonValue]:
    """Return the keys that control the step, without those that have their default."""
    found: dict[str, JsonValue] = {}
    if step.needs:
        found["needs"] = list(step.needs)
    if step.when is not None:
        found["when"] = value_to_json(step.when)
    if step.for_each is not None:
        items = value_to_json(step.for_each.items)
        found["for_each"] = {"items": items, "limit": step.for_each.limit}
    if step.retry is not None:
        found["retry"] = {"attempts": step.retry.attempts, "delay_s": step.retry.delay_s}
    if step.timeout_s is not None:
        found["timeout_s"] = step.timeout_s
    if step.on_failure != "stop":
        found["on_failure"] = step.on_failure
    return found


def _parse_step(row: object, place: str) -> PlanStep:
    data = require_mapping(row, place, required={"id", "tool"}, allowed=STEP_KEYS)
    inputs = require_mapping(data.get("inputs", {}), f"{place}.inputs")
    outputs = require_mapping(data.get("outputs", {}), f"{place}.outputs")
    when = data.get("when")
    timeout = data.get("timeout_s")
    return PlanStep(
        id=require_text(data["id"], f"{place}.id"),
        tool=require_text(data["tool"], f"{place}.tool"),
        inputs={name: parse_value(v, f"{place}.inputs.{name}") for name, v in inputs.items()},
        outputs={name: require_text(v, f"{place}.outputs.{name}") for name, v in outputs.items()},
        sha256=optional_text(data.get("sha256"), f"{place}.sha256"),
        version=optional_text(data.get("version"), f"{place}.version"),
        needs=require_names(data.get("needs", []), f"{place}.needs"),
        when=None if when is None else parse_expression(when, f"{place}.when"),
        for_each=_parse_for_each(data.get("for_each"), f"{place}.for_each"),
        retry=_parse_retry(data.get("retry"), f"{place}.retry"),
        timeout_s=None if timeout is None else require_number(timeout, f"{place}.timeout_s"),
        on_failure=_parse_on_failure(data.get("on_failure", "stop"), f"{place}.on_failure"),
    )


def _parse_for_each(value: object, place: str) -> ForEach | None:
    if value is None:
        return None
    data = require_mapping(value, place, required={"items", "limit"}, allowed={"items", "limit"})
    limit = data["limit"]
    if not isinstance(limit, int) or isinstance(limit, bool):
        refuse(f"{place}.limit", limit, "it is not a whole number", "write the most items allowed")
    return ForEach(parse_value(data["items"], f"{place}.items"), limit)


def _parse_retry(value: object, place: str) -> Retry | None:
    if value is None:
        return None
    data = require_mapping(value, place, required={"attempts"}, allowed={"attempts", "delay_s"})
    attempts = data["attempts"]
    if not isinstance(attempts, int) or isinstance(attempts, bool):
        refuse(f"{place}.attempts", attempts, "it is not a whole number", "write how many in all")
    return Retry(attempts, require_number(data.get("delay_s", 0), f"{place}.delay_s"))


def _parse_on_failure(value: object, place: str) -> Literal["stop", "continue"]:
    if value not in ("stop", "continue"):
        refuse(place, value, "no such way to go on", "write stop or continue")
    return "continue" if value == "continue" else "stop"
