"""The record of a turn: trace, counters and events of what happens to its calls.

The file of the trace is written by `core/telemetry/logging.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from pulsus.agent.agent_events import EmitEvent, agent_event
from pulsus.agent.loop.call_draft import CallDraft, CheckedCall, RefusedCall
from pulsus.agent.loop.check_calls import CallRules, NoteVerdict, TurnMoment
from pulsus.agent.loop.run_calls import FinishedCall
from pulsus.agent.loop.run_ports import AgentCounters, RunRecorder
from pulsus.agent.loop.session_state import SessionState
from pulsus.agent.loop.turn.repaired_reads import REPAIRED_CODE
from pulsus.agent.loop.verdict_inputs import session_verdict, verdict_inputs, whole_verdict
from pulsus.agent.tool_protocol import CallOutcome, ProposedCall
from pulsus.agent.tools.cluster.query_wam import QUERY_WAM
from pulsus.agent.tools.cluster.schedule_ha_proposal import SCHEDULE_HA_PROPOSAL
from pulsus.core.types import JsonValue

_UNGROUNDED = "ungrounded"
"""The reason of a refusal whose target was not named."""


class TurnPorts(Protocol):
    """The ports of the loop that a turn uses."""

    @property
    def emit(self) -> EmitEvent: ...
    @property
    def record(self) -> RunRecorder: ...
    @property
    def counters(self) -> AgentCounters: ...
    @property
    def clock(self) -> Callable[[], float]: ...


class TurnRecord:
    """Writes the trace of a turn, counts what happens, and tells those who watch the run."""

    def __init__(self, rules: CallRules, ports: TurnPorts) -> None:
        self._rules, self._ports = rules, ports

    def noting(self, moment: TurnMoment) -> NoteVerdict:
        """Return what records the verdicts of `moment`, each with all that it was decided by."""

        def note(
            state: SessionState, call: ProposedCall, writes: int, checked: CheckedCall
        ) -> None:
            self._ports.record.event(
                "verdict",
                decision=whole_verdict(checked),
                session=session_verdict(checked),
                tool=call.tool,
                args=dict(call.args),
                inputs=verdict_inputs(self._rules, state, call, moment, writes),
                artifacts=[],
            )

        return note

    def proposed(self, call: ProposedCall) -> None:
        """Tell that the model proposed a call."""
        self._ports.emit(agent_event("agent_tool_call", tool=call.tool, args=dict(call.args)))

    def refused(self, refused: RefusedCall, state: SessionState) -> None:
        """Record and count a refusal in the state before it."""
        error, call = refused.response.error, refused.call
        assert error is not None
        self._ports.record.event(
            "refusal",
            decision=error.code,
            tool=call.tool,
            args=dict(call.args),
            kind=refused.kind,
            state=state.gates.workflow.name,
            message=error.message,
            artifacts=[],
        )
        self._count_refusal(refused, state)
        if error.details.get("reason") == _UNGROUNDED:
            self._ports.emit(agent_event("agent_correction", reason=_UNGROUNDED))

    def repaired(self, done: FinishedCall, draft: CallDraft, again: FinishedCall) -> None:
        """Record the second call of a read, which left out what the model had made up."""
        assert draft.repaired is not None
        if again.outcome.response.ok:
            self.recovery_ended(REPAIRED_CODE, draft.call.tool)
        self._ports.record.event(
            "recovery",
            decision=REPAIRED_CODE,
            tool=draft.call.tool,
            args=dict(done.draft.call.args),
            dropped=[*draft.repaired.dropped],
            message=draft.repaired.message,
            ok=again.outcome.response.ok,
            artifacts=[],
        )

    def recovery_began(self, code: str, tool: str) -> None:
        """Count an automatic recovery that was tried."""
        self._ports.counters.count("auto_recovery_attempt_total", error_code=code, tool=tool)

    def recovery_ended(self, code: str, tool: str) -> None:
        """Count an automatic recovery that worked."""
        self._ports.counters.count("auto_recovery_success_total", error_code=code, tool=tool)

    def requested(self, call: ProposedCall, outcome: CallOutcome) -> None:
        """Record a call that only makes a request of a person."""
        self._ports.record.event(
            "proposal",
            decision=call.tool,
            args=dict(call.args),
            ok=outcome.response.ok,
            approval_id=outcome.suspended.approval_id if outcome.suspended else "",
            artifacts=[],
        )

    def write_began(self, draft: CallDraft) -> None:
        """Record a write before it starts."""
        self._ports.record.event(
            "write",
            decision=draft.call.tool,
            args=dict(draft.call.args),
            artifacts=[one.id for one in draft.resources],
        )

    def finished(self, done: FinishedCall, state: SessionState) -> None:
        """Record a call that ran, with the state after it."""
        call = done.draft.call
        self._ports.record.event(
            "call",
            decision=call.tool,
            args=dict(call.args),
            kind=done.draft.kind,
            ok=done.outcome.response.ok,
            duration_ms=round((done.ended - done.started) * 1000),
            state=state.gates.workflow.name,
            artifacts=[*done.outcome.read, *done.outcome.wrote],
        )

    def answered(self, call: ProposedCall, envelope: Mapping[str, JsonValue]) -> None:
        """Tell the result: answers are its `result`, and a plan its `actions` too (contracts)."""
        fields: dict[str, JsonValue] = {"tool": call.tool, **envelope}
        data = envelope.get("data")
        if call.tool == QUERY_WAM and isinstance(data, dict):
            fields["result"] = data.get("answers")
        if call.tool == SCHEDULE_HA_PROPOSAL and isinstance(data, dict):
            fields["actions"] = data.get("actions")
        self._ports.emit(agent_event("agent_tool_result", **fields))

    def _count_refusal(self, refused: RefusedCall, state: SessionState) -> None:
        error, call, count = refused.response.error, refused.call, self._ports.counters.count
        assert error is not None
        count("refusal_total", code=error.code, tool=call.tool)
        match error.code:
            case "FSM_BLOCKED":
                name = state.gates.workflow.name
                count("fsm_tool_block_total", state=name, tool=call.tool, kind=refused.kind)
            case "STRICT_RESOLUTION":
                action = str(error.details.get("action", ""))
                count("strict_resolution_block_total", tool=call.tool, action=action)
            case "ROUTING_MISMATCH":
                ids = error.details.get("more_specific_resource_ids")
                child = str(ids[0]).partition(":")[0] if isinstance(ids, list) and ids else ""
                count(
                    "routing_mismatch_block_total",
                    tool=call.tool,
                    target_kind="host",
                    child_kind=child,
                )
            case _:
                pass
