"""The consistent envelope of every tool result, and its error codes (tool protocol, §3).

The exit codes of the command line are in `errors.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Final, Literal, get_args

from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass

ToolErrorCode = Literal[
    "STRICT_RESOLUTION",
    "FSM_BLOCKED",
    "ROUTING_MISMATCH",
    "EXECUTION_CONTEXT_UNAVAILABLE",
    "NOT_FOUND",
    "ACTION_NOT_ALLOWED",
    "POLICY_BLOCKED",
    "SENSITIVE_PATH",
    "APPROVAL_REQUIRED",
    "INVALID_INPUT",
    "EXECUTION_FAILED",
    "LOOP_DETECTED",
]
"""Every code that a tool may answer with (contracts, Commands and agent)."""

TOOL_ERROR_CODES: Final[tuple[str, ...]] = get_args(ToolErrorCode)


@dataclass(frozen=True, slots=True)
class ToolError:
    """The error of a tool call.

    `blocked` is True if a gate refused the call, `failed` if it ran and failed. `details` hold
    facts for the next step (`recovery_hint`, `auto_recoverable`, …), never instructions in prose.
    """

    code: ToolErrorCode
    message: str
    blocked: bool = False
    failed: bool = False
    retryable: bool = False
    details: Mapping[str, JsonValue] = field(default_factory=dict)

    def to_json(self) -> dict[str, JsonValue]:
        """Return the error as the envelope has it. Flags that are False are left out."""
        flags = {name: True for name in ("blocked", "failed", "retryable") if getattr(self, name)}
        details: dict[str, JsonValue] = {"details": dict(self.details)} if self.details else {}
        return {"code": self.code, "message": self.message, **flags, **details}


@dataclass(frozen=True, slots=True)
class ToolResponse:
    """The answer to one tool call: `data`, or an `error`."""

    ok: bool
    data: JsonValue = None
    error: ToolError | None = None
    meta: Mapping[str, JsonValue] = field(default_factory=dict)

    def to_json(self) -> dict[str, JsonValue]:
        """Return the envelope of the contracts. Parts that are empty are left out."""
        found: dict[str, JsonValue] = {"ok": self.ok}
        if self.data is not None:
            found["data"] = self.data
        if self.error is not None:
            found["error"] = self.error.to_json()
        if self.meta:
            found["meta"] = dict(self.meta)
        return found


def tool_success(data: JsonValue, **meta: JsonValue) -> ToolResponse:
    """Return the answer of a call that worked."""
    return ToolResponse(True, data, meta=meta)


def tool_blocked(code: ToolErrorCode, message: str, **details: JsonValue) -> ToolResponse:
    """Return the answer to a call that a gate refused. It had no effect."""
    return ToolResponse(False, error=ToolError(code, message, blocked=True, details=details))


def tool_failed(
    code: ToolErrorCode, message: str, *, retryable: bool = False, **details: JsonValue
) -> ToolResponse:
    """Return the answer to a call that ran and failed. It may have had an effect."""
    error = ToolError(code, message, failed=True, retryable=retryable, details=details)
    return ToolResponse(False, error=error)
