"""Phase 1 of a turn, enforcement gate 1: judge each proposed call before any runs (deep dive §6).

Refused here: an unknown tool, arguments that do not fit the schema (INVALID_INPUT), more than
`agent.max_turn_calls` calls (`config/settings.py`), a second write in a turn, and a write in the
last two turns. Repeated calls are counted in `agent/answers/repeated_calls.py`, unknown targets
refused in `gates/resources/strict_resolution.py`, unverified writes in
`gates/workflow/workflow_state.py`. Approval and control level are decided in
`agent/control/call_verdict.py`.

A rule returns the envelope that refuses the call, or None. The order of the rules is that of
`judge_call`: a later rule relies on every earlier one. Pure, but for what `ControlRules` asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import islice
from typing import Any

from pulsus.agent.knowledge.knowledge_gate import GateWindow, KnownAnswer, answer_from_facts
from pulsus.agent.loop.call_draft import (
    AnsweredCall,
    CallDraft,
    CheckedCall,
    ControlRules,
    RefusedCall,
    RunCall,
)
from pulsus.agent.loop.session_state import SessionState
from pulsus.agent.tool_protocol import AgentTool, ProposedCall
from pulsus.core.text.similar_names import similar_names
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass, replace
from pulsus.gates.resources.routing_mismatch import refuse_parent
from pulsus.gates.resources.strict_resolution import refuse_action, resolve_targets
from pulsus.gates.tool_descriptors import DescriptorTable
from pulsus.gates.tool_response import ToolResponse, tool_blocked
from pulsus.gates.workflow.workflow_state import refuse_call
from pulsus.llm.structured_answers import make_check


@dataclass(frozen=True, slots=True)
class ArgumentCheck:
    """The schema of a tool's arguments and its check: making one costs as much as three calls."""

    schema: Mapping[str, Any]
    find: Callable[[Any], Iterator[str]]


@dataclass(frozen=True, slots=True)
class CallRules:
    """The fixed parts of a run: the tools, their table, and the rules of the settings.

    Of the calls of a turn the first `max_turn_calls` are judged, and the others refused.
    """

    tools: Mapping[str, AgentTool]
    table: DescriptorTable
    control: ControlRules
    strict: bool
    keep_turns: int
    min_chars: int
    max_turn_calls: int = 6
    _checks: dict[int, ArgumentCheck] = field(default_factory=dict, repr=False, compare=False)

    def find_misfits(self, tool: AgentTool, args: Mapping[str, JsonValue]) -> Iterator[str]:
        """Yield each place where arguments do not fit the tool's schema, and why."""
        schema = tool.descriptor.parameters
        known = self._checks.get(id(schema))
        if known is None:
            # The schema is kept beside its check: no other object can have its id meanwhile.
            known = self._checks[id(schema)] = ArgumentCheck(schema, make_check(schema))
        return known.find(dict(args))


@dataclass(frozen=True, slots=True)
class TurnMoment:
    """The circumstances of one turn: the time in seconds, monotonic, and if a write may begin."""

    now: float
    accepts_writes: bool


NoteVerdict = Callable[[SessionState, ProposedCall, int, CheckedCall], None]
"""Takes note of a verdict: the state before the call, the call, the writes let through before."""


def check_calls(
    rules: CallRules,
    state: SessionState,
    calls: Sequence[ProposedCall],
    moment: TurnMoment,
    note: NoteVerdict = lambda state, call, writes, checked: None,
) -> tuple[SessionState, tuple[CheckedCall, ...]]:
    """Return the state with every call counted, and a verdict on each call, in order.

    At most one call of a turn may write. Calls behind it that read are judged too: they run before.
    """
    checked: list[CheckedCall] = []
    writes = 0
    for call in calls[: rules.max_turn_calls]:
        before = state
        state, found = judge_call(rules, state, call, moment, writes)
        note(before, call, writes, found)
        writes += not isinstance(found, RefusedCall | AnsweredCall) and found.draft.kind == "write"
        checked.append(found)
    checked += [_refuse_excess(rules, call, len(calls)) for call in calls[rules.max_turn_calls :]]
    return state, tuple(checked)


