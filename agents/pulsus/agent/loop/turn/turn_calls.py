"""The calls of one turn: check, run, absorb (assistant deep dive §6).

An approval is redeemed here just before the call runs: a call that changed meanwhile is refused. A
denied call gets POLICY_BLOCKED, and a write that no person can approve (unattended) ends the run.

Every refusal is recorded and counted here, in one place, before anything else of the turn happens.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import anyio.to_thread

from pulsus.agent.agent_events import agent_event
from pulsus.agent.answers.result_text import result_text
from pulsus.agent.loop.call_draft import (
    AnsweredCall,
    AskPerson,
    CallDraft,
    CheckedCall,
    RefusedCall,
    RunCall,
)
from pulsus.agent.loop.check_calls import CallRules, TurnMoment, check_calls
from pulsus.agent.loop.run_calls import CallRunner, FinishedCall
from pulsus.agent.loop.run_ports import (
    ApprovalAsker,
    PersonAnswer,
    WriteVerifier,
)
from pulsus.agent.loop.session_state import SessionState
from pulsus.agent.loop.turn.absorb_results import (
    absorb_result,
    begin_write,
    envelope_of,
    open_after_read,
)
from pulsus.agent.loop.turn.repaired_reads import REPAIRED_CODE, repair_read
from pulsus.agent.loop.turn.turn_record import TurnPorts, TurnRecord
from pulsus.agent.loop.turn.turn_result import (
    CallEnvelope,
    PendingApproval,
    TurnProgress,
    TurnResult,
)
from pulsus.agent.tool_protocol import ProposedCall
from pulsus.approvals.run_consent import RunConsent
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import replace
from pulsus.gates.resources.strict_resolution import resolve_targets
from pulsus.gates.tool_response import ToolResponse, tool_blocked

_ALL_FAILED = "Every tool call of this turn failed. Use another tool, or give your final answer."
_RECOVERABLE = "auto_recoverable"
_OTHER_READ = "Use another read that needs no approval, or answer without this one"


class TurnCalls:
    """Handles the calls of a turn."""

    def __init__(
        self, rules: CallRules, runner: CallRunner, asker: ApprovalAsker, ports: TurnPorts
    ) -> None:
        self._rules, self._runner, self._asker, self._ports = rules, runner, asker, ports
        self._record = TurnRecord(rules, ports)

    async def run(
        self,
        state: SessionState,
        calls: Sequence[ProposedCall],
        seconds: float,
        *,
        accepts_writes: bool,
    ) -> TurnResult:
        """Return the state and the envelopes after these calls.

        Reads of the turn end before its write starts, so that none of them can verify it.
        """
        moment = TurnMoment(self._ports.clock(), accepts_writes)
        state, checked = check_calls(self._rules, state, calls, moment, self._record.noting(moment))
        turn = TurnProgress(state)
        for each in checked:
            if isinstance(each, RefusedCall):
                self._refuse(turn, each)
        for each in checked:
            call = each.draft.call if isinstance(each, RunCall | AskPerson) else each.call
            self._record.proposed(call)
        reads = [c.draft for c in checked if isinstance(c, RunCall) and c.draft.kind != "write"]
        for done in await self._runner.run_reads(reads, seconds):
            self._absorb(turn, await self._repair(turn, done, seconds))
        for each in checked:
            await self._run_write(turn, each, seconds)
        return self._finish(turn, checked)

    async def verify(
        self, state: SessionState, draft: CallDraft, verifier: WriteVerifier
    ) -> tuple[SessionState, str]:
        """Return the state after the runtime itself verified a write, and a note for the model."""
        started = self._ports.clock()
        response = await anyio.to_thread.run_sync(verifier.verify, draft)
        ids = tuple(resource.id for resource in draft.resources)
        self._ports.record.event(
            "verify", decision=draft.call.tool, ok=response.ok, artifacts=[*ids]
        )
        if not response.ok:
            why = response.error.message if response.error else "it was not confirmed"
            return state, f"The write of {draft.call.tool} could not be verified: {why}"
        was = state.gates.workflow
        # The verifier chose its read for this write, so it shows all of it.
        subjects = [name for one in was.unverified for name in one.subjects]
        workflow = was.after_read("read", ids, started=started, subjects=subjects)
        gates = replace(state.gates, workflow=workflow)
        return replace(state, gates=gates), f"The write of {draft.call.tool} was verified."

    async def _repair(self, turn: TurnProgress, done: FinishedCall, seconds: float) -> FinishedCall:
        """Return the result of a read, after one more call without inputs that were made up."""
        now = self._ports.clock()
        turn.state, draft = repair_read(
            self._rules, turn.state, done, now, self._record.noting(TurnMoment(now, False))
        )
        if draft is None or draft.repaired is None or self._runner.cancellation.is_cancelled:
            return done
        self._record.recovery_began(REPAIRED_CODE, draft.call.tool)
        again = await self._runner.run_one(draft, max(seconds - (done.ended - done.started), 0.0))
        self._record.repaired(done, draft, again)
        return again

    def _refuse(self, turn: TurnProgress, refused: RefusedCall) -> None:
        """Record and count a refusal, and keep its envelope."""
        error, call = refused.response.error, refused.call
        assert error is not None
        state = turn.state
        recoveries = state.gates.recoveries
        if error.details.get(_RECOVERABLE):
            recoveries, _ = recoveries.track(error.code, call.tool, self._ports.clock())
            self._record.recovery_began(error.code, call.tool)
        turn.state = replace(state, gates=replace(state.gates, recoveries=recoveries))
        self._record.refused(refused, state)
        turn.answers[call.call_id] = envelope_of(refused.response, None)
        if refused.suggestion:
            turn.suggested.append(refused.suggestion)

    async def _run_write(self, turn: TurnProgress, checked: CheckedCall, seconds: float) -> None:
        """Run the write of the turn, after a person approved it where one has to."""
        if not isinstance(checked, RunCall | AskPerson) or checked.draft.kind != "write":
            if isinstance(checked, AskPerson):  # a read that the policy asks about
                await self._ask(turn, checked, seconds)
            return
        if isinstance(checked, AskPerson):
            await self._ask(turn, checked, seconds)
            return
        if checked.draft.needs.only_proposes:
            await self._propose(turn, checked.draft, seconds)
            return
        # In autonomous mode the caller's choice of the level is the consent; a grant is a person's.
        granted: RunConsent = "yes" if checked.grant == "autonomous" else "asked"
        consent = granted if checked.grant else None
        await self._run_one(turn, replace(checked.draft, consent=consent), seconds)

    async def _propose(self, turn: TurnProgress, draft: CallDraft, seconds: float) -> None:
        """Run a call that only makes a request. Nothing was written, so nothing has to be verified.

        The request ends the run; one that no person can decide here ends it too.
        """
        done = await self._runner.run_one(draft, seconds)
        call, outcome = draft.call, done.outcome
        error = outcome.response.error
        if error is not None and error.blocked and error.code != "APPROVAL_REQUIRED":
            self._refuse(turn, RefusedCall(call, draft.kind, outcome.response))
            return
        if error is not None and error.blocked:
            turn.pending = PendingApproval(error.message, ends_run=True)
        turn.answers[call.call_id] = envelope_of(outcome.response, draft)
        turn.suspended = outcome.suspended
        self._record.requested(call, outcome)

    async def _ask(self, turn: TurnProgress, asked: AskPerson, seconds: float) -> None:
        call = asked.draft.call
        fields = self._asker.describe(asked)
        self._ports.record.event("approval_needed", decision=call.tool, artifacts=[], **fields)
        self._ports.emit(agent_event("approval_needed", **fields))
        began = time.monotonic()
        answer: PersonAnswer = await anyio.to_thread.run_sync(self._asker.decide, asked)
        turn.waited_s += time.monotonic() - began
        self._ports.record.event(
            "approval", decision=answer.decision, tool=call.tool, reason=answer.reason, artifacts=[]
        )
        if answer.decision == "unattended":
            text = f"{call.tool} waits for an approval, and no person can be asked here"
            writes = asked.draft.kind == "write"
            if turn.pending is None or writes:
                turn.pending = PendingApproval(text, ends_run=writes)
            hint: dict[str, JsonValue] = {} if writes else {"recovery_hint": _OTHER_READ}
            needed = tool_blocked("APPROVAL_REQUIRED", text, **fields, **hint)
            turn.answers[call.call_id] = envelope_of(needed, None)
            return
        if answer.decision != "approved":
            why = answer.reason or ("it expired" if answer.decision == "expired" else "no reason")
            refusal = tool_blocked("POLICY_BLOCKED", f"Command denied: {why}")
            self._refuse(turn, RefusedCall(call, asked.draft.kind, refusal))
            return
        # The resource may have expired while a person read, and only what was approved may run.
        changed = self._refuse_if_changed(turn.state, asked)
        if changed is not None:
            self._refuse(turn, RefusedCall(call, asked.draft.kind, changed))
            return
        consent: RunConsent = "typed" if getattr(asked.request, "typed", "") else "asked"
        await self._run_one(turn, replace(asked.draft, consent=consent), seconds)

    def _refuse_if_changed(self, state: SessionState, asked: AskPerson) -> ToolResponse | None:
        draft = asked.draft
        found = resolve_targets(
            state.gates.resources,
            draft.kind,
            draft.needs.action,
            draft.needs.targets,
            self._ports.clock(),
            needs_host=bool(draft.needs.command),
            strict=self._rules.strict,
        )
        if found.refusal is not None:
            return found.refusal
        return self._asker.redeem(asked, replace(draft, resources=found.resources))

    async def _run_one(self, turn: TurnProgress, draft: CallDraft, seconds: float) -> None:
        ended = turn.state.gates.workflow.writes
        if draft.kind == "write":
            turn.state = begin_write(turn.state, draft)
            self._record.write_began(draft)
        self._absorb(turn, await self._runner.run_one(draft, seconds))
        if turn.state.gates.workflow.writes > ended:  # not if it had no effect for certain
            turn.writes.append(draft)

    def _absorb(self, turn: TurnProgress, done: FinishedCall) -> None:
        call = done.draft.call
        resolved = _recoveries_of(turn.state, call.tool) if done.outcome.response.ok else ()
        for code in resolved:
            self._record.recovery_ended(code, call.tool)
        left = open_after_read(turn.state, done)
        envelope = envelope_of(done.outcome.response, done.draft, left)
        turn.answers[call.call_id] = envelope
        turn.texts[call.call_id] = text = result_text(envelope)
        turn.state = absorb_result(turn.state, done, len(text))
        self._rules.control.learn(done.outcome)
        self._record.finished(done, turn.state)

    def _finish(self, turn: TurnProgress, checked: Sequence[CheckedCall]) -> TurnResult:
        envelopes = []
        for each in checked:
            if isinstance(each, AnsweredCall):
                call = each.call
                response = each.answer.to_response()
                self._ports.record.event("known", decision=call.tool, artifacts=[])
                turn.answers[call.call_id] = envelope_of(response, None)
            call = each.draft.call if isinstance(each, RunCall | AskPerson) else each.call
            envelope = turn.answers[call.call_id]
            self._record.answered(call, envelope)
            text = turn.texts.get(call.call_id) or result_text(envelope)
            envelopes.append(CallEnvelope(call, envelope, text))
        worked = [bool(each.envelope["ok"]) for each in envelopes]
        known = sum(isinstance(each, AnsweredCall) for each in checked)
        errors = turn.state.errors.after_turn(worked)
        failed = bool(worked) and not any(worked)
        return TurnResult(
            replace(turn.state, errors=errors, succeeded=turn.state.succeeded + known),
            tuple(envelopes),
            tuple(turn.writes),
            tuple(turn.suggested),
            turn.waited_s,
            turn.pending,
            _ALL_FAILED if failed else "",
            turn.suspended,
        )


def _recoveries_of(state: SessionState, tool: str) -> tuple[str, ...]:
    _, resolved = state.gates.recoveries.check_recovery_success(tool)
    return tuple(one.code for one in resolved)
