"""What may be approved without a person (spec §12, ADR 9). Pure.

Every automatic approval goes through `objection`, and no other function grants one. A person's own
approval (a terminal, `--yes`) does not.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pulsus.approvals.known_modules import Novelty
from pulsus.core.compose.plans import step_links
from pulsus.core.storage.candidate_store import Candidate
from pulsus.core.storage.records.target import Target
from pulsus.core.types import Proof, Ranked, RouteOutcome, SubIntent, ToolSpec
from pulsus.errors import ApprovalNeeded, LowConfidence, PulsusError


@dataclass(frozen=True, slots=True)
class RouteApproval:
    """The request that selected a tool or a plan.

    `allowed` is True if automatic approval was asked for. `least` is the least confidence.
    """

    outcome: RouteOutcome
    allowed: bool
    least: float


@dataclass(frozen=True, slots=True)
class GenerationApproval:
    """The request that a module was generated for.

    `allowed` is True if automatic approval was asked for. `asked` is True if a new module was asked
    for, and not only an answer. `strong` is True if two examples of the caller expect different
    results. `placed` is True if the place was given or is clear. `doubt` says why the module may
    know those examples only. `generated` is True if this Pulsus logged these bytes as generated.
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
"""Who approves a module if no person is at the terminal."""


@dataclass(frozen=True, slots=True)
class ApprovalCase:
    """A proven module that an automatic approval is wanted for.

    `shown` is its path as the user writes it. `steps` are the standings of the tools that it calls
    and that are not promoted in their present form, with their paths. `rendered` is True for a plan
    that Pulsus rendered in this run. `step` is True for a module that is a step of such a plan.
    """

    shown: str
    target: Target
    sha256: str
    proof: Proof | None
    standing: Novelty
    candidate: Candidate | None = None
    steps: Mapping[str, tuple[str, Novelty]] = field(default_factory=dict)
    rendered: bool = False
    step: bool = False


def find_objection(
    case: ApprovalCase, approval: RouteApproval | GenerationApproval | NoApproval
) -> PulsusError | None:
    """Return why no automatic approval is given; None if every condition of ADR 9 holds.

    In order: the module is new, and so are the steps it calls. `--non-interactive` asked for the
    rules. The request meets the rules of a route, or of a generated module. The candidate is as
    Pulsus made it. A composition means what the request says, and is proven by behaviour.
    """
    if isinstance(approval, NoApproval):
        return ApprovalNeeded(
            "the module waits for approval, and nobody can be asked here", hint=approval.hint
        )
    not_new = _not_new(case)
    if not_new:
        return not_new
    if isinstance(approval, GenerationApproval):
        return _generation_refusal(case, approval) or _candidate_refusal(case)
    outcome = approval.outcome
    found = auto_approval_refusal(
        outcome, allowed=approval.allowed, least=approval.least
    ) or _candidate_refusal(case)
    return found or (None if case.step else _composition_refusal(case, outcome))


def promote_command(shown: str, target: Target) -> str:
    """The command by which a person approves the module."""
    domain = "" if target.domain is None else f"--domain {target.domain} "
    path = shlex.quote(shown)
    return f"pulsus promote {path} {domain}--action {target.action} --name {target.name} --yes"


def _not_new(case: ApprovalCase) -> ApprovalNeeded | None:
    """Changed bytes of a promoted tool, a copy of one, or a plan that calls such a tool."""
    # Compositions resemble each other because Pulsus renders them all.
    reason = case.standing.known or ("" if case.rendered else case.standing.repeats)
    if reason:
        return ApprovalNeeded(
            f"{case.target.tool_id} is not promoted unattended: {reason}",
            hint=f"look at the change, then: {promote_command(case.shown, case.target)}",
            tool=case.target.tool_id,
        )
    for tool, (shown, known) in case.steps.items():
        reason = known.known or known.repeats
        if reason:
            place = _target(tool)
            return ApprovalNeeded(
                f"{case.target.tool_id} is not promoted unattended: it calls {tool}, and {reason}",
                hint=f"look at the change, then: {promote_command(shown, place)}",
                tool=tool,
            )
    return None


def _target(tool_id: str) -> Target:
    domain, action, name = tool_id.split("/")
    return Target(None if domain == "shared" else domain, action, name)


def auto_approval_refusal(
    outcome: RouteOutcome, *, allowed: bool, least: float
) -> PulsusError | None:
    """Why this route may not be promoted automatically; None where all conditions hold.

    `allowed` is whether automatic approval was asked for, `least` the least confidence.
    """
    if not allowed:
        return ApprovalNeeded(
            "the module is proven and waits for approval, and nobody can be asked here",
            hint="run it on a terminal, or with --non-interactive to approve by the rules",
        )
    unsure = low_confidence(outcome, least)
    if unsure:
        return unsure
    weak = [r for r in _ranked_selection(outcome) if r.p < outcome.tau]
    if weak:
        listed = ", ".join(f"{r.tool.id} (p {_cut_number(r.p)})" for r in weak)
        return ApprovalNeeded(
            f"below τ {outcome.tau:.2f}: {listed}", hint="approve it on a terminal"
        )
    return None


