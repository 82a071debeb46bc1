"""The built-in tools of the agent (assistant architecture §7, built_in_tools.yaml).

The YAML file names each tool, its arguments and which of its actions write.
`agent/tools/all_tools.py` makes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pulsus.commands.shipped_data import rules_of
from pulsus.gates.tool_descriptors import CallKind, ToolDescriptor


@cache
def built_in_tools() -> Mapping[str, ToolDescriptor]:
    """Return the descriptor of every built-in tool by its name, in the order of the file."""
    data = rules_of(Path(__file__).with_suffix(".yaml"))
    return {name: _to_descriptor(name, tool, data) for name, tool in data["tools"].items()}


def _to_descriptor(name: str, tool: Mapping[str, Any], data: Mapping[str, Any]) -> ToolDescriptor:
    selector, actions = tool.get("selector", ""), tool.get("actions", {})
    properties: dict[str, Any] = {}
    if selector:
        properties[selector] = {"type": "string", "enum": list(actions)}
    if tool.get("targets"):
        properties |= data["target"]
    properties |= tool.get("arguments", {})
    needs = {action: tuple(names) for action, names in tool.get("needs", {}).items()}
    # A schema cannot say "one of two" in a form that every model's server accepts: `needs` says it.
    always = [one for one in needs.get("*", ()) if "|" not in one]
    kind, kinds = _split_kinds(tool.get("kind"), actions)
    return ToolDescriptor(
        name=name,
        description=tool["description"],
        parameters={
            "type": "object",
            "properties": properties,
            "required": [selector, *always] if selector else always,
            "additionalProperties": False,
        },
        kind=kind,
        selector=selector,
        kinds=kinds,
        needs=needs,
        polls=tool.get("polls", False),
    )


def _split_kinds(
    kind: CallKind | None, actions: Mapping[str, CallKind]
) -> tuple[CallKind | None, Mapping[str, CallKind]]:
    """Return the kind of the tool if all its actions share one, else the kind of each action."""
    shared = {kind} if kind else set(actions.values())
    return (shared.pop(), {}) if len(shared) == 1 else (None, actions)
