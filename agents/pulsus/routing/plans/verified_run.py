"""Run a promoted write, and verify what it changed before anything else runs (§12, ADR 41).

A failed verification is the error `WRITE_UNVERIFIED`, made here. A write of the agent is verified
in `agent/verify_without_model.py`. A composition that writes runs in
`routing/plans/run_composition.py`.

Effects: those of `routing/runs/run_promoted.py` and `routing/plans/verify_write.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from pulsus.approvals.approver_protocol import Approver
from pulsus.approvals.run_consent import RunApproval, input_options
from pulsus.core.telemetry.logging import Trace
from pulsus.core.types import (
    BrokenTool,
    InputValue,
    JsonValue,
    RouteOutcome,
    Verification,
)
from pulsus.errors import ApprovalNeeded, InputMissing, ToolNotFound, UsageError, WriteUnverified
from pulsus.execution.tool_process import RunResult
from pulsus.routing.delivery.candidate_module import read_module
from pulsus.routing.delivery.project_protocol import Project
from pulsus.routing.inputs.missing_inputs import asks_once_before_a_write, unfollowed_words
from pulsus.routing.inputs.rejected_inputs import ask_after_rejection, missing_arguments
from pulsus.routing.plans.run_composition import run_composition
from pulsus.routing.plans.verify_write import says_unchanged, verify_write
from pulsus.routing.runs.run_promoted import ToolRun, prepare_tool, run_prepared


def run_outcome(
    project: Project,
    outcome: RouteOutcome,
    inputs: Mapping[str, JsonValue],
    person: Approver | None,
    trace: Trace,
) -> RouteOutcome:
    """Return the outcome with the result of running what it promoted.

    Raises ToolFailed, UsageError.
    """
    assert outcome.promotion is not None
    path = outcome.promotion.path
    return run_module(project, outcome, (path, read_module(path)), inputs, person, trace)


def run_module(
    project: Project,
    outcome: RouteOutcome,
    module: tuple[Path, bytes],
    inputs: Mapping[str, JsonValue],
    person: Approver | None,
    trace: Trace,
    *,
    rendered: bool = False,
) -> RouteOutcome:
    """Return the outcome with the result of running these bytes, as `run_verified` does."""
    path, source = module
    tool = project.define(source, path)
    if isinstance(tool, BrokenTool):
        raise ToolNotFound(f"{path} is no tool: {tool.reason}")
    request = outcome.intent.intent if rendered else ""
    proposed = {name: value.value for name, value in outcome.proposed.items()}
    once = asks_once_before_a_write(outcome, person)
    consent = RunApproval(
        person,
        given=tuple(input_options(inputs)),
        request=request,
        origins=outcome.inputs,
        unfollowed=unfollowed_words(outcome) if once else (),
    )
    try:
        done, answers = run_verified(
            project, ToolRun(tool, source, inputs, consent, rendered=rendered), proposed
        )
    except InputMissing as refusal:
        return replace(outcome, missing=missing_arguments(refusal, tool), failure=refusal)
    except ApprovalNeeded as refusal:
        return replace(outcome, failure=refusal)
    answered = {name: InputValue(value, "answer") for name, value in answers.items()}
    confinement = dict(done.confinement)
    status = done.script_exit_status
    ended = {} if status is None else {"exit_status": status}
    trace.event(
        "run",
        decision=tool.id,
        duration_ms=done.duration_ms,
        sha256=tool.sha256,
        confinement=confinement,
        **ended,
    )
    if done.verification:
        trace.event(
            "verify",
            decision=tool.id,
            ok=done.verification.ok,
            tool=done.verification.tool,
            reason=done.verification.reason,
        )
    note = verification_note(done.verification, done.result)
    return replace(
        outcome,
        result=done.result,
        ran=True,
        confinement=confinement,
        script_exit_status=status,
        verification=done.verification,
        failure=done.failure,
        inputs={**outcome.inputs, **answered},
        notes=(*outcome.notes, note) if note else outcome.notes,
    )


def run_verified(
    project: Project, run: ToolRun, proposed: Mapping[str, JsonValue] | None = None
) -> tuple[RunResult, dict[str, JsonValue]]:
    """Return the result, as `run_promoted` does, and the answers that it took.

    If the tool rejects its inputs and names others, the person is asked for one, once, with its
    proposed value. Raises InputMissing if it gets none. A run that changed something is verified.
    If its `Verify:` fails, the failure is WriteUnverified, and the result of the write is kept. A
    composition that may write runs step by step.
    """
    answers: dict[str, JsonValue] = {}
    try:
        done = _run(project, run)
    except UsageError as rejection:
        answers = ask_after_rejection(
            rejection, run.tool, run.inputs, proposed or {}, run.consent.person
        )
        run = replace(run, inputs={**run.inputs, **answers})
        done = _run(project, run)
    if not done.wrote or done.verification:
        return done, answers
    if done.failure:
        found = Verification(None, False, f"the run failed: {done.failure.code}")
    else:
        found = verify_write(project, run.tool, run.inputs, done.result)
    failure = done.failure or _verification_failure(run, found)
    return replace(done, verification=found, failure=failure), answers


def _run(project: Project, run: ToolRun) -> RunResult:
    """Run the tool; a composition that writes by the engine of plans."""
    prepared = prepare_tool(project, run.tool, run.source, run.confinement, rendered=run.rendered)
    writes = prepared.may_write and not prepared.is_dry_run(run.inputs)
    if not (prepared.steps and writes):
        return run_prepared(project, run, prepared)
    if run.confinement == "off":
        raise UsageError(
            f"{run.tool.id} is a composition that writes, and it is not run without confinement",
            hint="leave --unconfined out: each step is confined by its own contract",
            tool=run.tool.id,
        )
    return run_composition(project, run, prepared)


def verification_note(found: Verification | None, result: JsonValue) -> str | None:
    """Return one line on a write that was verified, or that has no `Verify:`, and its result.

    None if nothing changed, and for a failed verification: that is an error.
    """
    if found is None:
        return None
    if found.ok:
        if says_unchanged(result):
            return f"nothing had to be changed, which is verified: {found.reason}"
        return f"the change is verified: {found.reason}"
    return None if found.tool else f"the change is not verified: {found.reason}"


def _verification_failure(run: ToolRun, found: Verification) -> WriteUnverified | None:
    """Return the error of a verification that failed; None if it passed, or none is declared."""
    if found.ok or found.tool is None:
        return None
    # A plan that was rendered for this run has an id that no command knows.
    shown = "the plan" if run.rendered else run.tool.id
    return WriteUnverified(
        f"{shown} ran, and {found.tool} does not confirm the change: {found.reason}",
        hint="look at the state yourself before you run it again; "
        "`pulsus tools show ID` has the `Verify:` and `Undo:` of the tool that writes",
        tool=run.tool.id,
        verifier=found.tool,
        reason=found.reason,
    )
