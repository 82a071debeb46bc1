"""Phase 3 of a turn: what a session knows after its calls, in call order (deep dive §6). Pure.

If a failed write may have changed something is decided here. If a read has verified a write is
decided by `gates/workflow/workflow_state.py`, which facts a write makes stale by
`agent/knowledge/knowledge_accumulator.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from pulsus.agent.knowledge.knowledge_extractor import facts_of_response
from pulsus.agent.loop.call_draft import CallDraft
from pulsus.agent.loop.call_subjects import (
    machines_of_read,
    subjects_of_read,
    subjects_of_write,
)
from pulsus.agent.loop.run_calls import FinishedCall
from pulsus.agent.loop.session_state import SessionState
from pulsus.agent.tool_protocol import CallOutcome
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import replace
from pulsus.gates.resources.resolved_resource import ResolvedResource
from pulsus.gates.session_gates import SessionGates
from pulsus.gates.tool_response import ToolResponse
from pulsus.gates.workflow.workflow_state import WorkflowState, verification_hint

_INSIDE: Final = "inside "
"""Before the name of a machine: stands for all that is in it."""


def begin_write(state: SessionState, draft: CallDraft) -> SessionState:
    """Return the state while this write runs. It counts as begun before it has any effect."""
    ids = [resource.id for resource in draft.resources] or [*draft.needs.targets]
    subjects = subjects_of_write(draft)
    workflow = state.gates.workflow.begin_write(draft.call.tool, ids, subjects)
    return replace(state, gates=replace(state.gates, workflow=workflow))


def absorb_result(state: SessionState, done: FinishedCall, result_chars: int) -> SessionState:
    """Return the state after a call that ran.

    `result_chars` is the length of the text that the model reads. A failed read verifies nothing. A
    failed write waits for a read like any other, unless it had no effect for certain.
    """
    draft, outcome = done.draft, done.outcome
    if draft.kind == "write":
        state = _absorb_write(state, done)
    elif outcome.response.ok:
        state = _absorb_read(state, done)
    facts = facts_of_response(
        draft.call,
        outcome.response,
        now=done.ended,
        turn=state.turn,
        result_chars=result_chars,
        about=_names_looked_at(draft, outcome),
    )
    known = state.knowledge.remember(facts, state.turn)
    gates, succeeded = state.gates, state.succeeded
    if outcome.response.ok:
        recoveries, _ = gates.recoveries.check_recovery_success(draft.call.tool)
        succeeded += 1
        if recoveries is not gates.recoveries:
            gates = replace(gates, recoveries=recoveries)
    return replace(state, gates=gates, knowledge=known, succeeded=succeeded)


def _absorb_read(state: SessionState, done: FinishedCall) -> SessionState:
    draft, outcome, gates = done.draft, done.outcome, state.gates
    assert draft.kind != "write"
    resources = gates.resources
    if draft.kind == "resolve" and outcome.found:
        resources = resources.add(outcome.found, done.ended)
        if outcome.single:
            ids = [resource.id for resource in outcome.found]
            resources = resources.mark_explicit(ids, done.ended, by_user=False)
    resources = resources.touch([one.id for one in draft.resources], done.ended)
    was_open = not gates.workflow.may_answer()
    workflow = _workflow_after_read(gates, done)
    verified = was_open and workflow.may_answer()
    gates = replace(gates, workflow=workflow, resources=resources)
    return replace(state, gates=gates, verified_write=state.verified_write or verified)


def open_after_read(state: SessionState, done: FinishedCall) -> Mapping[str, JsonValue]:
    """Return what a successful read of a written machine has to name, if it named another thing.

    Empty if it verified the write, or if there is no open write with a known subject.
    """
    workflow = state.gates.workflow
    if done.draft.kind == "write" or not done.outcome.response.ok:
        return {}
    if not any(write.subjects for write in workflow.unverified):
        return {}
    return verification_hint(_workflow_after_read(state.gates, done))


def _workflow_after_read(gates: SessionGates, done: FinishedCall) -> WorkflowState:
    draft, outcome = done.draft, done.outcome
    return gates.workflow.after_read(
        draft.kind,
        outcome.read,
        started=done.started,
        single=outcome.single,
        subjects=subjects_of_read(draft, outcome),
        within=machines_of_read(draft, outcome, _written_machines(gates, done.ended)),
    )


def _absorb_write(state: SessionState, done: FinishedCall) -> SessionState:
    draft, outcome = done.draft, done.outcome
    changed = _may_have_changed(outcome)
    workflow = state.gates.workflow.after_write(outcome.wrote, ended=done.ended, changed=changed)
    knowledge, repeats = state.knowledge, state.repeats
    if changed:
        knowledge = knowledge.after_write(_names_of(draft.resources, outcome.wrote))
        repeats = repeats.after_write()
    resources = state.gates.resources.touch([one.id for one in draft.resources], done.ended)
    gates = SessionGates(workflow, resources, state.gates.recoveries)
    return replace(state, gates=gates, knowledge=knowledge, repeats=repeats)


def _may_have_changed(outcome: CallOutcome) -> bool:
    """Return False only for a write that had no effect for certain.

    A gate of the tool itself that refuses has none, and neither has a failure before the first
    effect. A tool that contradicts itself is not believed.
    """
    error = outcome.response.error
    if error is None or outcome.response.ok or outcome.wrote:
        return True
    return not (error.blocked or outcome.unchanged)


def _written_machines(gates: SessionGates, now: float) -> Iterator[ResolvedResource]:
    for write in gates.workflow.unverified:
        entry = gates.resources.entry(write.resource_id, now)
        if entry is not None:
            yield entry.resource


def _names_of(resources: tuple[ResolvedResource, ...], wrote: tuple[str, ...]) -> list[str]:
    """Return every name of the written resources, of the machines that they are on, and of all
    that is in the written ones."""
    names = [name for one in resources for name in (*one.names, one.host, one.target_host) if name]
    held = [_INSIDE + name for one in resources for name in (one.id, one.name)]
    return [*names, *held, *wrote] if resources or wrote else []


def _names_looked_at(draft: CallDraft, outcome: CallOutcome) -> list[str]:
    """Return every name of the resources that a call looked at, and the machines that hold them.

    A command on a machine may change all that is in it: `docker stop web` the container web.
    """
    seen = (*draft.resources, *(outcome.found if outcome.single else ()))
    names = [name for one in seen for name in one.names]
    holders = [_INSIDE + name for one in seen for name in (one.parent, one.host) if name]
    return [*names, *holders, *outcome.read] if seen else []


def envelope_of(
    response: ToolResponse,
    draft: CallDraft | None,
    not_verified: Mapping[str, JsonValue] | None = None,
) -> Mapping[str, JsonValue]:
    """Return the envelope that the model and the client get, with the warnings of the gates.

    `not_verified` says which write a read left unverified, and what to read instead.
    """
    found = response.to_json()
    plain = draft is None or not (draft.warnings or draft.rewritten_from or draft.repaired)
    if plain and not not_verified:
        return found
    meta = dict(response.meta)
    if not_verified:
        meta["not_verified"] = dict(not_verified)
    if draft is None:
        return {**found, "meta": meta}
    if draft.warnings:
        meta["warnings"] = [*draft.warnings]
    if draft.rewritten_from:
        meta["rewritten_from"] = draft.rewritten_from
        meta["command"] = draft.needs.command
    if draft.repaired:
        meta["dropped_inputs"] = [*draft.repaired.dropped]
        meta["dropped_because"] = (
            f"neither the request nor a result has their values, and the call failed with them: "
            f"{draft.repaired.message}"
        )
    return {**found, "meta": meta}
