"""A read that could not read anything (docs/tool-contract.md, "Rules for what it returns"). Pure.

The worker checks the steps of a composition with it, so it imports nothing when it loads.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any

    from pulsus.core.types import ToolSpec
    from pulsus.errors import SourceUnreadable

UNREAD_STEP = "UnreadStep"
"""The type of the failure in the report of a composition."""

_SAVED = ("path", "file", "export")
"""Names of inputs that take a saved copy of the source."""


def read_reason(result: object) -> str | None:
    """Return why a read has no answer; None for an answer, also for a partial one.

    Its `error` says so, and every other value is empty or zero. A result with a true or false
    value is a check: its `error` is a finding, for example a closed port or a damaged archive.
    """
    if not isinstance(result, dict):
        return None
    reason = result.get("error")
    if not isinstance(reason, str) or not reason.strip():
        return None
    others = [value for name, value in result.items() if name != "error"]
    return None if any(value or value is False for value in others) else reason


def describe_unread_step(unit: Mapping[str, Any], result: object) -> str | None:
    """Return why a step of a composition has no answer; None if it has one."""
    reason = read_reason(result) if unit["kind"] == "read" and not unit["success"] else None
    return reason and f"step {unit['id']} could not read what it reports on: {reason}"


def source_failure(
    tool: ToolSpec, result: object, given: Collection[str] = ()
) -> SourceUnreadable | None:
    """Return the error of a read that read nothing, or None. The result is there all the same.

    `given` are the names of the inputs of the call.
    """
    reason = read_reason(result) if tool.kind == "read" and not tool.success_statuses else None
    if reason is None:
        return None
    from pulsus.core.telemetry.sanitize import one_line
    from pulsus.errors import SourceUnreadable

    error = SourceUnreadable(
        f"{tool.id} could not read what it reports on: {' '.join(reason.split())}",
        tool=tool.id,
        stage="result",
    )
    saved = [a for a in tool.args if a.name in _SAVED and not a.required and a.name not in given]
    ways = [f"add --input {a.name}=…: {one_line(a.description, 100).rstrip('.')}" for a in saved]
    error.offer(*ways, f"`pulsus tools show {tool.id}` says what it reads")
    return error
