"""Auto-recovery, counted: refused calls that a session may still repair (§7).

`agent/loop/turn/turn_calls.py` counts them. They limit nothing: repeated calls are limited in
`agent/answers/repeated_calls.py`.
"""

from __future__ import annotations

from pulsus.fast_dataclass import dataclass, replace
from pulsus.gates.tool_response import ToolErrorCode


@dataclass(frozen=True, slots=True)
class PendingRecovery:
    """A tool that was refused with `code`, and not yet called with success.

    `created` is the time of the first refusal in seconds, monotonic. `attempts` counts refusals.
    """

    recovery_id: str
    code: ToolErrorCode
    tool: str
    created: float
    attempts: int = 1


@dataclass(frozen=True, slots=True)
class PendingRecoveries:
    """The recoveries of a session: one for each code and tool. `last` numbers their ids."""

    pending: tuple[PendingRecovery, ...] = ()
    last: int = 0

    def track(
        self, code: ToolErrorCode, tool: str, now: float
    ) -> tuple[PendingRecoveries, PendingRecovery]:
        """Return the recoveries after a refusal, and the one that it began or repeats."""
        for known in self.pending:
            if (known.code, known.tool) == (code, tool):
                again = replace(known, attempts=known.attempts + 1)
                rest = tuple(again if one is known else one for one in self.pending)
                return replace(self, pending=rest), again
        new = PendingRecovery(f"recovery-{self.last + 1}", code, tool, now)
        return PendingRecoveries((*self.pending, new), self.last + 1), new

    def check_recovery_success(
        self, tool: str
    ) -> tuple[PendingRecoveries, tuple[PendingRecovery, ...]]:
        """Return what is left after a call of `tool` succeeded, and what the success resolved."""
        resolved = tuple(one for one in self.pending if one.tool == tool)
        if not resolved:
            return self, ()
        remaining = tuple(one for one in self.pending if one.tool != tool)
        return replace(self, pending=remaining), resolved
