"""Loop detection: refuse calls and turns that make no progress (deep dive §7). Pure.

The same call with the same arguments is refused (LOOP_DETECTED) after `agent.max_identical_calls`,
and after `agent.max_error_turns` failed turns an answer is asked for (`agent/loop/turn_budget.py`).
Both numbers are in `config/settings.py`. The number of calls in one turn is limited in
`agent/loop/check_calls.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from pulsus.agent.call_digest import call_digest
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass, replace
from pulsus.gates.tool_descriptors import ToolDescriptor
from pulsus.gates.tool_response import ToolResponse, tool_blocked


@dataclass(frozen=True, slots=True)
class CountedCall:
    """The number of times that one call was proposed."""

    writes: bool
    count: int


@dataclass(frozen=True, slots=True)
class RepeatedCalls:
    """The calls of a run by their digest, the least recent first.

    `max_identical` equal calls run, the next one is refused. `max_calls` digests are kept: the
    memory of a long run is bounded.
    """

    max_identical: int
    max_calls: int
    calls: dict[str, CountedCall] = field(default_factory=dict)

    def count(self, digest: str) -> int:
        """Return how often a call of this digest was proposed."""
        found = self.calls.get(digest)
        return found.count if found is not None else 0

    def check(
        self, descriptor: ToolDescriptor, args: Mapping[str, JsonValue], digest: str = ""
    ) -> tuple[RepeatedCalls, ToolResponse | None]:
        """Return the state with this call, and the LOOP_DETECTED answer if it is one too many.

        Tools that poll are never refused. `digest` is that of the call, if it is known already.
        """
        if descriptor.polls:
            return self, None
        digest = digest or call_digest(descriptor.name, args)
        before = self.calls.get(digest)
        earlier = before.count if before is not None else 0
        if earlier >= self.max_identical:
            return self, _refuse(descriptor.name, earlier)
        calls = self.calls.copy()  # `dict(…)` is ten times slower after deletions
        calls.pop(digest, None)
        calls[digest] = CountedCall(descriptor.kind_of(args) == "write", earlier + 1)
        while len(calls) > max(self.max_calls, 1):
            del calls[next(iter(calls))]
        return replace(self, calls=calls), None

    def after_write(self) -> RepeatedCalls:
        """Return the state after a write took effect: reads start anew, writes do not.

        The read that verifies a write is often one that ran before it. Refusing it would leave the
        run in VERIFYING for ever.
        """
        writes = {digest: call for digest, call in self.calls.items() if call.writes}
        return replace(self, calls=writes)


def _refuse(tool: str, times: int) -> ToolResponse:
    return tool_blocked(
        "LOOP_DETECTED",
        f"{tool} was called {times} times with the same arguments: use its results, or call it "
        "with other arguments",
        tool=tool,
        identical_calls=times,
        recovery_hint="use_earlier_result",
    )


@dataclass(frozen=True, slots=True)
class ErrorTurns:
    """The number of turns in a row in which every call failed or was refused."""

    in_a_row: int = 0

    def after_turn(self, succeeded: Iterable[bool]) -> ErrorTurns:
        """Return the state after a turn. A turn without calls changes nothing."""
        results = tuple(succeeded)
        if not results:
            return self
        return ErrorTurns(0 if any(results) else self.in_a_row + 1)

    def is_stuck(self, limit: int) -> bool:
        """Return True after `limit` such turns: the next turn is forced to be text."""
        return self.in_a_row >= limit
