"""Convert values of the index to JSON and back (spec §13). Pure.

The bytes and their checksum are in `routing/index/value_store.py`.

Fields at their default are left out; `decode(encode(x)) == x`.
"""

from __future__ import annotations

import binascii
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

from pulsus.core.types import (
    ArgSpec,
    BrokenTool,
    DeclaredCall,
    Effects,
    Example,
    InlineFile,
    Manifest,
    OutputSpec,
    ShortToolId,
    ToolSpec,
    WarningCode,
)
from pulsus.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class LoadedManifest:
    """A manifest, or None if it cannot be used. `warnings` do not name the file.

    They name the unknown keys of a usable manifest, or the reason why it cannot be used.
    """

    manifest: Manifest | None
    warnings: tuple[str, ...] = ()

    @property
    def code(self) -> WarningCode:
        """The code of the warnings."""
        return "UNKNOWN_KEY" if self.manifest else "WARNING"


Value = ToolSpec | BrokenTool | LoadedManifest


def encode(value: Value) -> dict[str, Any]:
    """Return one JSON object; its only key says which type it is."""
    match value:
        case ToolSpec():
            return {"tool": _tool_to_dict(value)}
        case BrokenTool():
            return {"broken": [str(value.path), value.code, value.reason]}
        case LoadedManifest():
            found = None if value.manifest is None else _non_default_fields(value.manifest)
            return {"manifest": found, "warnings": list(value.warnings)}


def decode(raw: dict[str, Any]) -> Value:
    """Return the value. Raises KeyError, TypeError or ValueError for anything `encode` did not
    make.
    """
    if "tool" in raw:
        return _read_tool(raw["tool"])
    if "broken" in raw:
        path, code, reason = raw["broken"]
        return BrokenTool(Path(path), code, reason)
    found = raw["manifest"]
    return LoadedManifest(None if found is None else _read_manifest(found), tuple(raw["warnings"]))


def _non_default_fields(value: Any) -> dict[str, Any]:
    """Return fields that differ from their default; tuples as lists, paths as text."""
    given = {}
    for name, default in _field_defaults(value.__class__):
        item = getattr(value, name)
        if item is not default and item != default:
            given[name] = str(item) if isinstance(item, Path) else item
    return given


@cache
def _field_defaults(kind: Any) -> tuple[tuple[str, Any], ...]:
    return tuple((field.name, field.default) for field in fields(kind))


def _tool_to_dict(tool: ToolSpec) -> dict[str, Any]:
    raw = _non_default_fields(tool)
    raw["args"] = [_non_default_fields(arg) for arg in tool.args]
    if tool.returns:
        raw["returns"] = [_non_default_fields(output) for output in tool.returns]
    if tool.effects is not None:
        raw["effects"] = _non_default_fields(tool.effects)
    if tool.examples:
        raw["examples"] = [_example_to_dict(example) for example in tool.examples]
    for name in ("verify", "undo"):
        call: DeclaredCall | None = getattr(tool, name)
        if call is not None:
            raw[name] = _non_default_fields(call)
    if tool.manifest is not None:
        raw["manifest"] = _non_default_fields(tool.manifest)
    if tool.contract_errors:
        raw["contract_errors"] = [
            error if isinstance(error, str) else [error.section, error.written]
            for error in tool.contract_errors
        ]
    return raw


def _example_to_dict(example: Example) -> dict[str, Any]:
    raw = _non_default_fields(example)
    raw["files"] = [
        [f.path, binascii.b2a_base64(f.content, newline=False).decode("ascii"), f.age_s]
        for f in example.files
    ]
    return raw


def _read_tool(raw: dict[str, Any]) -> ToolSpec:
    raw["path"] = Path(raw["path"])
    raw["args"] = tuple(ArgSpec(**arg) for arg in raw["args"])
    if "returns" in raw:
        raw["returns"] = tuple(OutputSpec(**output) for output in raw["returns"])
    if "effects" in raw:
        raw["effects"] = Effects(**{k: tuple(v) for k, v in raw["effects"].items()})
    if "examples" in raw:
        raw["examples"] = tuple(_read_example(example) for example in raw["examples"])
    for name in ("verify", "undo"):
        if name in raw:
            raw[name] = DeclaredCall(**raw[name])
    if "manifest" in raw:
        raw["manifest"] = _read_manifest(raw["manifest"])
    if "contract_errors" in raw:
        raw["contract_errors"] = tuple(
            error if isinstance(error, str) else ShortToolId(*error)
            for error in raw["contract_errors"]
        )
    return ToolSpec(**_lists_to_tuples(raw))


def _read_example(raw: dict[str, Any]) -> Example:
    raw["files"] = tuple(
        InlineFile(path, binascii.a2b_base64(content), age) for path, content, age in raw["files"]
    )
    return Example(**raw)


def _read_manifest(raw: dict[str, Any]) -> Manifest:
    return Manifest(**{**_lists_to_tuples(raw), "path": Path(raw["path"])})


def _lists_to_tuples(raw: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(item) if isinstance(item, list) else item for name, item in raw.items()}
