"""The difference of two saved plans, part by part, changes of writes first. Pure.

Steps are matched by their ids. These decide nothing about a run, so they make no difference: the
request, the words that an input came from, the digest of the catalogue, alternatives and notes.
`pulsus diff` shows the difference (`cli/plan/diff_command.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Literal, cast

from pulsus.core.compose.plans.dsl.plan_mapping import plan_to_dict
from pulsus.core.compose.plans.dsl.step_references import step_references
from pulsus.core.compose.saved_plans.saved_plan import SavedPlan
from pulsus.core.compose.saved_plans.saved_plan_mapping import saved_plan_to_dict
from pulsus.core.types import JsonValue, ParamRef
from pulsus.fast_dataclass import dataclass

Difference = Literal["added", "removed", "changed"]
Section = Literal["step", "input", "setting", "plan"]
_ABSENT = object()


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field that differs, such as `inputs.path`. `old` or `new` is None where it is absent."""

    name: str
    difference: Difference
    old: JsonValue = None
    new: JsonValue = None


@dataclass(frozen=True, slots=True)
class PlanChange:
    """One step, input, setting or property of the plan that differs.

    `name` is the id of the step, or the name of the input, setting or property. `writes` is True
    if a step that writes is concerned. `used_by` are the steps that read an input.
    """

    section: Section
    name: str
    difference: Difference
    fields: tuple[FieldChange, ...]
    writes: bool = False
    tool: str = ""
    used_by: tuple[str, ...] = field(default_factory=tuple)


def compare_plans(old: SavedPlan, new: SavedPlan) -> tuple[PlanChange, ...]:
    """Return what differs: changes that concern a write first, then in the order of the plan."""
    found = [
        *_compare_steps(old, new),
        *_compare_inputs(old, new),
        *_compare_settings(old, new),
        *_compare_properties(old, new),
    ]
    return tuple(sorted(found, key=lambda change: not change.writes))


def _compare_steps(old: SavedPlan, new: SavedPlan) -> Iterator[PlanChange]:
    was, is_now = _list_step_rows(old), _list_step_rows(new)
    for name in dict.fromkeys((*is_now, *was)):
        fields = tuple(_compare_fields(was.get(name, {}), is_now.get(name, {})))
        if not fields:
            continue
        yield PlanChange(
            section="step",
            name=name,
            difference=_name_difference(name in was, name in is_now),
            fields=fields,
            writes=name in old.writes or name in new.writes,
            tool=str((is_now if name in is_now else was)[name]["tool"]),
        )


def _list_step_rows(saved: SavedPlan) -> dict[str, dict[str, JsonValue]]:
    """Return the fields of each step by its id: those of the plan, and those of its review."""
    plan = cast("dict[str, list[dict[str, JsonValue]]]", plan_to_dict(saved.plan)["plan"])
    reviews = cast("list[dict[str, JsonValue]]", saved_plan_to_dict(saved)["review"])
    rows: dict[str, dict[str, JsonValue]] = {}
    for step, review in zip(plan["steps"], reviews, strict=True):
        row: dict[str, JsonValue] = {"kind": review["kind"]}
        for key, value in {**step, **review}.items():
            nested = key in ("inputs", "outputs", "effects") and isinstance(value, dict)
            parts = cast("dict[str, JsonValue]", value) if nested else {}
            row |= {f"{key}.{name}": each for name, each in parts.items() if each != []}
            if not nested and key not in ("id", "step"):
                row[key] = value
        rows[str(step["id"])] = row
    return rows


def _compare_inputs(old: SavedPlan, new: SavedPlan) -> Iterator[PlanChange]:
    was, is_now = _list_input_rows(old), _list_input_rows(new)
    for name in dict.fromkeys((*is_now, *was)):
        fields = tuple(_compare_fields(was.get(name, {}), is_now.get(name, {})))
        if fields:
            users = dict.fromkeys((*_list_users(new, name), *_list_users(old, name)))
            writes = any(user in (*old.writes, *new.writes) for user in users)
            difference = _name_difference(name in was, name in is_now)
            yield PlanChange("input", name, difference, fields, writes, used_by=tuple(users))


def _list_input_rows(saved: SavedPlan) -> dict[str, dict[str, JsonValue]]:
    """Return what a run gets of each input: its value, type and file."""
    return {
        name: {
            "value": given.value,
            "type": given.type,
            **({"file": given.file, "sha256": given.sha256} if given.file else {}),
        }
        for name, given in saved.inputs.items()
    }


def _list_users(saved: SavedPlan, param: str) -> Iterator[str]:
    """Yield the steps that read the parameter."""
    for step in saved.plan.steps:
        if ParamRef(param) in step_references(step):
            yield step.id


def _compare_settings(old: SavedPlan, new: SavedPlan) -> Iterator[PlanChange]:
    for each in _compare_fields(old.settings, new.settings):
        # A setting decides what every write of the plan may do.
        writes = bool(old.writes or new.writes)
        yield PlanChange("setting", each.name, each.difference, (each,), writes)


def _compare_properties(old: SavedPlan, new: SavedPlan) -> Iterator[PlanChange]:
    for each in _compare_fields(_list_properties(old, new), _list_properties(new, old)):
        writes = each.name == "order" and bool(old.writes or new.writes)
        yield PlanChange("plan", each.name, each.difference, (each,), writes)


def _list_properties(saved: SavedPlan, other: SavedPlan) -> dict[str, JsonValue]:
    """Return what is neither in a step nor in an input. `order` has the steps of both plans."""
    others = {step.id for step in other.plan.steps}
    return {
        "description": saved.plan.description,
        "params": list(saved.plan.params),
        "returns": list(saved.plan.returns),
        "order": [step.id for step in saved.plan.steps if step.id in others],
    }


def _compare_fields(
    was: Mapping[str, JsonValue], is_now: Mapping[str, JsonValue]
) -> Iterator[FieldChange]:
    for key in dict.fromkeys((*is_now, *was)):
        old, new = was.get(key, _ABSENT), is_now.get(key, _ABSENT)
        # `True == 1` in Python, and not in a plan.
        if type(old) is type(new) and old == new and repr(old) == repr(new):
            continue
        yield FieldChange(
            key,
            _name_difference(old is not _ABSENT, new is not _ABSENT),
            None if old is _ABSENT else cast(JsonValue, old),
            None if new is _ABSENT else cast(JsonValue, new),
        )


def _name_difference(before: bool, after: bool) -> Difference:
    if before and after:
        return "changed"
    return "added" if after else "removed"
