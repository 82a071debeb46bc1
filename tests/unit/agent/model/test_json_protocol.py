"""A model's text is read as one call or one answer, or corrected; never guessed (chapter §32.2)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulsus.agent.model.json_protocol import read_answer

CALL = {
    "tool_call": {"name": "pulsus_read", "parameters": {"action": "file", "path": "/etc/hosts"}}
}
FINAL = {"final_answer": {"summary": "All is well.", "confidence": "high"}}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(json.dumps(CALL), id="bare"),
        pytest.param(f"```json\n{json.dumps(CALL)}\n```", id="fenced"),
        pytest.param(f"Let me look.\n{json.dumps(CALL)}\nDone.", id="with prose around"),
        pytest.param("{broken " + json.dumps(CALL), id="a broken brace before it"),
    ],
)
def test_a_call_is_not_lost_in_what_models_write_around_it(text):
    (call,) = read_answer(text, "call-1").calls
    assert (call.tool, call.args["path"]) == ("pulsus_read", "/etc/hosts")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param("I will check.", "no valid JSON object", id="prose"),
        pytest.param('{"tool_call": {"name": "x",}}', "no valid JSON object", id="trailing comma"),
        pytest.param(json.dumps(CALL)[:-5], "no valid JSON object", id="truncated"),
        pytest.param(json.dumps(CALL | FINAL), "both", id="call and answer at once"),
        pytest.param('{"tool_call": {"parameters": {}}}', "needs a name", id="no name"),
        pytest.param('{"tool_call": {"name": "x", "parameters": []}}', "object", id="list"),
        pytest.param('{"final_answer": {"confidence": "high"}}', "summary", id="no summary"),
        pytest.param('{"action": "restart"}', "neither", id="another object"),
        pytest.param('{"tool_call": {"name": "a", "name": "b"}}', "no valid", id="key twice"),
        pytest.param("[1, 2]", "no valid JSON object", id="list only"),
        pytest.param(json.dumps(CALL) + json.dumps(FINAL), "more than one", id="answer behind"),
        pytest.param(f"{json.dumps(CALL)}\n{json.dumps(CALL)}", "more than one", id="two calls"),
        pytest.param(
            f"```json\n{json.dumps(CALL)}\n```\n```json\n{json.dumps(CALL)}\n```",
            "more than one",
            id="two fenced blocks",
        ),
        pytest.param(json.dumps([CALL]), "an array", id="array around a call"),
        pytest.param(json.dumps([[CALL]]), "an array", id="array of arrays"),
        pytest.param("[" + json.dumps(CALL), "an array", id="array that was cut off"),
    ],
)
def test_an_invalid_answer_is_corrected_and_calls_nothing(text, why):
    found = read_answer(text, "call-1")
    assert found.calls == ()
    assert not found.text
    assert why in found.correction


def test_an_unknown_confidence_is_not_taken_for_a_high_one():
    text = json.dumps({"final_answer": {"summary": "x", "confidence": "certain"}})
    assert read_answer(text, "call-1").confidence == "low"


@given(st.text(max_size=400))
def test_no_text_breaks_the_reader(text):
    found = read_answer(text, "call-1")
    assert bool(found.calls) + bool(found.correction) <= 1


@given(
    st.recursive(
        st.none() | st.booleans() | st.text(max_size=5),
        lambda each: (
            st.lists(each, max_size=3) | st.dictionaries(st.text(max_size=5), each, max_size=3)
        ),
        max_leaves=10,
    )
)
def test_arguments_reach_the_gates_as_they_were_written(value):
    text = json.dumps({"tool_call": {"name": "t", "parameters": {"v": value}}})
    (call,) = read_answer(text, "call-1").calls
    assert call.args == {"v": value}
