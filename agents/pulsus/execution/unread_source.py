"""A read that could not read anything (docs/tool-contract.md, "Rules for what it returns"). Pure.

A result whose `error` says that nothing could be read becomes the error SourceUnreadable here.

The worker checks the steps of a composition with it, so it imports nothing when it loads.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from pulsus.core.types import ToolSpec
    from pulsus.errors import SourceUnreadable

_JUDGED = ("read", "resolve")
"""The kinds of tools that change nothing and only answer."""

_SAVED = ("path", "file", "export")
"""Names of inputs that take a saved copy of the source."""


class UnreadStep(RuntimeError):
    """A step that reads could not read what it reports on. Its class name is in the report."""

    def __init__(self, step: str, reason: str) -> None:
        super().__init__(reason)
        self.step = step


def read_reason(result: object, inputs: Mapping[str, Any]) -> str | None:
    """Return why a read has no answer; None for an answer, also for a partial one.

    Its `error` says so, and every other value is empty, zero, or an input that the result repeats
    under its name. A result with a true or false value is a check: its `error` is a finding, for
    example a closed port or a damaged archive.
    """
    if not isinstance(result, dict):
        return None
    reason = result.get("error")
    if not isinstance(reason, str) or not reason.strip():
        return None
    others = [
        value
        for name, value in result.items()
        if name != "error" and not (name in inputs and inputs[name] == value)
    ]
    return None if any(value or value is False for value in others) else reason


def describe_unread_step(
    unit: Mapping[str, Any], result: object, inputs: Mapping[str, Any]
) -> str | None:
    """Return why a step of a composition has no answer; None if it has one."""
    judged = unit["kind"] in _JUDGED and not unit["success"]
    reason = read_reason(result, inputs) if judged else None
    return reason and f"step {unit['id']} could not read what it reports on: {reason}"


def source_failure(
    tool: ToolSpec, result: object, inputs: Mapping[str, Any]
) -> SourceUnreadable | None:
    """Return the error of a read that read nothing, or None. The result is there all the same."""
    judged = tool.kind in _JUDGED and not tool.success_statuses
    reason = read_reason(result, inputs) if judged else None
    if reason is None:
        return None
    from pulsus.core.telemetry.sanitize import one_line
    from pulsus.errors import SourceUnreadable

    error = SourceUnreadable(
        f"{tool.id} could not read what it reports on: {one_line(reason, 1000)}",
        tool=tool.id,
        stage="result",
    )
    ways = (f"add --input {way}" for way in saved_copy_ways(tool, inputs))
    error.offer(*ways, f"`pulsus tools show {tool.id}` says what it reads")
    return error


def saved_copy_ways(tool: ToolSpec, inputs: Mapping[str, Any]) -> list[str]:
    """Return each input that takes a saved copy of the source and was not given, with its text."""
    from pulsus.core.telemetry.sanitize import one_line

    saved = [a for a in tool.args if a.name in _SAVED and not a.required and a.name not in inputs]
    return [f"{a.name}=…: {one_line(a.description, 100).rstrip('.')}" for a in saved]
