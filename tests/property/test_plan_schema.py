"""docs/schemas/plan-file.json against the parser: the schema refuses nothing that is accepted."""

import copy
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from pulsus.core.compose.plans.dsl.plan_mapping import plan_from_dict
from pulsus.core.compose.saved_plans.saved_plan import Alternative, SavedInput, StepReview
from pulsus.core.compose.saved_plans.saved_plan_mapping import (
    MARK,
    saved_plan_from_dict,
    saved_plan_to_dict,
)
from pulsus.core.types import Effects
from pulsus.errors import PlanInvalid
from tests.example_counts import examples
from tests.saved_plans import saved, step

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "docs/schemas/plan-file.json").read_text(encoding="utf-8")
)
VALIDATOR = Draft202012Validator(SCHEMA)
FULL = saved(
    step("a", inputs={"x": "{{ input.x }}", "y": [1, {"k": None}]}, outputs={"rows": "rows"}),
    step(
        "b",
        inputs={"rows": "{{ steps.a.outputs.rows }}", "one": "{{ item }}"},
        outputs={"out": "rows"},
        needs=["a"],
        when="{{ steps.a.outputs.rows | length > 0 }}",
        for_each={"items": "{{ steps.a.outputs.rows }}", "limit": 5},
        retry={"attempts": 2, "delay_s": 1.5},
        timeout_s=30,
        on_failure="continue",
    ),
    inputs={"x": SavedInput("v", "request", "str", "words", 0.9, "f.txt", "ab" * 32)},
    reviews={
        "b": StepReview("b", "write", Effects(("/x",)), "approver", ("one",), "v/v/v", "u/u/u")
    },
    returns=["out"],
    description="a plan",
    request="do it",
    settings={"run.x": [1]},
    notes=("n",),
    alternatives=(Alternative("a", "d/a/t", 0.2, "less probable"),),
)
SAVED = json.loads(json.dumps(saved_plan_to_dict(FULL)))
WRITTEN = {key: SAVED[key] for key in ("plan", "io")}
ODD = [None, True, 0, -1, 3.5, 10**6, "", "x", "a-b", "{{ input.x }}", [], ["x"], {}, {"k": 1}]
NEAR_KEYS = ["need", "timeout", "step", "tools", "input", "hashes", "_"]


def parses(data):
    try:
        saved_plan_from_dict(data) if MARK in data else plan_from_dict(data)
    except PlanInvalid:
        return False
    return True


def places(value, path=()):
    """Yield the path of each value in the document."""
    yield path
    if isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(each, (*path, key))


def parent(data, path):
    for key in path[:-1]:
        data = data[key]
    return data


@st.composite
def documents(draw):
    """A plan file with one or two mistakes, or with none."""
    data = copy.deepcopy(draw(st.sampled_from([SAVED, WRITTEN])))
    for _ in range(draw(st.integers(0, 2))):
        path = draw(st.sampled_from([p for p in places(data) if p]))
        box = parent(data, path)
        match draw(st.sampled_from(["change", "drop", "add", "repeat"])):
            case "change":
                box[path[-1]] = copy.deepcopy(draw(st.sampled_from(ODD)))
            case "drop":
                del box[path[-1]]
            case "add" if isinstance(box, dict):
                box[draw(st.sampled_from(NEAR_KEYS))] = copy.deepcopy(draw(st.sampled_from(ODD)))
            case "repeat" if isinstance(box, list):
                box.append(copy.deepcopy(box[path[-1]]))
            case _:
                pass
    return data


@pytest.mark.parametrize("document", [SAVED, WRITTEN], ids=["saved", "written"])
def test_a_plan_file_fits_the_schema(document):
    assert [error.message for error in VALIDATOR.iter_errors(document)] == []
    assert parses(document)


@pytest.mark.seconds
@settings(max_examples=examples(400), deadline=None)
@given(documents())
def test_the_parser_refuses_each_document_that_the_schema_refuses(document):
    errors = [f"{error.json_path}: {error.message}" for error in VALIDATOR.iter_errors(document)]
    assert not (errors and parses(document)), errors


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.pop("plan"),
        lambda d: d["plan"].pop("steps"),
        lambda d: d["plan"].update(steps=[]),
        lambda d: d["plan"].update(steps=d["plan"]["steps"] * 26),
        lambda d: d.update(plans={}),
        lambda d: d["io"].update(inputs=[]),
        lambda d: d["io"].update(params=["x", "x"]),
        lambda d: d["io"].update(params=["a b"]),
        *(
            lambda d, key=key, value=value: d["plan"]["steps"][1].update({key: value})
            for key, value in {
                "id": "a-b",
                "tool": "rm -rf /",
                "sha256": "abc",
                "inputs": [],
                "outputs": {"x": 1},
                "needs": "a",
                "when": "true",
                "for_each": {"items": []},
                "retry": {"attempts": 0},
                "timeout_s": 0,
                "on_failure": "ignore",
                "run": "rm -rf /",
                "command": "ls",
            }.items()
        ),
    ],
)
def test_schema_and_parser_both_refuse_a_malformed_plan(change):
    document = copy.deepcopy(WRITTEN)
    change(document)
    assert not VALIDATOR.is_valid(document)
    assert not parses(document)


@pytest.mark.parametrize(
    "change",
    [
        *(lambda d, key=key: d.pop(key) for key in ("hash", "review", "settings", "catalogue")),
        lambda d: d.update(pulsus_plan=2),
        lambda d: d.update(pulsus_plan=True),
        lambda d: d.update(approved=True),
        lambda d: d["inputs"]["x"].update(source="guess"),
        lambda d: d["inputs"]["x"].pop("value"),
        lambda d: d["review"][1].update(kind="safe"),
        lambda d: d["review"][1].update(effects={"paths": []}),
        lambda d: d["alternatives"][0].pop("why_not"),
    ],
)
def test_schema_and_parser_both_refuse_a_malformed_saved_plan(change):
    document = copy.deepcopy(SAVED)
    change(document)
    assert not VALIDATOR.is_valid(document)
    assert not parses(document)


def test_the_schema_knows_every_key_of_the_parser():
    from pulsus.core.compose.plans.dsl.plan_mapping import PLAN_KEYS, STEP_KEYS
    from pulsus.core.compose.saved_plans import saved_plan_mapping as mapping

    defined = {name: set(each.get("properties", ())) for name, each in SCHEMA["$defs"].items()}
    assert defined["step"] == STEP_KEYS
    assert defined["written_plan"] == PLAN_KEYS
    assert defined["saved_plan"] == mapping._KEYS
    assert defined["input"] == mapping._INPUT_KEYS
    assert defined["review"] == mapping._REVIEW_KEYS
    assert defined["review"] >= {"step", "kind", "effects"}
