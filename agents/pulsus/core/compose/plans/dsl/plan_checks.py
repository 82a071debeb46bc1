"""Check that a plan is well formed (spec §6): unique ids, and references to earlier steps only.

A duplicate id, a reserved name, a reference to a later, undefined or unknown step (so every cycle),
and too many steps (`MAX_STEPS`; for a composed route `compose.max_steps`) are refused here. `needs`
is checked in `control_checks.py`, unknown keys in `plan_mapping.py`, repeated keys in
`plan_file.py`, types in `core/compose/plans/type_check.py`. A tool that is not in the catalogue is
refused in `core/compose/plans/pins.py`, and before a run in `routing/plans/plan_host.py`.
"""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Mapping

from pulsus.core.compose.plans.dsl.control_checks import check_control
from pulsus.core.compose.plans.dsl.json_check import check_json, check_text
from pulsus.core.compose.plans.dsl.plan_values import ITEM, references
from pulsus.core.compose.plans.dsl.refusal import refuse
from pulsus.core.compose.plans.dsl.step_references import list_step_values, step_references
from pulsus.core.types import Constant, OutputRef, ParamRef, Plan, PlanStep, PlanValue
from pulsus.late_pattern import late_pattern

# A limit for files. It is far above `compose.max_steps`, the limit for new plans.
MAX_STEPS = 50
# A parameter becomes an argument of the composed module, which imports `pulsus.steps`.
RESERVED = frozenset({*keyword.kwlist, "pulsus"})
_MAX_ID = 60
_TOOL = late_pattern(r"[A-Za-z0-9_][\w.-]*(?:/[A-Za-z0-9_][\w.-]*)*(?:::(?:run|main))?", re.ASCII)
_SHA256 = late_pattern(r"[0-9a-f]{64}")


def check_plan(plan: Plan, *, max_steps: int = MAX_STEPS) -> None:
    """Raise PlanInvalid unless every reference points to an earlier declaration.

    Such a plan has no cycles, because a step can only refer to earlier steps.
    """
    check_text(plan.description, "plan.description")
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
        for name, value in list_step_values(step):
            _check_value(value, f"{place}.{name}", plan.params, earlier, step)
        check_control(step, place, earlier)
        earlier[step.id] = step
    _check_used(plan)
    _check_returns(plan)


def is_plan_name(text: str) -> bool:
    """Return True if `text` can name a parameter, an output or a step.

    Names are identifiers in normal form NFKC: Python treats other forms of a name as equal to it.
    """
    return text.isidentifier() and unicodedata.normalize("NFKC", text) == text


def _check_step(step: PlanStep, place: str, earlier: Mapping[str, PlanStep]) -> None:
    if not is_plan_name(step.id) or step.id in RESERVED:
        refuse(f"{place}.id", step.id, "it is not an identifier", "use letters, digits and _")
    # The result of the step is a file of this name.
    if not step.id.isascii() or len(step.id) > _MAX_ID:
        fix = f"use at most {_MAX_ID} of the letters a to z, digits and _"
        refuse(f"{place}.id", step.id, "it cannot name a file everywhere", fix)
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
        check_text(key, f"{place}.outputs.{name}")


def _check_value(
    value: PlanValue,
    place: str,
    params: tuple[str, ...],
    earlier: Mapping[str, PlanStep],
    user: PlanStep,
) -> None:
    if isinstance(value, Constant):
        check_json(value.value, place)
    for reference in references(value, place):
        match reference:
            case ParamRef(name):
                if name not in params:
                    fix = f"add it to io.params ({_list_names(params)})"
                    refuse(place, name, "no such parameter", fix)
            case OutputRef(step, output):
                _check_output(step, output, place, earlier)
            case _:
                # `when` and the items themselves are computed once, before there is an item.
                if user.for_each is None or place.endswith((".for_each.items", ".when")):
                    fix = "add for_each to the step, and read item in its inputs"
                    refuse(place, ITEM, "the step has no item here", fix)


def _check_output(step: str, output: str, place: str, earlier: Mapping[str, PlanStep]) -> None:
    if step not in earlier:
        fix = f"refer to an earlier step ({_list_names(earlier)})"
        refuse(place, f"steps.{step}", "no such step before this one", fix)
    if output not in earlier[step].outputs:
        fix = f"step {step} declares: {_list_names(earlier[step].outputs)}"
        refuse(place, f"steps.{step}.outputs.{output}", "no such output", fix)


def _check_used(plan: Plan) -> None:
    found = [ref for step in plan.steps for ref in step_references(step)]
    used = {ref.name for ref in found if isinstance(ref, ParamRef)}
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


def _list_names(names: object) -> str:
    listed = ", ".join(names) if isinstance(names, tuple | dict) else ""
    return listed or "none"