def _refuse_excess(rules: CallRules, call: ProposedCall, proposed: int) -> RefusedCall:
    """Return the refusal of a call behind the most that a turn may have."""
    most = rules.max_turn_calls
    refusal = tool_blocked(
        "INVALID_INPUT",
        f"this turn has {proposed} calls, and only the first {most} are looked at: "
        f"{call.tool} is not",
        proposed_calls=proposed,
        most_calls=most,
        recovery_hint=f"Propose at most {most} calls a turn",
        auto_recoverable=True,
    )
    return RefusedCall(call, rules.table.kind_of(call.tool, call.args), refusal)


def judge_call(
    rules: CallRules, state: SessionState, call: ProposedCall, moment: TurnMoment, writes: int
) -> tuple[SessionState, CheckedCall]:
    """Return the verdict on one call. `writes` is how many of this turn were let through.

    A call whose rules fail is refused: no proposal may end a run, or be let through by an error.
    """
    try:
        return _judge(rules, state, call, moment, writes)
    except Exception as error:  # noqa: BLE001 - whatever a rule or a plugin's tool raises
        text = f"{call.tool} could not be judged ({type(error).__name__}), so it does not run"
        kind = rules.table.kind_of(call.tool, call.args)
        return state, RefusedCall(call, kind, tool_blocked("INVALID_INPUT", text))


def _judge(
    rules: CallRules, state: SessionState, call: ProposedCall, moment: TurnMoment, writes: int
) -> tuple[SessionState, CheckedCall]:
    kind = rules.table.kind_of(call.tool, call.args)
    tool = rules.tools.get(call.tool)
    if tool is None:
        near: list[JsonValue] = [*similar_names(call.tool, sorted(rules.tools))]
        refusal = tool_blocked(
            "NOT_FOUND",
            f"there is no tool {call.tool!r}",
            suggestions=near,
            recovery_hint="Use pulsus_route to find the tool for a task",
        )
        return state, RefusedCall(call, kind, refusal)
    misfit = _find_misfit(rules, tool, call)
    if misfit is not None:
        return state, RefusedCall(call, kind, misfit)
    state, refusal_or_none = _count_call(state, call, tool)
    if refusal_or_none is not None:
        return state, RefusedCall(call, kind, refusal_or_none)
    draft = CallDraft(call, tool, kind, tool.needs(call.args))
    gate = refuse_call(state.gates.workflow, call.tool, kind, draft.needs.targets)
    gate = gate or _refuse_write_now(draft, moment, writes, state)
    if gate is not None:
        return state, RefusedCall(call, kind, gate)
    known = _answer_from_facts(rules, state, tool, call)
    if known is not None:
        keys = [fact.key for fact in known.facts]
        return replace(state, knowledge=state.knowledge.touch(keys)), AnsweredCall(call, known)
    return state, _judge_effects(rules, state, draft, moment.now)


def _answer_from_facts(
    rules: CallRules, state: SessionState, tool: AgentTool, call: ProposedCall
) -> KnownAnswer | None:
    """Return the facts that answer a repeated read, or None if it has to run.

    While a write waits for its read, every read runs. Which of them shows the written resource is
    known only after it ran: it may name it by an alias, by its machine or by nothing at all.
    """
    if not state.gates.workflow.may_answer():
        return None
    window = GateWindow(state.turn, state.fresh_from_turn, rules.keep_turns, rules.min_chars)
    return answer_from_facts(state.knowledge, tool.descriptor, call.args, window, call.digest)


def _judge_effects(
    rules: CallRules, state: SessionState, draft: CallDraft, now: float
) -> CheckedCall:
    """Return the verdict of the rules on targets, commands and control, after one rewrite."""
    found = _resolve(rules, state, draft, now)
    if isinstance(found, RefusedCall):
        return found
    refusal = rules.control.refuse(found)
    if refusal is not None:
        other = None if found.kind == "write" else rules.control.rewrite(found)
        if other is None:
            return RefusedCall(draft.call, draft.kind, refusal, by_control=True)
        found = _with_command(found, other)
        refusal = rules.control.refuse(found)
        if refusal is not None:
            return RefusedCall(found.call, found.kind, refusal, by_control=True)
    decided = RunCall(found) if found.kind == "resolve" else rules.control.decide(found)
    return replace(decided, by_control=True) if isinstance(decided, RefusedCall) else decided


