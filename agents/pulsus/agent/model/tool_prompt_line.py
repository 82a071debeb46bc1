"""A tool as one line of the agent's prompt: name, parameters with types, and description. Pure.

The lines of the built-in tools have 63 % of the characters of their JSON Schemas. They describe
calls for the model only: constrained decoding and the gates use the schema.

The schema of a catalogue tool is made in `agent/tools/catalogue/contract_schema.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from pulsus.gates.tool_descriptors import ToolDescriptor

_TARGET: Final = {"target_resource_id|target_host": "a target"}
_SECOND: Final = {"target_host": "target_resource_id"}
"""A parameter that is not described where the other one is: it says the same, and costs tokens."""
_WORD: Final = re.compile(r"[\w./:@+-]+")


def tool_prompt_line(tool: ToolDescriptor) -> str:
    """Return the line: `name(path: string, lines?: integer): Show the end of a file.`

    A `?` marks a parameter that may be left out, and `|` separates the values that are allowed.
    Behind the description are the parameters that some actions need.
    """
    description = " ".join(tool.description.split())
    return f"{tool.name}({_members(tool.parameters)}): {description}{_needs(tool)}"


def _needs(tool: ToolDescriptor) -> str:
    by_names: dict[tuple[str, ...], list[str]] = {}
    shown = tool.parameters.get("required", ())
    for action, needed in tool.needs.items():
        if names := tuple(_TARGET.get(one, one) for one in needed if one not in shown):
            by_names.setdefault(names, []).append("always" if action == "*" else action)
    groups = (f"{'|'.join(actions)}: {', '.join(names)}" for names, actions in by_names.items())
    return f" Needs {'; '.join(groups)}." if by_names else ""


def _members(schema: Mapping[str, Any]) -> str:
    required, properties = schema.get("required", ()), schema.get("properties", {})
    return ", ".join(
        f"{name}{'' if name in required else '?'}: {_type_of(one)}"
        for name, one in properties.items()
        if _SECOND.get(name) not in properties
    )


def _type_of(schema: Mapping[str, Any]) -> str:
    match schema:
        case {"const": value}:
            return _value(value)
        case {"enum": [*values]}:
            return "|".join(map(_value, values))
        case {"anyOf": [*parts]}:
            return "|".join(map(_type_of, parts))
        case {"type": "array", "items": Mapping() as items}:
            return f"[{_type_of(items)}]"
        case {"properties": Mapping()}:
            return f"{{{_members(schema)}}}"
        case {"type": [*names]}:
            return "|".join(map(str, names))
        case {"type": name}:
            return str(name)
        case _:
            return "any"


def _value(value: object) -> str:
    """Return the value as a plain word, or as JSON if it is more than a word."""
    plain = isinstance(value, str) and _WORD.fullmatch(value)
    return str(value) if plain else json.dumps(value, ensure_ascii=False)
