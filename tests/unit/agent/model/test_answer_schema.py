"""The schema that a model decodes by admits only the tools of the turn (chapter §32.1)."""

from __future__ import annotations

import jsonschema
import pytest

from pulsus.agent.model.answer_schema import answer_schema
from pulsus.agent.tool_protocol import ProposedCall
from pulsus.gates.built_in_tools import built_in_tools

TOOLS = tuple(built_in_tools().values())
READ = {
    "tool_call": {"name": "pulsus_read", "parameters": {"action": "file", "path": "/etc/hosts"}}
}
FINAL = {"final_answer": {"summary": "x", "confidence": "low"}}


def fits(value, schema):
    return jsonschema.Draft202012Validator(schema).is_valid(value)


def test_a_call_and_an_answer_fit():
    schema = answer_schema(TOOLS, text_only=False)
    assert fits(READ, schema)
    assert fits(FINAL, schema)


@pytest.mark.parametrize(
    "value",
    [
        {"tool_call": {"name": "rm", "parameters": {}}},
        {"tool_call": {"name": "pulsus_read", "parameters": {"action": "erase"}}},
        READ | FINAL,
        {},
    ],
)
def test_what_no_tool_takes_does_not_fit(value):
    assert not fits(value, answer_schema(TOOLS, text_only=False))


def test_no_call_fits_where_only_an_answer_is_asked_for():
    schema = answer_schema(TOOLS, text_only=True)
    assert not fits(READ, schema)
    assert fits(FINAL, schema)


def test_only_a_call_fits_before_anything_was_read():
    schema = answer_schema(TOOLS, text_only=False, must_call=True)
    assert fits(READ, schema)
    assert not fits(FINAL, schema)


def test_the_likely_call_is_the_only_one_of_its_tool():
    likely = ProposedCall("suggested", "pulsus_read", {"action": "file", "path": "/etc/hosts"})
    schema = answer_schema(TOOLS, text_only=False, must_call=True, likely=likely)
    other = {"tool_call": {"name": "pulsus_read", "parameters": {"action": "file"}}}
    route = {"tool_call": {"name": "pulsus_route", "parameters": {"request": "x"}}}
    assert [fits(each, schema) for each in (READ, other, route)] == [True, False, True]
