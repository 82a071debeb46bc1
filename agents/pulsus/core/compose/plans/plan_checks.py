"""Check that a plan is well formed (spec §6): unique ids, and references to earlier steps only."""

from __future__ import annotations

import keyword
import math
import re
import unicodedata
from collections.abc import Mapping
from typing import NoReturn

from pulsus.core.types import OutputRef, ParamRef, Plan, PlanStep, PlanValue
from pulsus.errors import PlanInvalid

# A limit for files. It is far above `compose.max_steps`, the limit for new plans.
MAX_STEPS = 50
# No useful constant is nested deeper. The YAML reader allows 64 levels for the whole file.
MAX_DEPTH = 32
# A parameter becomes an argument of the composed module, which imports `pulsus.steps`.
RESERVED = frozenset({*keyword.kwlist, "pulsus"})
_SHOWN = 80
_TOOL = re.compile(r"[A-Za-z0-9_][\w.-]*(?:/[A-Za-z0-9_][\w.-]*)*(?:::(?:run|main))?", re.ASCII)
_SHA256 = re.compile(r"[0-9a-f]{64}")


def refuse(place: str, value: object, reason: str, fix: str) -> NoReturn:
    """Raise PlanInvalid with the place, the value, the reason and the fix."""
    # ASCII: a value may hold control characters, or characters that look like others.
    shown = ascii(value)
    shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
    raise PlanInvalid(f"{place}: {shown}: {reason}", hint=fix, place=place)


def check_plan(plan: Plan, *, max_steps: int = MAX_STEPS) -> None:
    """Raise PlanInvalid unless every reference points to an earlier declaration.

    Such a plan has no cycles, because a step can only refer to earlier steps.
    """
    _check_text(plan.description, "plan.description")
    if not plan.steps:
        refuse("plan.steps", [], "there is no step", "add at least one")
    if len(plan.steps) > max_steps:
        refuse("plan.steps", len(plan.steps), f"more than {max_steps} steps", "split the plan")
    _check_names(plan.params, "io.params")
    for number, name in enumerate(plan.params):
        if name in RESERVED:
            refuse(f"io.params[{number}]", name, "the name is reserved", f"call it {name}_")
    _check_names(plan.returns, "io.returns")
    # Only earlier steps can be referred to, so a plan that passes has no cycle.
    earlier: dict[str, PlanStep] = {}
    for number, step in enumerate(plan.steps):
        place = f"plan.steps[{number}]"
        _check_step(step, place, earlier)
        for name, value in step.inputs.items():
            _check_value(value, f"{place}.inputs.{name}", plan.params, earlier)
        earlier[step.id] = step
    _check_used(plan)
    _check_returns(plan)


def check_json(value: object, place: str, depth: int = 0) -> None:
    """Raise PlanInvalid unless `value` is JSON: finite numbers, text as keys, valid Unicode."""
    if depth > MAX_DEPTH:
        refuse(place, "…", f"nested deeper than {MAX_DEPTH}", "flatten the value")
    match value:
        case None | bool() | int():
            return
        case str():
            _check_text(value, place)
        case float():
            if not math.isfinite(value):
                refuse(
                    place, value, "JSON cannot express this number", "use a finite number or null"
                )
        case list():
            for i, item in enumerate(value):
                check_json(item, f"{place}[{i}]", depth + 1)
        case dict():
            for key, item in value.items():
                _check_key(key, place)
                check_json(item, f"{place}.{key}", depth + 1)
        case _:
            kind = type(value).__name__
            refuse(place, str(value), f"a {kind} is not a JSON value", "put quotes round it")


def is_plan_name(text: str) -> bool:
    """Return True if `text` can name a parameter, an output or a step.

    Names are identifiers in normal form NFKC: Python treats other forms of a name as equal to it.
    """
    return text.isidentifier() and unicodedata.normalize("NFKC", text) == text


def _check_step(step: PlanStep, place: str, earlier: Mapping[str, PlanStep]) -> None:
    if not is_plan_name(step.id) or step.id in RESERVED:
        refuse(f"{place}.id", step.id, "it is not an identifier", "use letters, digits and _")
    if step.id in earlier:
        refuse(f"{place}.id", step.id, "an earlier step has this id", "give each step its own")
    if not _TOOL.fullmatch(step.tool):
        fix = "write domain/action/name or name.py::run"
        refuse(f"{place}.tool", step.tool, "it is not a tool name", fix)
    if step.sha256 is not None and not _SHA256.fullmatch(step.sha256):
        fix = "write 64 lower-case hex digits, or leave it out and let Pulsus pin it"
        refuse(f"{place}.sha256", step.sha256, "it is not a SHA-256", fix)
    for name in step.inputs:
        _check_name(name, f"{place}.inputs")
    for name, key in step.outputs.items():
        _check_name(name, f"{place}.outputs")
        _check_text(key, f"{place}.outputs.{name}")


def _check_value(
    value: PlanValue, place: str, params: tuple[str, ...], earlier: Mapping[str, PlanStep]
) -> None:
    match value:
        case ParamRef(name):
            if name not in params:
                fix = f"add it to io.params ({_list_names(params)})"
                refuse(place, name, "no such parameter", fix)
        case OutputRef(step, output):
            if step not in earlier:
                fix = f"refer to an earlier step ({_list_names(earlier)})"
                refuse(place, f"steps.{step}", "no such step before this one", fix)
            if output not in earlier[step].outputs:
                fix = f"step {step} declares: {_list_names(earlier[step].outputs)}"
                refuse(place, f"steps.{step}.outputs.{output}", "no such output", fix)
        case _:
            check_json(value.value, place)


def _check_used(plan: Plan) -> None:
    values = [value for step in plan.steps for value in step.inputs.values()]
    used = {value.name for value in values if isinstance(value, ParamRef)}
    for number, name in enumerate(plan.params):
        if name not in used:
            refuse(f"io.params[{number}]", name, "no step uses it", "remove it or wire it")


def _check_returns(plan: Plan) -> None:
    steps_by_output: dict[str, list[str]] = {}
    for step in plan.steps:
        for name in step.outputs:
            steps_by_output.setdefault(name, []).append(step.id)
    for number, name in enumerate(plan.returns):
        place = f"io.returns[{number}]"
        if name not in steps_by_output:
            refuse(
                place, name, "no step gives it", f"the steps give: {_list_names(steps_by_output)}"
            )
        if len(steps_by_output[name]) > 1:
            refuse(
                place,
                name,
                f"steps {' and '.join(steps_by_output[name])} both give it",
                "rename one under `outputs`",
            )


def _check_names(names: tuple[str, ...], place: str) -> None:
    for number, name in enumerate(names):
        _check_name(name, f"{place}[{number}]")
        if name in names[:number]:
            refuse(f"{place}[{number}]", name, "it is listed twice", "remove one")


def _check_name(name: str, place: str) -> None:
    if not is_plan_name(name):
        refuse(place, name, "it is not an identifier", "use letters, digits and _")


def _check_key(key: object, place: str) -> None:
    if not isinstance(key, str):
        refuse(place, key, "a key is not text", "put quotes round it")
    _check_text(key, place)


def _check_text(text: str, place: str) -> None:
    if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
        refuse(place, text, "it holds half a surrogate pair", "use valid Unicode")


def _list_names(names: object) -> str:
    listed = ", ".join(names) if isinstance(names, tuple | dict) else ""
    return listed or "none"
