"""The outside of an agent run: a person, a verifier, a record and counters. Types only.

`agent/agent_session.py` connects them; the trace is written by `core/telemetry/logging.py`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Literal, Protocol

from pulsus.agent.agent_events import EmitEvent
from pulsus.agent.loop.call_draft import AskPerson, CallDraft
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass
from pulsus.gates.tool_response import ToolResponse


@dataclass(frozen=True, slots=True)
class PersonAnswer:
    """The answer to an approval request. "unattended" means that no person can be asked."""

    decision: Literal["approved", "denied", "expired", "unattended"]
    reason: str = ""


class ApprovalAsker(Protocol):
    """Asks a person (`agent/control/person_asker.py`): once, for exactly the call asked about."""

    def describe(self, request: AskPerson) -> dict[str, JsonValue]:
        """Return the fields of the event `approval_needed`: id, command, risk_level, …"""
        ...

    def decide(self, request: AskPerson) -> PersonAnswer:
        """Return the person's answer. Blocks until there is one or the request expires."""
        ...

    def redeem(self, request: AskPerson, now_call: CallDraft) -> ToolResponse | None:
        """Use up the approval for the call as it is now. Returns a refusal if it is another."""
        ...


class WriteVerifier(Protocol):
    """Verifies a write without the model, when turns, budget or time have ended."""

    def verify(self, draft: CallDraft) -> ToolResponse:
        """Return the result of the read that the tool's contract names, or a failure."""
        ...


class RunRecorder(Protocol):
    """The trace of a run. It redacts what it writes, and raises if it cannot be written."""

    def event(self, phase: str, **fields: object) -> None:
        """Append one event."""
        ...


class AgentCounters(Protocol):
    """The counters of the assistant documents, each with the prefix `pulsus_ai_`."""

    def count(self, name: str, **labels: str) -> None:
        """Add one to a counter."""
        ...


@dataclass(frozen=True, slots=True)
class LoopPorts:
    """Everything with an effect that a run uses. `steer` gives messages that arrived meanwhile."""

    emit: EmitEvent
    asker: ApprovalAsker
    verifier: WriteVerifier
    record: RunRecorder
    counters: AgentCounters
    steer: Callable[[], Sequence[str]] = field(default=tuple)
    clock: Callable[[], float] = field(default=time.monotonic)
