"""The tool that bytes define, wherever they lie. Pure."""

from __future__ import annotations

from pathlib import Path

from pulsus.core.contract import read_tool
from pulsus.core.types import BrokenTool, ToolSpec
from pulsus.routing.discovery.tool_path import ToolPath, parse_tool_path

CANDIDATE = "candidate"
"""Action and id prefix of a module outside the catalogue."""


def define_tool(
    source: bytes, path: Path, workflows_root: Path, *, max_bytes: int
) -> ToolSpec | BrokenTool:
    """The tool these bytes are when they lie at `path`; a candidate's id is `candidate/NAME`."""
    where = _path_parts(path, workflows_root)
    return read_tool(
        source,
        path=path,
        tool_id=where.id,
        domain=where.domain,
        action=where.action,
        name=where.name,
        max_bytes=max_bytes,
    )


def _path_parts(path: Path, workflows_root: Path) -> ToolPath:
    if path.is_relative_to(workflows_root):
        found = parse_tool_path(path.relative_to(workflows_root).parts)
        if isinstance(found, ToolPath):
            return found
    return ToolPath(f"{CANDIDATE}/{path.stem}", None, CANDIDATE, path.stem)
