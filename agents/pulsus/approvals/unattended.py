"""Unattended promotion: which modules are approved without a person (§12, ADR 9). Pure.

Every automatic approval goes through `find_objection`, and no other function grants one. It asks
for `--non-interactive`, enough confidence, a new module (`known_modules.py`) and a proof. The
approval of a person (at a terminal, or by `--yes`) does not go through it.

Carried out by `routing/delivery/deliver.py`, which asks a person otherwise.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pulsus.approvals.known_modules import Novelty
from pulsus.core.compose.plans import unconnected_steps
from pulsus.core.storage.candidate_store import StoredCandidate
from pulsus.core.storage.records.promotion_target import Target
from pulsus.core.types import Proof, Ranked, RouteOutcome, SubIntent, ToolSpec
from pulsus.errors import ApprovalNeeded, LowConfidence, PulsusError


@dataclass(frozen=True, slots=True)
class RouteApproval:
    """The rules for a route that selected a tool or a plan.

    `allowed` is True with `--non-interactive`. `least` is the lowest confidence to act on.
    """

    outcome: RouteOutcome
    allowed: bool
    least: float


@dataclass(frozen=True, slots=True)
class GenerationApproval:
    """The rules for a generated module.

    `allowed` is True with `--non-interactive`. `asked` is True if the caller asked for a new
    module, and not only for an answer. `strong` is True if two examples of the caller expect
    different results. `placed` is True if the place was given or is clear. `generated` is True if
    the decision log names these bytes as generated. `doubt` is a sign that the module knows the
    examples only.
    """

    allowed: bool
    asked: bool
    strong: bool
    placed: bool
    generated: bool
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class CallerApproval:
    """The caller approved beforehand (`--yes`), which is a person's approval."""


@dataclass(frozen=True, slots=True)
class NoApproval:
    """No rule applies: only a person may approve."""

    hint: str


Approval = RouteApproval | GenerationApproval | CallerApproval | NoApproval
"""The approval that counts if no person is at the terminal."""


@dataclass(frozen=True, slots=True)
class ApprovalCase:
    """A proven module that waits for an automatic approval.

    `shown` is its path as the user writes it. `steps` are the novelties of the tools that it calls
    and that are not promoted in their present form, with their paths. `rendered` is True for a plan
    that Pulsus rendered in this run. `step` is True for a module that is a step of such a plan.
    """

    shown: str
    target: Target
    sha256: str
    proof: Proof | None
    novelty: Novelty
    candidate: StoredCandidate | None = None
    steps: Mapping[str, tuple[str, Novelty]] = field(default_factory=dict)
    rendered: bool = False
    step: bool = False


def find_objection(
    case: ApprovalCase, approval: RouteApproval | GenerationApproval | NoApproval
) -> PulsusError | None:
    """Return the reason against an automatic approval; None if every condition of ADR 9 holds.

    The conditions, in this order:

    - The module is new, and so are the steps it calls.
    - `--non-interactive` was given.
    - The request meets the rules of a route, or of a generated module.
    - The candidate is as Pulsus made it.
    - A composition connects all steps, and its proof is behaviour.
    """
    if isinstance(approval, NoApproval):
        return ApprovalNeeded(
            "the module is not promoted: no person approved it, and none can be asked here",
            hint=approval.hint,
        )
    refusal = _novelty_refusal(case)
    if refusal:
        return refusal
    if isinstance(approval, GenerationApproval):
        return _generation_refusal(case, approval) or _candidate_refusal(case)
    if not approval.allowed and find_objection(case, replace(approval, allowed=True)):
        # A hint at --non-interactive would lead to the next refusal.
        return _person_needed_error(f"look at it, then: {promote_command(case.shown, case.target)}")
    found = auto_approval_refusal(approval) or _candidate_refusal(case)
    return found or (None if case.step else _composition_refusal(case, approval.outcome))


def promote_command(shown: str, target: Target) -> str:
    """Return the command by which a person approves the module."""
    domain = "" if target.domain is None else f"--domain {target.domain} "
    path = shlex.quote(shown)
    return f"pulsus promote {path} {domain}--action {target.action} --name {target.name} --yes"


def _novelty_refusal(case: ApprovalCase) -> ApprovalNeeded | None:
    """Refuse changed bytes of a promoted tool, a copy of one, or a plan that calls such a tool."""
    # Compositions resemble each other because Pulsus renders them all.
    reason = case.novelty.known or ("" if case.rendered else case.novelty.repeats)
    if reason:
        return ApprovalNeeded(
            f"{case.target.tool_id} is not promoted unattended: {reason}",
            hint=f"look at the change, then: {promote_command(case.shown, case.target)}",
            tool=case.target.tool_id,
        )
    for tool, (shown, known) in case.steps.items():
        reason = known.known or known.repeats
        if reason:
            place = _target_of_id(tool)
            return ApprovalNeeded(
                f"{case.target.tool_id} is not promoted unattended: it calls {tool}, and {reason}",
                hint=f"look at the change, then: {promote_command(shown, place)}",
                tool=tool,
            )
    return None


def _target_of_id(tool_id: str) -> Target:
    domain, action, name = tool_id.split("/")
    return Target(None if domain == "shared" else domain, action, name)


