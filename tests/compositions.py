"""Tools for tests of planning, rendering and running: values, and real modules read from source."""

from __future__ import annotations

import hashlib
from pathlib import Path
from textwrap import dedent

from pulsus.core.contract.tool_parser import read_tool
from pulsus.core.types import ArgSpec, BrokenTool, OutputSpec, ToolSpec

ROWS = "list[dict[str, Any]]"


def arg(name, hint="str", *, required=True, default=None, kind="positional_or_keyword"):
    return ArgSpec(name, hint, required and default is None, default, kind=kind)


def spec(tool_id, *args, gives=(), **fields):
    """A tool as a value. `args` are ArgSpecs or names of required strings; `gives` name: hint."""
    *_, action, name = tool_id.split("/")
    domain = tool_id.split("/")[0]
    return ToolSpec(
        id=tool_id,
        path=Path("/workflows") / f"{tool_id}.py",
        entry="run",
        args=tuple(arg(a) if isinstance(a, str) else a for a in args),
        doc=f"{name} does its work.",
        domain=None if domain == "shared" else domain,
        action=action,
        name=name,
        summary=f"{name} does its work.",
        sha256=hashlib.sha256(tool_id.encode()).hexdigest(),
        returns=tuple(OutputSpec(key, hint) for key, hint in dict(gives).items()),
        **{"kind": "read", **fields},
    )


def module(tool_id, text, folder=Path("/workflows")):
    """(tool, source) of a module whose text is given."""
    source = dedent(text).lstrip("\n").encode()
    domain, action, name = tool_id.split("/")
    tool = read_tool(
        source,
        path=folder / f"{name}.py",
        tool_id=tool_id,
        domain=None if domain == "shared" else domain,
        action=action,
        name=name,
        max_bytes=1_000_000,
    )
    assert not isinstance(tool, BrokenTool), tool
    return tool, source


def finder(*tools):
    """Return a function like `Catalogue.find` for these tools."""

    def find(ref):
        bare = ref.removesuffix("::run").removesuffix("::main").removesuffix(".py")
        return tuple(t for t in tools if bare in (t.id, t.name))

    return find
