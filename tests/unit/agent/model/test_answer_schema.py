"""The schema that a model decodes by admits only the tools of the turn (chapter §32.1)."""

from __future__ import annotations

import jsonschema
import pytest

from pulsus.agent.model.answer_schema import answer_schema
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