def auto_approval_refusal(approval: RouteApproval) -> PulsusError | None:
    """Return why this route may not be promoted automatically; None if every condition holds."""
    outcome = approval.outcome
    if not approval.allowed:
        return _person_needed_error(
            "approve it on a terminal, or let the rules approve it: add --non-interactive"
        )
    unsure = low_confidence(outcome, approval.least)
    if unsure:
        return unsure
    weak = [r for r in _ranked_selection(outcome) if r.p < outcome.tau]
    if weak:
        listed = ", ".join(f"{r.tool.id} (p {_cut_number(r.p)})" for r in weak)
        return ApprovalNeeded(
            f"below τ {outcome.tau:.2f}: {listed}", hint="approve it on a terminal"
        )
    return None


def _person_needed_error(hint: str) -> ApprovalNeeded:
    return ApprovalNeeded(
        "the module is proven and waits for approval, and no person can be asked here", hint=hint
    )


def low_confidence(outcome: RouteOutcome, least: float) -> LowConfidence | None:
    """Return the error of a request that was not understood well enough to act unattended."""
    intent = outcome.intent
    if intent.confidence >= least:
        return None
    asked = outcome.clarification
    return LowConfidence(
        f"confidence {_cut_number(intent.confidence)} is below {least:.2f}"
        + (f"; the question would have been: {asked.in_one_line}" if asked else ""),
        hint="say more precisely what you need, or answer the question on a terminal",
        question=asked.question if asked else "",
    )


def _composition_refusal(case: ApprovalCase, outcome: RouteOutcome) -> ApprovalNeeded | None:
    """Refuse a plan that may not be what the request says, or that no example proves."""
    plan = outcome.decision.plan
    if plan is None:
        return None
    clauses = [clause.text for clause in outcome.subintents]
    loose, shared = (
        unconnected_steps.find_unconnected_steps(plan),
        unconnected_steps.find_shared_inputs(plan),
    )
    reference = shared and unconnected_steps.find_backward_reference(
        clauses if len(clauses) > 1 else ("", outcome.intent.intent)
    )
    if loose:
        why = f"nothing connects {', '.join(loose)} with the steps before"
    elif reference:
        why = (
            f"several steps get the same {', '.join(shared)}, and {reference!r} in the request may "
            "mean an earlier result"
        )
    elif case.proof != "behaviour":
        why = "its proof is shape: no example says what the result must be"
    else:
        return None
    return ApprovalNeeded(
        f"the composition {case.target.name} is not promoted unattended: {why}",
        hint=f"look at the plan, then: {promote_command(case.shown, case.target)}",
    )


def _generation_refusal(case: ApprovalCase, approval: GenerationApproval) -> PulsusError | None:
    """Return why a generated module may not be promoted automatically; None if it may."""
    doubt = approval.doubt
    if not approval.generated:
        doubt = doubt or "the decision log does not know these bytes as generated"
    if not approval.allowed:
        what = "waits for approval, and no person can be asked here"
    elif case.proof != "behaviour" or not approval.strong:
        what = (
            "is not promoted unattended: that takes two examples of yours that expect different "
            "results, in values and not in `...`"
        )
    elif doubt:
        what = f"is not promoted unattended: {doubt}"
    elif not approval.asked:
        what = "is not promoted unattended: a tool was asked for, not a new one (pulsus generate)"
    elif not approval.placed:
        what = "is not promoted unattended: its place is a guess (--domain, --action)"
    else:
        return None
    return ApprovalNeeded(
        f"the generated module {case.shown.rpartition('/')[2]} {what}",
        hint=f"read it, then: {promote_command(case.shown, case.target)}",
    )


def _candidate_refusal(case: ApprovalCase) -> ApprovalNeeded | None:
    """Refuse a candidate that a person rejected, or that was edited."""
    candidate = case.candidate
    if candidate is None:
        return None
    name = candidate.module.name
    if candidate.status == "rejected":
        return ApprovalNeeded(
            f"{name} was rejected earlier ({'; '.join(candidate.reasons)}), and no person can be "
            "asked again here",
            hint="route it on a terminal, or approve it yourself with `pulsus promote`",
        )
    if candidate.sha256 != case.sha256:
        return ApprovalNeeded(
            f"{name} was edited since Pulsus made it, and no person can be asked here",
            hint="approve it yourself with `pulsus promote`, or remove it to have it made anew",
        )
    return None


def _cut_number(value: float) -> str:
    """Cut the number instead of rounding it: 0.5996 must not look as if it reached 0.600."""
    return f"{math.floor(value * 1000) / 1000:.3f}"


def _ranked_selection(outcome: RouteOutcome) -> list[Ranked]:
    """Return the selected tools as they were ranked; p is 0 for a step that its clause lacks."""
    selected, clauses = outcome.decision.selected, outcome.subintents
    if outcome.decision.policy == "compose":
        if len(clauses) != len(selected):
            clauses = (SubIntent("", outcome.candidates),) * len(selected)
        return [_ranked_tool(tool, c.candidates) for tool, c in zip(selected, clauses, strict=True)]
    return [_ranked_tool(tool, outcome.candidates) for tool in selected]


def _ranked_tool(tool: ToolSpec, candidates: Sequence[Ranked]) -> Ranked:
    unranked = Ranked(tool=tool, features={}, weights={}, score=0.0, p=0.0, rank=0)
    return next((r for r in candidates if r.tool.id == tool.id), unranked)
