"""Describe a tool to a person who approves it: its summary, and its side effects apart. Pure.

The question before a run, the cards, the agent's call and the notes of an undo show this text.
"""

from __future__ import annotations

from pulsus.core.types import ToolSpec


def describe_tool(tool: ToolSpec) -> str:
    """Return what the tool does, as one line, with its `Side effects:` if it has any.

    `Side effects:` alone does not say what a tool changes: they come on top of its purpose. The
    caller shows hidden characters (`visible_command`).
    """
    does = _joined(tool.summary).rstrip(".") or "its contract does not say what it does"
    effects = "not stated" if tool.side_effects is None else _joined(tool.side_effects)
    if effects.rstrip(".").lower() in ("", "none"):
        return f"{does}."
    return f"{does}. Side effects: {effects}"


def _joined(text: str) -> str:
    return " ".join(text.split())
