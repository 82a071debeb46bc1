r"""Convert plans to mappings of JSON values and back (the plan DSL of spec §6).

An input is a reference if its whole text is `{{input.NAME}}` or `{{steps.ID.outputs.NAME}}`.
Literal braces are written `\{{`, so that a constant is never read as a reference.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from pulsus.core.compose.plans import plan_checks
from pulsus.core.compose.plans.plan_checks import refuse
from pulsus.core.types import (
    Constant,
    JsonValue,
    OutputRef,
    ParamRef,
    Plan,
    PlanStep,
    PlanValue,
)

_REFERENCE = re.compile(r"\{\{\s*(?:input\.(\w+)|steps\.(\w+)\.outputs\.(\w+))\s*\}\}")
_BRACES = re.compile(r"(\\*)\{\{")
_WHOLE = (
    "write a reference alone, as {{input.NAME}} or {{steps.ID.outputs.NAME}}, "
    r"and braces meant literally as \{{"
)


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
    top = _require_mapping(data, "the plan file", required={"plan"}, allowed={"plan", "io"})
    body = _require_mapping(
        top["plan"], "plan", required={"steps"}, allowed={"description", "steps"}
    )
    io = _require_mapping(top.get("io", {}), "io", required=set(), allowed={"params", "returns"})
    rows = body["steps"]
    if not isinstance(rows, list):
        refuse("plan.steps", rows, "it is not a list", "write one item a step")
    plan = Plan(
        description=_require_text(body.get("description", ""), "plan.description"),
        steps=tuple(_parse_step(row, f"plan.steps[{i}]") for i, row in enumerate(rows)),
        params=_require_names(io.get("params", []), "io.params"),
        returns=_require_names(io.get("returns", []), "io.returns"),
    )
    plan_checks.check_plan(plan)
    return plan


def _step_to_dict(step: PlanStep) -> dict[str, JsonValue]:
    pin: dict[str, JsonValue] = {"sha256": step.sha256} if step.sha256 is not None else {}
    return {
        "id": step.id,
        "tool": step.tool,
        **pin,
        "inputs": {name: _value_to_json(value) for name, value in step.inputs.items()},
        "outputs": dict(step.outputs),
    }


def _value_to_json(value: PlanValue) -> JsonValue:
    match value:
        case ParamRef(name):
            return f"{{{{input.{name}}}}}"
        case OutputRef(step, output):
            return f"{{{{steps.{step}.outputs.{output}}}}}"
        case Constant(constant):
            return _escape_braces(constant)


def _escape_braces(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        # One more backslash before each `{{`; reading takes one away.
        return _BRACES.sub(lambda found: f"\\{found[0]}", value)
    if isinstance(value, list):
        return [_escape_braces(item) for item in value]
    if isinstance(value, dict):
        return {key: _escape_braces(item) for key, item in value.items()}
    return value


def _parse_step(row: object, place: str) -> PlanStep:
    allowed = {"id", "tool", "sha256", "inputs", "outputs"}
    data = _require_mapping(row, place, required={"id", "tool"}, allowed=allowed)
    inputs = _require_mapping(data.get("inputs", {}), f"{place}.inputs")
    outputs = _require_mapping(data.get("outputs", {}), f"{place}.outputs")
    pin = data.get("sha256")
    return PlanStep(
        id=_require_text(data["id"], f"{place}.id"),
        tool=_require_text(data["tool"], f"{place}.tool"),
        inputs={name: _parse_value(v, f"{place}.inputs.{name}") for name, v in inputs.items()},
        outputs={name: _require_text(v, f"{place}.outputs.{name}") for name, v in outputs.items()},
        sha256=None if pin is None else _require_text(pin, f"{place}.sha256"),
    )


def _parse_value(value: object, place: str) -> PlanValue:
    if isinstance(value, str) and (found := _REFERENCE.fullmatch(value.strip())):
        param, step, output = found.groups()
        return ParamRef(param) if param else OutputRef(step, output)
    plan_checks.check_json(value, place)
    return Constant(_unescape_braces(cast(JsonValue, value), place))


def _unescape_braces(value: JsonValue, place: str) -> JsonValue:
    if isinstance(value, str):
        if any(not found[1] for found in _BRACES.finditer(value)):
            refuse(place, value, "it contains {{ but is not a reference as a whole", _WHOLE)
        return _BRACES.sub(lambda found: found[0][1:], value)
    if isinstance(value, list):
        return [_unescape_braces(item, f"{place}[{i}]") for i, item in enumerate(value)]
    if isinstance(value, dict):
        return {key: _unescape_braces(item, f"{place}.{key}") for key, item in value.items()}
    return value


def _require_mapping(
    data: object,
    place: str,
    *,
    required: set[str] | None = None,
    allowed: set[str] | None = None,
) -> Mapping[str, Any]:
    if not isinstance(data, dict):
        refuse(place, data, "it is not a mapping", "write `key: value` pairs")
    for key in data:
        if not isinstance(key, str):
            refuse(place, key, "a key is not text", "put quotes round it")
        if allowed is not None and key not in allowed:
            refuse(f"{place}.{key}", key, "the key is unknown", f"use {', '.join(sorted(allowed))}")
    # Sorted, so that the same file always gives the same message.
    for key in sorted((required or set()) - data.keys()):
        refuse(place, data, f"{key!r} is missing", f"add `{key}:`")
    return data


def _require_text(value: object, place: str) -> str:
    if not isinstance(value, str):
        refuse(place, value, "it is not text", "put quotes round it")
    return value


def _require_names(value: object, place: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        refuse(place, value, "it is not a list", "write a list of names")
    return tuple(_require_text(item, f"{place}[{i}]") for i, item in enumerate(value))
