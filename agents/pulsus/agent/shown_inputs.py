"""The inputs of a tool that a model is shown for one request: those that it can give. Pure.

A small model fills what it sees. An optional file to read in place of this machine's own has no
value in most requests, so the model makes one up. The gates still take every input of the contract.

`tool_selection.py` decides which tools are shown at all.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from pulsus.agent.first_call import IsFolder, takes_path
from pulsus.gates.tool_descriptors import ToolDescriptor

_FILE_LIKE: Final = re.compile(r"[/~]|\w\.[a-z]", re.IGNORECASE)
_SAVED: Final = re.compile(
    r"(?:(?:an?|one|another) (?:[\w`]+ ){0,3}|the )(?:file|folder|listing|export|log)\b",
    re.IGNORECASE,
)
_PATH_WORD: Final = re.compile(r"(?<![^\W_])(?:path|file|folder|directory)(?![^\W_])", re.I)


def names_file(request: str) -> bool:
    """Return True if a request may name a file, if only by the end of its name."""
    return _FILE_LIKE.search(request) is not None


def without_files(tool: ToolDescriptor) -> ToolDescriptor:
    """Return a read without the optional inputs for a file in place of this machine's own."""
    if tool.kind != "read":
        return tool
    return _without(tool, {name for name, one in _optional(tool) if _is_file(one)})


def with_kinds(tool: ToolDescriptor, hidden: Collection[str]) -> ToolDescriptor:
    """Return the tool whose input `kind` has no value of `hidden`."""
    properties = tool.parameters["properties"]
    kinds = [one for one in properties["kind"]["enum"] if one not in hidden]
    shown = {**properties, "kind": {**properties["kind"], "enum": kinds}}
    return replace(tool, parameters={**tool.parameters, "properties": shown})


def takes_any(tool: ToolDescriptor, paths: Sequence[str], is_folder: IsFolder) -> bool:
    """Return True if an input of the tool is for one of the paths, by the words about it."""
    instead = {name for name, one in _optional(tool) if tool.kind == "read" and _is_file(one)}
    inputs = [
        f"{name} {one.get('description', '')}"
        for name, one in tool.parameters.get("properties", {}).items()
        if one.get("type") == "string" and "enum" not in one and name not in instead
    ]
    words = [each for each in inputs if _PATH_WORD.search(each)]
    return any(takes_path(each, is_folder(path)) for each in words for path in paths)


def _optional(tool: ToolDescriptor) -> Iterator[tuple[str, Mapping[str, Any]]]:
    required = tool.parameters.get("required", ())
    for name, one in tool.parameters.get("properties", {}).items():
        if name not in required:
            yield name, one


def _is_file(schema: Mapping[str, Any]) -> bool:
    """Return True if an input without a value reads this machine, and with one a file instead."""
    default = schema.get("default")
    if schema.get("type") != "string" or "enum" in schema or not isinstance(default, str):
        return False
    saved = not default and _SAVED.match(schema.get("description", ""))
    return default.startswith("/") or bool(saved)


def _without(tool: ToolDescriptor, names: Collection[str]) -> ToolDescriptor:
    if not names:
        return tool
    properties = tool.parameters["properties"]
    kept = {name: one for name, one in properties.items() if name not in names}
    return replace(tool, parameters={**tool.parameters, "properties": kept})
