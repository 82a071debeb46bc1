"""The plan DSL of routing spec §6: text, mappings and values.

`parse_yaml(render_yaml(p)) == p` and `parse_json(render_json(p)) == p` for every plan. An input is
a reference when the whole string is `{{input.NAME}}` or `{{steps.ID.outputs.NAME}}`; braces meant
literally are written `\\{{`, so no constant is ever taken for a reference.
"""

from __future__ import annotations

import json
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


def parse_yaml(text: str) -> Plan:
    """The plan that YAML text writes. Raises PlanInvalid naming the place, value and fix."""
    from pulsus.core.compose.plans import plan_file  # a YAML library: not for a plan as a value

    return plan_from_dict(plan_file.load_yaml(text))


def parse_json(text: str) -> Plan:
    """The plan that JSON text writes. Raises PlanInvalid naming the place, value and fix."""
    from pulsus.core.compose.plans import plan_file  # a YAML library: not for a plan as a value

    return plan_from_dict(plan_file.load_json(text))


def render_yaml(plan: Plan) -> str:
    """`plan` as YAML in the form of spec §6; the same plan gives the same text."""
    from pulsus.core.compose.plans import plan_file  # a YAML library: not for a plan as a value

    return plan_file.dump_yaml(plan_to_dict(plan))


def render_json(plan: Plan) -> str:
    """`plan` as indented JSON; the same plan gives the same text."""
    return json.dumps(plan_to_dict(plan), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def plan_to_dict(plan: Plan) -> dict[str, JsonValue]:
    """`plan` as JSON values in the form of spec §6, with `sha256` where a step is pinned."""
    steps: list[JsonValue] = [_step_to_dict(step) for step in plan.steps]
    return {
        "plan": {"description": plan.description, "steps": steps},
        "io": {"params": list(plan.params), "returns": list(plan.returns)},
    }


def plan_from_dict(data: object) -> Plan:
    """The plan in a mapping of the form of spec §6.

    Raises PlanInvalid for an unknown key, a value of the wrong kind, or a broken rule of
    `plan_checks.check_plan`.
    """
    top = _mapping(data, "the plan file", required={"plan"}, allowed={"plan", "io"})
    body = _mapping(top["plan"], "plan", required={"steps"}, allowed={"description", "steps"})
    io = _mapping(top.get("io", {}), "io", required=set(), allowed={"params", "returns"})
    rows = body["steps"]
    if not isinstance(rows, list):
        refuse("plan.steps", rows, "it is not a list", "write one item a step")
    plan = Plan(
        description=_text(body.get("description", ""), "plan.description"),
        steps=tuple(_step(row, f"plan.steps[{i}]") for i, row in enumerate(rows)),
        params=_names(io.get("params", []), "io.params"),
        returns=_names(io.get("returns", []), "io.returns"),
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
            return _escape(constant)


def _escape(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return _BRACES.sub(lambda found: f"\\{found[0]}", value)
    if isinstance(value, list):
        return [_escape(item) for item in value]
    if isinstance(value, dict):
        return {key: _escape(item) for key, item in value.items()}
    return value


def _step(row: object, place: str) -> PlanStep:
    allowed = {"id", "tool", "sha256", "inputs", "outputs"}
    data = _mapping(row, place, required={"id", "tool"}, allowed=allowed)
    inputs = _mapping(data.get("inputs", {}), f"{place}.inputs")
    outputs = _mapping(data.get("outputs", {}), f"{place}.outputs")
    pin = data.get("sha256")
    return PlanStep(
        id=_text(data["id"], f"{place}.id"),
        tool=_text(data["tool"], f"{place}.tool"),
        inputs={name: _value(v, f"{place}.inputs.{name}") for name, v in inputs.items()},
        outputs={name: _text(v, f"{place}.outputs.{name}") for name, v in outputs.items()},
        sha256=None if pin is None else _text(pin, f"{place}.sha256"),
    )


def _value(value: object, place: str) -> PlanValue:
    if isinstance(value, str) and (found := _REFERENCE.fullmatch(value.strip())):
        param, step, output = found.groups()
        return ParamRef(param) if param else OutputRef(step, output)
    plan_checks.check_json(value, place)
    return Constant(_unescape(cast(JsonValue, value), place))


def _unescape(value: JsonValue, place: str) -> JsonValue:
    if isinstance(value, str):
        if any(not found[1] for found in _BRACES.finditer(value)):
            refuse(place, value, "it is no whole reference", _WHOLE)
        return _BRACES.sub(lambda found: found[0][1:], value)
    if isinstance(value, list):
        return [_unescape(item, f"{place}[{i}]") for i, item in enumerate(value)]
    if isinstance(value, dict):
        return {key: _unescape(item, f"{place}.{key}") for key, item in value.items()}
    return value


def _mapping(
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
            refuse(f"{place}.{key}", key, "the key is unknown", f"use {_list(allowed)}")
    for key in sorted((required or set()) - data.keys()):
        refuse(place, data, f"{key!r} is missing", f"add `{key}:`")
    return data


def _text(value: object, place: str) -> str:
    if not isinstance(value, str):
        refuse(place, value, "it is not text", "put quotes round it")
    return value


def _names(value: object, place: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        refuse(place, value, "it is not a list", "write a list of names")
    return tuple(_text(item, f"{place}[{i}]") for i, item in enumerate(value))


def _list(names: set[str]) -> str:
    return ", ".join(sorted(names))