def _resolve(
    rules: CallRules, state: SessionState, draft: CallDraft, now: float
) -> CallDraft | RefusedCall:
    """Return the draft with its resources, or why they may not be acted on."""
    needs, context = draft.needs, state.gates.resources

    def refused(response: ToolResponse) -> RefusedCall:
        return RefusedCall(draft.call, draft.kind, response)

    if needs.not_allowed:
        return refused(tool_blocked("ACTION_NOT_ALLOWED", needs.not_allowed))
    if needs.only_proposes:  # it acts on nothing now; its tool checks every name in the proposal
        return draft
    denied = refuse_action(context, draft.kind, needs.action, needs.targets, now)
    if denied is not None:
        return refused(denied)
    found = resolve_targets(
        context,
        draft.kind,
        needs.action,
        needs.targets,
        now,
        needs_host=bool(needs.command),
        strict=rules.strict,
    )
    if found.refusal is not None:
        return refused(found.refusal)
    mismatch = refuse_parent(context, needs.targets, now) if needs.checks_routing else None
    if mismatch is not None:
        return refused(mismatch)
    if needs.unavailable:
        target = needs.targets[0] if needs.targets else ""
        return refused(
            tool_blocked(
                "EXECUTION_CONTEXT_UNAVAILABLE", needs.unavailable, target_resource_id=target
            )
        )
    return replace(draft, resources=found.resources, warnings=found.warnings)


def _find_misfit(rules: CallRules, tool: AgentTool, call: ProposedCall) -> ToolResponse | None:
    """Return the refusal of arguments that the schema does not take, or None."""
    descriptor = tool.descriptor
    wrong = list(islice(rules.find_misfits(tool, call.args), 3))
    wrong = wrong or [f"{name} has a NUL character" for name in _with_nul(call.args)]
    lacking = descriptor.missing_arguments(call.args) if not wrong else ()
    wrong += [f"{' or '.join(one.split('|'))} is missing" for one in lacking]
    if not wrong:
        return None
    text = f"{call.tool}: {'; '.join(wrong)}"
    return tool_blocked("INVALID_INPUT", text, auto_recoverable=True)


def _with_nul(args: Mapping[str, JsonValue]) -> Iterator[str]:
    """Yield each argument that has a NUL. No path or command has one: system calls raise on it."""
    return (name for name, value in args.items() if any("\0" in text for text in _texts_in(value)))


def _texts_in(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from value
        for each in value.values():
            yield from _texts_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts_in(each)


def _count_call(
    state: SessionState, call: ProposedCall, tool: AgentTool
) -> tuple[SessionState, ToolResponse | None]:
    repeats, refusal = state.repeats.check(tool.descriptor, call.args, call.digest)
    return replace(state, repeats=repeats, calls_made=state.calls_made + 1), refusal


def _refuse_write_now(
    draft: CallDraft, moment: TurnMoment, writes: int, state: SessionState
) -> ToolResponse | None:
    """Return the refusal of a second write of a turn, or of a write near the end of the run."""
    if draft.kind != "write":
        return None
    target = draft.needs.targets[0] if draft.needs.targets else ""
    if writes:
        why, required = "one call of a turn may write, and this turn has one", "verify"
    elif not moment.accepts_writes and not draft.needs.only_proposes:
        why, required = "the last two turns of a run accept no write", "answer"
    else:
        return None
    return tool_blocked(
        "FSM_BLOCKED",
        f"{draft.call.tool} is refused: {why}",
        state=state.gates.workflow.name,
        tool=draft.call.tool,
        required=required,
        target_resource_id=target,
        auto_recoverable=bool(writes),
    )


def _with_command(draft: CallDraft, command: str) -> CallDraft:
    """Return the draft that runs `command` instead. It is judged again."""
    call = replace(draft.call, args={**draft.call.args, "command": command})
    return replace(
        draft,
        call=call,
        needs=draft.tool.needs(call.args),
        rewritten_from=draft.needs.command,
    )
