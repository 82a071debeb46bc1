"""Who agrees to a run that may change something (contracts: a write tool needs a confirmation).

Pure but for the question. The gate has held a write tool to changing no file while `dry_run` is
true, so such a call is run as a read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pulsus.approvals.protocol import Approver
from pulsus.core.compose.plans.module_source import read_plan
from pulsus.core.types import Constant, JsonValue, ParamRef, PlanStep, ToolSpec
from pulsus.core.validators.effects.effect_check import DRY_RUN, has_dry_run
from pulsus.errors import ApprovalNeeded

RunConsent = Literal["asked", "yes", "dry_run"]
"""How a run of a tool that may write was agreed to: by a person, by `--yes`, or not needed."""


@dataclass(frozen=True, slots=True)
class RunApproval:
    """Who may agree: a person to ask, or the caller beforehand (`yes`); by default nobody."""

    person: Approver | None = None
    yes: bool = False

    def given(self, tool: ToolSpec, *, dry: bool) -> RunConsent:
        """How the run of `tool`, which may write, was agreed to. Raises ApprovalNeeded.

        `tool` has the kind that it counts as; `dry` says that the call only tries.
        """
        if dry:
            return "dry_run"
        if self.yes:
            return "yes"
        if self.person and self.person.confirm_run(tool):
            return "asked"
        tries = f", or see what it would do: --input {DRY_RUN}=true" if has_dry_run(tool) else ""
        raise ApprovalNeeded(
            f"{tool.id} may change things, so it is not run without a confirmation",
            hint=f"confirm it: pulsus run {tool.id} --yes{tries}",
        )


def is_dry_run_call(
    used: Sequence[ToolSpec], source: bytes, inputs: Mapping[str, JsonValue]
) -> bool:
    """Whether the call of `used[0]`, of these bytes, gives `dry_run` true to all that may write.

    `used` are the tool and its steps with the kinds they count as. A default does not count: who
    leaves the argument out may not know of it.
    """
    tool, *steps = used
    if not (has_dry_run(tool) and inputs.get(DRY_RUN) is True):
        return False
    writing = {step.id: step for step in steps if step.kind == "write"}
    plan = read_plan(source) if writing else None
    found = [step for step in plan.steps if step.tool in writing] if plan else []
    return {step.tool for step in found} == writing.keys() and all(
        has_dry_run(writing[step.tool]) and _dry_run_value(step, inputs) is True for step in found
    )


def _dry_run_value(step: PlanStep, inputs: Mapping[str, JsonValue]) -> JsonValue:
    """What the step gets for `dry_run`, as far as it is known before the run."""
    match step.inputs.get(DRY_RUN):
        case Constant(value):
            return value
        case ParamRef(name):
            return inputs.get(name)
        case _:
            return None
