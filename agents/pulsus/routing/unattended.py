"""What may be approved with nobody watching (spec §12, ADR 9). Pure."""

from __future__ import annotations

import math

from pulsus.core.types import Ranked, RouteOutcome
from pulsus.errors import ApprovalNeeded, LowConfidence, PulsusError


def refusal(outcome: RouteOutcome, *, allowed: bool, least: float) -> PulsusError | None:
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
    weak = [r for r in _chosen(outcome) if r.p < outcome.tau]
    if weak:
        listed = ", ".join(f"{r.tool.id} (p {_floor(r.p)})" for r in weak)
        return ApprovalNeeded(
            f"below τ {outcome.tau:.2f}: {listed}", hint="approve it on a terminal"
        )
    return None


def generated(
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
        f"confidence {_floor(intent.confidence)} is below {least:.2f}"
        + (f"; the question would have been: {asked}" if asked else ""),
        hint="say more precisely what you need, or answer the question on a terminal",
        question=asked,
    )


def _floor(value: float) -> str:
    """The number cut, not rounded: what fell short of a limit must not look as if it reached it."""
    return f"{math.floor(value * 1000) / 1000:.3f}"


def _chosen(outcome: RouteOutcome) -> list[Ranked]:
    if outcome.decision.policy == "compose":
        return [s.candidates[0] for s in outcome.subintents if s.candidates]
    ids = {tool.id for tool in outcome.decision.selected}
    return [r for r in outcome.candidates if r.tool.id in ids]