def generated_module_refusal(
    module: str,
    command: str,
    *,
    allowed: bool,
    asked: bool,
    proven: bool,
    placed: bool,
    doubt: str = "",
) -> PulsusError | None:
    """Why a generated module may not be promoted automatically; None where all conditions hold.

    `command` approves it. `asked`: for a new module, not merely for an answer; `proven`: by two
    examples of the caller that expect different results; `placed`: its place was said or clear;
    `doubt`: why it may know those examples only.
    """
    hint = f"read it, then: {command}"
    if not allowed:
        what = "waits for approval, and nobody can be asked here"
    elif not proven:
        what = (
            "is not promoted unattended: that takes two examples of yours that expect different "
            "results, in values and not in `...`"
        )
    elif doubt:
        what = f"is not promoted unattended: {doubt}"
    elif not asked:
        what = "is not promoted unattended: a tool was asked for, not a new one (pulsus generate)"
    elif not placed:
        what = "is not promoted unattended: its place is a guess (--domain, --action)"
    else:
        return None
    return ApprovalNeeded(f"the generated module {module} {what}", hint=hint)


def low_confidence(outcome: RouteOutcome, least: float) -> LowConfidence | None:
    """The error of acting unattended on a request that was not understood well enough."""
    intent = outcome.intent
    if intent.confidence >= least:
        return None
    asked = outcome.clarification.question if outcome.clarification else ""
    return LowConfidence(
        f"confidence {_cut_number(intent.confidence)} is below {least:.2f}"
        + (f"; the question would have been: {asked}" if asked else ""),
        hint="say more precisely what you need, or answer the question on a terminal",
        question=asked,
    )


def _composition_refusal(case: ApprovalCase, outcome: RouteOutcome) -> ApprovalNeeded | None:
    """A plan that may mean something else than the request, or that no example proves."""
    plan = outcome.decision.plan
    if plan is None:
        return None
    clauses = [clause.text for clause in outcome.subintents]
    loose, shared = step_links.find_unconnected_steps(plan), step_links.find_shared_inputs(plan)
    meant = shared and step_links.find_backward_reference(
        clauses if len(clauses) > 1 else ("", outcome.intent.intent)
    )
    if loose:
        why = f"nothing connects {', '.join(loose)} with the steps before"
    elif meant:
        why = (
            f"several steps get the same {', '.join(shared)}, and {meant!r} in the request may "
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
    unlogged = "the decision log does not know these bytes as generated" * (not approval.generated)
    return generated_module_refusal(
        case.shown.rpartition("/")[2],
        promote_command(case.shown, case.target),
        allowed=approval.allowed,
        asked=approval.asked,
        proven=case.proof == "behaviour" and approval.strong,
        placed=approval.placed,
        doubt=approval.doubt or unlogged,
    )


def _candidate_refusal(case: ApprovalCase) -> ApprovalNeeded | None:
    """A candidate that a person rejected, or that is not as Pulsus made it."""
    candidate = case.candidate
    if candidate is None:
        return None
    name = candidate.module.name
    if candidate.status == "rejected":
        return ApprovalNeeded(
            f"{name} was rejected before ({'; '.join(candidate.reasons)}), and nobody can be asked "
            "again here",
            hint="route it on a terminal, or approve it yourself with `pulsus promote`",
        )
    if candidate.sha256 != case.sha256:
        return ApprovalNeeded(
            f"{name} was edited since it was made, and nobody can be asked here",
            hint="approve it yourself with `pulsus promote`, or remove it to have it made anew",
        )
    return None


def _cut_number(value: float) -> str:
    """The number cut, not rounded: what fell short of a limit must not look as if it reached it."""
    return f"{math.floor(value * 1000) / 1000:.3f}"


def _ranked_selection(outcome: RouteOutcome) -> list[Ranked]:
    """The selected tools as they were ranked; a step that its clause does not rank counts as 0."""
    selected, clauses = outcome.decision.selected, outcome.subintents
    if outcome.decision.policy == "compose":
        if len(clauses) != len(selected):
            clauses = (SubIntent("", outcome.candidates),) * len(selected)
        return [_ranked(tool, c.candidates) for tool, c in zip(selected, clauses, strict=True)]
    return [_ranked(tool, outcome.candidates) for tool in selected]


def _ranked(tool: ToolSpec, candidates: Sequence[Ranked]) -> Ranked:
    unranked = Ranked(tool=tool, features={}, weights={}, score=0.0, p=0.0, rank=0)
    return next((r for r in candidates if r.tool.id == tool.id), unranked)
