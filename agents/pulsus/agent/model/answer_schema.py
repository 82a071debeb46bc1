"""The JSON Schema of one turn's answer: a tool call or a final answer. Pure.

Each tool has its own object with a constant name, because small models then pick the right one
(a 1.5B model: 20 of 20).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

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


def answer_schema(tools: Sequence[ToolDescriptor], *, text_only: bool) -> Mapping[str, Any]:
    """Return the schema of an answer. With `text_only` only a final answer fits."""
    if text_only or not tools:
        return FINAL_ANSWER
    return {"anyOf": [*(_call_schema(tool) for tool in tools), FINAL_ANSWER]}


def _call_schema(tool: ToolDescriptor) -> dict[str, Any]:
    call = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "const": tool.name},
            "parameters": keep_supported(tool.parameters),
        },
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
