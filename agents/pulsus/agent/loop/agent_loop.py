"""The agentic loop: turns until an answer, or until a limit ends the run (§8, §6, §14).

The time limit of a run (`agent.run_seconds` in `config/settings.py`), Ctrl-C, messages that the
user sends meanwhile (steering), the last turn, the exit status and low confidence are decided here.
The number of turns is limited in `turn_budget.py`, and invented answers are found in
`agent/answers/phantom_claims.py`. That a write has to be verified before an answer is the rule of
`gates/workflow/workflow_state.py`.

The loop decides nothing about a call: `check_calls.py` does. It keeps the order of things: a
refusal is recorded before anything else happens, a write counts as begun before it runs, and no
answer leaves a session with a write that is not verified without saying so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Final

from pulsus.agent.agent_events import agent_event
from pulsus.agent.answers.phantom_claims import SAFE_MESSAGE, find_phantom_claim
from pulsus.agent.answers.repeated_calls import ErrorTurns
from pulsus.agent.answers.run_facts import RunFacts, run_note
from pulsus.agent.answers.tool_markup import remove_leaks
from pulsus.agent.answers.ungrounded_numbers import find_ungrounded_numbers
from pulsus.agent.answers.unread_claims import find_unread_subjects
from pulsus.agent.loop.agent_run_values import AgentRunValues
from pulsus.agent.loop.check_calls import CallRules
from pulsus.agent.loop.model_asker import ModelAsker
from pulsus.agent.loop.run_calls import CallRunner
from pulsus.agent.loop.run_ports import LoopPorts
from pulsus.agent.loop.session_state import SessionState
from pulsus.agent.loop.transcript import Transcript, message_size
from pulsus.agent.loop.turn.turn_calls import TurnCalls
from pulsus.agent.loop.turn_budget import TurnBudget
from pulsus.agent.model.proposal import (
    AgentMessage,
    Confidence,
    TurnModel,
    TurnProposal,
    TurnRequest,
    call_hint,
)
from pulsus.agent.tool_protocol import ProposedCall, Suspension
from pulsus.core.types import JsonValue
from pulsus.errors import ModelBudget, ModelError, PulsusError
from pulsus.fast_dataclass import dataclass, replace
from pulsus.gates.tool_descriptors import ToolDescriptor
from pulsus.gates.workflow.workflow_state import refuse_answer

DONE: Final = 0
OUT_OF_TURNS: Final = 1
WAITING: Final = 4
REFUSED: Final = 6
STOPPED: Final = 130
"""Exit statuses of a run (contracts)."""

_LOOK_FIRST: Final = "Nothing was read yet: call a tool first, and answer from its result."
_UNGROUNDED: Final = (
    "No tool result has {numbers}. Answer again: copy numbers with their units from the results, "
    "or call a tool."
)
_REPEATED: Final = "You have this result already. Answer from it, or make another call."
_NO_CALL_NOW: Final = "No tool can be called now: give your final answer."
_NOT_VERIFIED: Final = "not verified: "
_STOPPED_TEXT: Final = "it was stopped"
_TIME_IS_OVER: Final = "the time of the run is over"


@dataclass(frozen=True, slots=True)
class AgentRunEnd:
    """The end of a run: its state, the answer or error, and the exit status.

    `facts` are the deeds of the run. `note` is the sentence about them beside the answer.
    """

    state: SessionState
    summary: str
    confidence: Confidence
    exit_status: int
    suggested: tuple[dict[str, JsonValue], ...] = ()
    error: PulsusError | None = None
    facts: RunFacts = field(default_factory=RunFacts)
    note: str = ""


class AgentLoop:
    """Runs one request. One object serves one run."""

    def __init__(
        self,
        model: TurnModel,
        rules: CallRules,
        runner: CallRunner,
        ports: LoopPorts,
        budget: TurnBudget,
        run_seconds: float,
    ) -> None:
        self._model, self._rules, self._ports, self._budget = model, rules, ports, budget
        self._calls = TurnCalls(rules, runner, ports.asker, ports)
        self._cancellation = runner.cancellation
        self._asker = ModelAsker(model, runner.cancellation, ports)
        self._seconds = run_seconds

    async def run(
        self,
        state: SessionState,
        transcript: Transcript,
        tools: Callable[[SessionState], Sequence[ToolDescriptor]],
        run_id: str,
        *,
        looks_first: bool = False,
        likely: ProposedCall | None = None,
        question: str = "",
        known: str = "",
    ) -> AgentRunEnd:
        """Return the end of the run. `tools` are those offered to the model in a state.

        With `looks_first` the first turn has to call a tool: the request is about a machine.
        `likely` is the call that is suggested. `question` is the text of a request that asks for
        no change; it is empty for every other one. `known` is the state that the run begins with.
        """
        emit = self._ports.emit
        emit(agent_event("agent_start", run_id=run_id, max_turns=self._budget.max_turns))
        run = AgentRunValues(
            replace(state, calls_made=0, succeeded=0, errors=ErrorTurns()), transcript
        )
        run.deadline = self._ports.clock() + self._seconds
        run.looks_first, run.likely, run.question = looks_first, likely, question
        run.seen.add(known)
        for run_turn in range(1, self._budget.max_turns + 1):
            run.turn = run_turn
            run.state = replace(run.state, turn=run.state.turn + 1)
            emit(agent_event("agent_turn", turn=run_turn))
            self._ports.counters.count(
                "agentic_iterations_total", provider=self._model.provider, model=self._model.model
            )
            steering = tuple(self._ports.steer())
            self._rules.control.hear(steering)
            if steering:
                run.question = ""  # a message may ask for a change
            run.transcript.add_user(steering, run.state.turn)
            ended = await self._run_turn(run, tools)
            if ended is not None:
                return ended
        return await self._end_without_answer(run)

    async def _run_turn(
        self, run: AgentRunValues, tools: Callable[[SessionState], Sequence[ToolDescriptor]]
    ) -> AgentRunEnd | None:
        if run.turn == self._budget.max_turns:
            await self._verify_open_writes(run)
        over = self._reason_to_end(run)
        if over is not None:
            return await self._end_early(run, *over)
        text_only = self._budget.is_text_only(run.turn, run.state)
        try:
            proposal = await self._propose(run, tuple(tools(run.state)), text_only)
        except ModelBudget as error:
            return await self._end_early(run, error.message, REFUSED, error)
        except ModelError as error:
            return await self._end_early(run, error.message, error.exit_status, error)
        except TimeoutError:
            return await self._end_early(run, _TIME_IS_OVER, OUT_OF_TURNS)
        if proposal is None:
            return await self._end_early(run, _STOPPED_TEXT, STOPPED)
        self._note_proposal(run, proposal)
        if proposal.correction:
            self._correct(run, "malformed_json", proposal.correction)
            return None
        if proposal.calls and not text_only:
            run.state = replace(run.state, verified_write=False)
            return await self._run_calls(run, proposal)
        if proposal.calls or run.must_call:
            self._correct_kind(run, proposal)
            return None
        return await self._finish(run, proposal)

    def _reason_to_end(self, run: AgentRunValues) -> tuple[str, int] | None:
        """Return why no further turn begins, with the exit status, or None."""
        if self._cancellation.is_cancelled:
            return _STOPPED_TEXT, STOPPED
        return (_TIME_IS_OVER, OUT_OF_TURNS) if self._ports.clock() >= run.deadline else None

    async def _propose(
        self, run: AgentRunValues, tools: tuple[ToolDescriptor, ...], text_only: bool
    ) -> TurnProposal | None:
        """Return the model's proposal, as `ModelAsker.ask` does."""
        run.must_call = run.must_look() and bool(tools) and not text_only
        likely = run.likely if run.must_call and run.turn == 1 else None
        # Only the first turn has the hint: a small model that reads it again repeats the call.
        hint = (AgentMessage("user", call_hint(likely)),) if likely is not None else ()
        size = sum(map(message_size, hint))
        messages = (*run.transcript.messages(run.state, size), *hint)
        ask = TurnRequest(messages, tools, text_only, run.state.turn, run.must_call, likely)
        return await self._asker.ask(ask, run.deadline)

    async def _run_calls(self, run: AgentRunValues, proposal: TurnProposal) -> AgentRunEnd | None:
        before, worked = run.state.calls_made, run.state.succeeded
        left = run.deadline - self._ports.clock()
        writes = self._budget.accepts_writes(run.turn)
        done = await self._calls.run(run.state, proposal.calls, left, accepts_writes=writes)
        run.state = done.state
        # Waiting for a person is no time of the run.
        run.deadline += done.waited_s
        run.suggested += done.suggested
        run.writes += done.writes
        run.note_writes(done)
        for each in done.envelopes:
            run.seen.add_call(each.call.tool, each.call.args, each.envelope)
        run.transcript.add_results(done.envelopes, run.state.turn)
        if done.suspended is not None:
            return self._suspend(run, done.suspended)
        if done.pending is not None and done.pending.ends_run:
            return self._end(run, done.pending.message, "low", WAITING)
        if run.state.succeeded > worked:
            run.waits_for = ""
        elif done.pending is not None:
            run.waits_for = done.pending.message
        nudge = self._budget.nudge(before, run.state.calls_made)
        notes = (done.all_errors_note, _REPEATED if run.repeats(proposal) else "", nudge)
        run.transcript.add_user(notes, run.state.turn)
        return None

    def _suspend(self, run: AgentRunValues, suspended: Suspension) -> AgentRunEnd:
        """Return the end of a run whose request a person decides. The model is not asked again."""
        self._ports.emit(
            agent_event(
                "agent_suspended",
                approval_id=suspended.approval_id,
                plan_count=suspended.plan_count,
                message=suspended.message,
            )
        )
        return self._end(run, suspended.message, "low", WAITING, answer=False)

    async def _finish(self, run: AgentRunValues, proposal: TurnProposal) -> AgentRunEnd | None:
        """Return the final answer, or None if gate 2 sends the model back to verify."""
        blocked = refuse_answer(run.state.gates.workflow)
        if blocked is not None and run.turn < self._budget.max_turns:
            assert blocked.error is not None
            self._ports.counters.count("fsm_final_block_total", state=run.state.gates.workflow.name)
            details = blocked.error.details
            resource, subject = details["target_resource_id"], details.get("subject")
            read = f"{subject} on {resource}" if subject else resource
            self._correct(
                run,
                "verification_required",
                f"Verification required: perform a read or status check on {read} before "
                "responding.",
            )
            return None
        if self._sends_back(run, proposal.text):
            return None
        confidence = proposal.confidence
        names = self._rules.tools.keys()
        claim = find_phantom_claim(proposal.text, names, tools_succeeded=run.state.succeeded)
        text = remove_leaks(proposal.text, names)
        if text != proposal.text:
            self._withdraw_markup(run)
        if claim is not None:
            self._ports.counters.count(
                "phantom_detected_total", provider=self._model.provider, model=self._model.model
            )
            self._ports.emit(agent_event("agent_withdrawn", turn=run.turn, reason="phantom"))
            self._ports.emit(agent_event("agent_correction", reason="phantom"))
            text, confidence = SAFE_MESSAGE, "low"
        if claim is None:  # else the message says it
            run.unsupported = self._unsupported(run, text)
            run.unread = self._unread(run, text)
            run.note = run_note(run.facts(), text, run.question, run.unsupported, run.unread)
        if run.waits_for:
            return self._end(run, f"{run.waits_for}. {text}", "low", WAITING)
        return self._end(run, text, confidence, DONE)

    def _unsupported(self, run: AgentRunValues, answer: str) -> tuple[str, ...]:
        """Return the numbers of an answer that no result of a run with results has."""
        if not run.state.succeeded:
            return ()
        return find_ungrounded_numbers(answer, run.transcript.sources())

    def _unread(self, run: AgentRunValues, answer: str) -> tuple[str, ...]:
        """Return what an answer claims a state of, though no result of this request mentions it."""
        if not run.state.succeeded:
            return ()
        return find_unread_subjects(answer, run.transcript.request, run.seen)

    def _sends_back(self, run: AgentRunValues, answer: str) -> bool:
        """Return True if the answer has numbers that nothing has. Asked once a run."""
        if run.sent_back or run.turn >= self._budget.max_turns:
            return False
        numbers = self._unsupported(run, answer)
        run.sent_back = bool(numbers)
        if numbers:
            message = _UNGROUNDED.format(numbers=", ".join(numbers))
            self._correct(run, "ungrounded", message, figures=list(numbers))
        return run.sent_back

    def _note_proposal(self, run: AgentRunValues, proposal: TurnProposal) -> None:
        run.transcript.add_proposal(proposal, run.state.turn)
        if proposal.leaked:
            self._withdraw_markup(run)

    def _withdraw_markup(self, run: AgentRunValues) -> None:
        """Withdraw the text of a turn that held the markup of a tool call."""
        self._ports.record.event("withdrawn", decision="artifact", artifacts=[])
        self._ports.emit(agent_event("agent_withdrawn", turn=run.turn, reason="artifact"))

    def _correct_kind(self, run: AgentRunValues, proposal: TurnProposal) -> None:
        """Tell the model that this turn takes the other kind of answer."""
        if proposal.calls:
            self._correct(run, "malformed_json", _NO_CALL_NOW)
        else:
            self._correct(run, "nothing_read", _LOOK_FIRST)

    def _correct(self, run: AgentRunValues, reason: str, message: str, **told: JsonValue) -> None:
        self._ports.record.event("correction", decision=reason, artifacts=[])
        self._ports.emit(agent_event("agent_correction", reason=reason, **told))
        run.transcript.add_correction(message, run.state.turn)

    async def _verify_open_writes(self, run: AgentRunValues) -> None:
        """Verify what was written and not read, by the reads that the contracts name."""
        for draft in run.writes:
            ids = {one.id for one in draft.resources}
            if ids & {one.resource_id for one in run.state.gates.workflow.unverified}:
                run.state, note = await self._calls.verify(run.state, draft, self._ports.verifier)
                run.transcript.add_user([note], run.state.turn)

    async def _end_without_answer(self, run: AgentRunValues) -> AgentRunEnd:
        """Return the end of a run whose turns are used up."""
        await self._verify_open_writes(run)
        turns = self._budget.max_turns
        message = f"Agent exhausted {turns} turns without a final answer."
        self._ports.emit(agent_event("agent_max_turns", turns_used=turns, message=message))
        status = OUT_OF_TURNS
        if run.waits_for:
            message, status = f"{run.waits_for}. {message}", WAITING
        return self._end(run, message, "low", status, answer=self._is_open(run))

    async def _end_early(
        self, run: AgentRunValues, why: str, status: int, error: PulsusError | None = None
    ) -> AgentRunEnd:
        """Return the end of a run that cannot go on. An unverified write is verified first."""
        await self._verify_open_writes(run)
        self._ports.emit(agent_event("agent_error", error=why))
        answer = bool(run.writes) or self._is_open(run)
        return self._end(run, f"the run ended early: {why}", "low", status, error, answer=answer)

    def _is_open(self, run: AgentRunValues) -> bool:
        return not run.state.gates.workflow.may_answer()

    def _end(
        self,
        run: AgentRunValues,
        text: str,
        confidence: Confidence,
        status: int,
        error: PulsusError | None = None,
        *,
        answer: bool = True,
    ) -> AgentRunEnd:
        """Return the end, and emit the answer. It says so if a write is not verified."""
        facts = run.facts()
        if self._is_open(run):
            open_ids = [one.resource_id for one in run.state.gates.workflow.unverified]
            text = f"{_NOT_VERIFIED}{', '.join(open_ids)} was changed and not confirmed. {text}"
            confidence = "low"
        suggested = tuple(run.suggested)
        if answer:
            more: dict[str, JsonValue] = {"suggested": [*suggested]} if suggested else {}
            more |= facts.to_json() | ({"note": run.note} if run.note else {})
            unsupported: list[JsonValue] = [*run.unsupported, *run.unread]
            more |= {"unsupported": unsupported} if unsupported else {}
            self._ports.emit(
                agent_event("agent_final", summary=text, confidence=confidence, **more)
            )
        self._ports.record.event(
            "end", decision=str(status), summary=text, confidence=confidence, artifacts=[]
        )
        return AgentRunEnd(run.state, text, confidence, status, suggested, error, facts, run.note)
