"""Convert saved plans to mappings of JSON values and back, and hash them (docs/plans.md). Pure.

The version of the format is checked here. `saved_plan_file.py` compares the SHA-256 with that in
the file, and refuses an edited plan.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, get_args

from pulsus.core.compose.plans.dsl.field_checks import (
    optional_text,
    require_mapping,
    require_names,
    require_number,
    require_text,
)
from pulsus.core.compose.plans.dsl.json_check import check_json
from pulsus.core.compose.plans.dsl.plan_mapping import PLAN_KEYS, plan_from_dict, plan_to_dict
from pulsus.core.compose.plans.dsl.refusal import refuse
from pulsus.core.compose.saved_plans.saved_plan import (
    FORMAT,
    Alternative,
    SavedInput,
    SavedPlan,
    StepReview,
)
from pulsus.core.types import Effects, InputSource, JsonValue, Kind

MARK = "pulsus_plan"
"""The key that tells a saved plan from a plan written by hand; its value is the format."""
_REQUIRED = {MARK, "hash", "plan", "catalogue", "settings", "review"}
_KEYS = {*_REQUIRED, *PLAN_KEYS, "request", "inputs", "alternatives", "notes"}
_INPUT_KEYS = {"value", "source", "type", "text", "p", "file", "sha256"}
_REVIEW_KEYS = {"step", "kind", "effects", "approval", "target", "verify", "undo"}
_EFFECT_KEYS = {"paths", "hosts", "commands"}


def saved_plan_to_dict(saved: SavedPlan) -> dict[str, JsonValue]:
    """Return the saved plan as JSON values, with its hash."""
    body: dict[str, JsonValue] = {MARK: FORMAT, "request": saved.request}
    rest: dict[str, JsonValue] = {
        **plan_to_dict(saved.plan),
        "inputs": {name: _input_to_dict(each) for name, each in saved.inputs.items()},
        "review": [_review_to_dict(each) for each in saved.review],
        "alternatives": [
            {"step": each.step, "tool": each.tool, "p": each.p, "why_not": each.why_not}
            for each in saved.alternatives
        ],
        "notes": list(saved.notes),
        "catalogue": saved.catalogue,
        "settings": dict(saved.settings),
    }
    return {**body, "hash": _hash_body({**body, **rest}), **rest}


def plan_hash(saved: SavedPlan) -> str:
    """Return the SHA-256 of everything that the file says, as `sha256:` and 64 hex digits."""
    return str(saved_plan_to_dict(saved)["hash"])


def saved_plan_from_dict(data: object) -> tuple[SavedPlan, str]:
    """Return the saved plan and the hash that its file names.

    The caller compares that hash with `plan_hash`. Raises PlanInvalid with place, value and fix.
    """
    top = require_mapping(data, "the plan file", required=_REQUIRED, allowed=_KEYS)
    if top[MARK] is True or top[MARK] != FORMAT:
        fix = f"this Pulsus reads format {FORMAT}: make the plan again, or update Pulsus"
        refuse(MARK, top[MARK], "the format is unknown", fix)
    plan = plan_from_dict({key: top[key] for key in PLAN_KEYS if key in top})
    inputs = require_mapping(top.get("inputs", {}), "inputs", allowed=set(plan.params))
    saved = SavedPlan(
        plan=plan,
        inputs={name: _parse_input(row, f"inputs.{name}") for name, row in inputs.items()},
        review=tuple(_parse_rows(top["review"], "review", _parse_review)),
        catalogue=require_text(top["catalogue"], "catalogue"),
        settings=_parse_settings(top["settings"]),
        request=require_text(top.get("request", ""), "request"),
        alternatives=tuple(
            _parse_rows(top.get("alternatives", []), "alternatives", _parse_alternative)
        ),
        notes=require_names(top.get("notes", []), "notes"),
    )
    steps = [step.id for step in plan.steps]
    if [each.step for each in saved.review] != steps:
        refuse(
            "review", [each.step for each in saved.review], "it is not one row a step", str(steps)
        )
    return saved, require_text(top["hash"], "hash")


def _parse_settings(value: object) -> dict[str, JsonValue]:
    data = require_mapping(value, "settings")
    check_json(data, "settings")
    return dict(data)


def _hash_body(body: Mapping[str, JsonValue]) -> str:
    text = json.dumps(body, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()


def _input_to_dict(given: SavedInput) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {"value": given.value, "source": given.source}
    if given.type is not None:
        found["type"] = given.type
    if given.text:
        found |= {"text": given.text, "p": round(given.p, 4)}
    if given.file is not None:
        found |= {"file": given.file, "sha256": given.sha256}
    return found


def _parse_input(row: object, place: str) -> SavedInput:
    data = require_mapping(row, place, required={"value", "source"}, allowed=_INPUT_KEYS)
    check_json(data["value"], f"{place}.value")
    source = data["source"]
    if source not in get_args(InputSource):
        refuse(f"{place}.source", source, "no such source", ", ".join(get_args(InputSource)))
    return SavedInput(
        value=data["value"],
        source=source,
        type=optional_text(data.get("type"), f"{place}.type"),
        text=require_text(data.get("text", ""), f"{place}.text"),
        p=require_number(data.get("p", 1), f"{place}.p"),
        file=optional_text(data.get("file"), f"{place}.file"),
        sha256=optional_text(data.get("sha256"), f"{place}.sha256"),
    )


def _review_to_dict(review: StepReview) -> dict[str, JsonValue]:
    effects = review.effects
    found: dict[str, JsonValue] = {
        "step": review.step,
        "kind": review.kind,
        "effects": None
        if effects is None
        else {name: list(getattr(effects, name)) for name in ("paths", "hosts", "commands")},
    }
    more: dict[str, JsonValue] = {
        "approval": review.approval,
        "target": list(review.target),
        "verify": review.verify,
        "undo": review.undo,
    }
    return {**found, **{key: value for key, value in more.items() if value}}


def _parse_review(row: object, place: str) -> StepReview:
    data = require_mapping(row, place, required={"step", "kind", "effects"}, allowed=_REVIEW_KEYS)
    if data["kind"] not in get_args(Kind):
        refuse(f"{place}.kind", data["kind"], "no such kind", ", ".join(get_args(Kind)))
    return StepReview(
        step=require_text(data["step"], f"{place}.step"),
        kind=data["kind"],
        effects=_parse_effects(data["effects"], f"{place}.effects"),
        approval=optional_text(data.get("approval"), f"{place}.approval"),
        target=require_names(data.get("target", []), f"{place}.target"),
        verify=optional_text(data.get("verify"), f"{place}.verify"),
        undo=optional_text(data.get("undo"), f"{place}.undo"),
    )


def _parse_effects(value: object, place: str) -> Effects | None:
    if value is None:
        return None
    data = require_mapping(value, place, required=_EFFECT_KEYS, allowed=_EFFECT_KEYS)
    names = ("paths", "hosts", "commands")
    return Effects(*(require_names(data[name], f"{place}.{name}") for name in names))


def _parse_alternative(row: object, place: str) -> Alternative:
    keys = {"step", "tool", "p", "why_not"}
    data = require_mapping(row, place, required=keys, allowed=keys)
    return Alternative(
        step=require_text(data["step"], f"{place}.step"),
        tool=require_text(data["tool"], f"{place}.tool"),
        p=require_number(data["p"], f"{place}.p"),
        why_not=require_text(data["why_not"], f"{place}.why_not"),
    )


def _parse_rows(rows: object, place: str, parse: Any) -> list[Any]:
    if not isinstance(rows, list):
        refuse(place, rows, "it is not a list", "write one item a row")
    return [parse(row, f"{place}[{number}]") for number, row in enumerate(rows)]
