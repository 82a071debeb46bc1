"""Values of a plan that reach a tool as another type are named for the reviewer."""

from dataclasses import replace

import pytest

from pulsus.core.compose.plans.conversion_notes import list_conversions, list_json_files
from pulsus.core.compose.plans.dsl.plan_mapping import plan_from_dict
from pulsus.core.compose.plans.type_check import find_type_problems
from pulsus.core.types import ParamRef
from tests.compositions import arg, spec

GIVES, TAKES = "d/a/gives", "d/a/takes"


def planned(given, wanted, value="{{ steps.a.outputs.x }}", **control):
    """Return a plan that wires an output of one type to an input of another, and its tools."""
    plan = plan_from_dict(
        {
            "plan": {
                "steps": [
                    {"id": "a", "tool": GIVES, "inputs": {}, "outputs": {"x": "x"}, **control},
                    {"id": "b", "tool": TAKES, "inputs": {"y": value}, "outputs": {}},
                ]
            },
            "io": {"params": [], "returns": []},
        }
    )
    tools = {
        GIVES: spec(GIVES, gives={"x": given}),
        TAKES: spec(TAKES, arg("y", wanted)),
    }
    return plan, tools


@pytest.mark.parametrize(
    ("given", "wanted", "said"),
    [
        ("int", "float", "whole number, and is taken as a decimal one"),
        ("str", "Path", "is text, and is taken as a path"),
        ("Path", "str", "is a path, and is taken as text"),
        ("str | None", "str", "may be null"),
        ("tuple[int, ...]", "list[int]", "another kind of list"),
    ],
)
def test_a_converted_value_is_named(given, wanted, said):
    plan, tools = planned(given, wanted)
    assert find_type_problems(plan, tools, {}) == ()
    (note,) = list_conversions(plan, tools)
    assert note.startswith("conversion: b.y: 'x' of a")
    assert said in note


def test_a_value_in_a_text_is_named():
    plan, tools = planned("int", "str", "n is {{ steps.a.outputs.x }}")
    assert list_conversions(plan, tools) == (
        "conversion: b.y: 'x' of a is int, and is written as text",
    )


def test_values_of_items_are_named_as_a_list():
    plan, tools = planned("int", "list[int]", for_each={"items": [1, 2], "limit": 2})
    (note,) = list_conversions(plan, tools)
    assert "one value an item as a list" in note


@pytest.mark.parametrize("kind", ["str", "int", "list[str]", "dict[str, int]", "str | None"])
def test_a_value_that_stays_as_it_is_gives_no_note(kind):
    assert list_conversions(*planned(kind, kind)) == ()


def test_a_number_for_a_text_is_refused_and_not_converted():
    plan, tools = planned("int", "str")
    assert "does not fit" in find_type_problems(plan, tools, {})[0].text


@pytest.mark.parametrize(
    ("given", "path", "is_told"),
    [
        ("list[dict[str, Any]]", "report.md", True),
        ("dict[str, int]", "/srv/a.csv", True),
        ("list[dict[str, Any]]", "report.JSON", False),
        ("list[dict[str, Any]]", "report", False),
        ("list[dict[str, Any]]", None, False),
        ("str", "report.md", False),
    ],
)
def test_rows_that_are_saved_as_json_in_another_kind_of_file_are_named(given, path, is_told):
    """The plan proposed report.md for a file of JSON without a word."""
    plan, tools = planned(given, "str | list[dict[str, Any]] | dict[str, Any]")
    content, file = tools[TAKES].args[0], arg("path", "str")
    content = replace(content, description="The report: text, or a value for JSON.")
    tools[TAKES] = replace(tools[TAKES], args=(content, file), target=("path",))
    step = replace(plan.steps[1], inputs={**plan.steps[1].inputs, "path": ParamRef("path")})
    plan = replace(plan, steps=(plan.steps[0], step), params=("path",))
    notes = list(list_json_files(plan, tools, {} if path is None else {"path": path}))
    assert ["is saved as JSON" in note for note in notes] == [True] * is_told
