"""The JSON Schema of one turn's answer: a tool call or a final answer. Pure.

A server that decodes by a schema cannot give another shape. The answer is parsed in
`json_protocol.py`.

Each tool has its own object with a constant name, because small models then pick the right one
(a 1.5B model: 20 of 20).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pulsus.agent.tool_protocol import ProposedCall
from pulsus.core.types import JsonValue
from pulsus.gates.tool_descriptors import ToolDescriptor

_SUPPORTED = frozenset(
    ("type", "enum", "const", "anyOf", "properties", "required", "additionalProperties", "items")
)
"""Keywords that servers decode by. Limits of values are checked when the call is judged."""

FINAL_ANSWER: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "final_answer": {
            "type": "object",
            "properties": {
                "summary": {"type": "string"},
                "confidence": {"type": "string", "enum": ["high", "medium", "low"]},
            },
            "required": ["summary", "confidence"],
            "additionalProperties": False,
        }
    },
    "required": ["final_answer"],
    "additionalProperties": False,
}


def answer_schema(
    tools: Sequence[ToolDescriptor],
    *,
    text_only: bool,
    must_call: bool = False,
    likely: ProposedCall | None = None,
) -> Mapping[str, Any]:
    """Return the schema of an answer.

    With `text_only` only a final answer fits, with `must_call` only a tool call,
    and `likely` is the only call of its tool.
    """
    if text_only or not tools:
        return FINAL_ANSWER
    exact = likely.tool if likely is not None and must_call else ""
    calls = [_call_schema(tool) for tool in tools if tool.name != exact]
    if likely is not None and exact:
        calls.insert(0, _exact_call(likely))
    return {"anyOf": calls if must_call else [*calls, FINAL_ANSWER]}


def _exact_call(call: ProposedCall) -> dict[str, Any]:
    values = {name: _constant(value) for name, value in call.args.items()}
    parameters = {
        "type": "object",
        "properties": values,
        "required": list(values),
        "additionalProperties": False,
    }
    return _wrapped(call.tool, parameters)


def _constant(value: JsonValue) -> dict[str, Any]:
    """Return the schema of exactly this value; of its type only, if it is not a plain value."""
    match value:
        case str() | bool() | int() | float() | None:
            return {"const": value}
        case list():
            return {"type": "array"}
        case _:
            return {"type": "object"}


def _call_schema(tool: ToolDescriptor) -> dict[str, Any]:
    return _wrapped(tool.name, keep_supported(tool.parameters))


def _wrapped(name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    call = {
        "type": "object",
        "properties": {"name": {"type": "string", "const": name}, "parameters": parameters},
        "required": ["name", "parameters"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"tool_call": call},
        "required": ["tool_call"],
        "additionalProperties": False,
    }


def keep_supported(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema with the keywords that servers know, in every schema within it."""
    kept: dict[str, Any] = {k: v for k, v in schema.items() if k in _SUPPORTED}
    if "properties" in kept:
        kept["properties"] = {n: keep_supported(p) for n, p in kept["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(kept.get(key), Mapping):
            kept[key] = keep_supported(kept[key])
    if "anyOf" in kept:
        kept["anyOf"] = [keep_supported(part) for part in kept["anyOf"]]
    return kept
