"""Run a composition that may write, step by step (docs/plans.md, order of a run).

The steps of a composition that only reads run in `execution/composition_runner.py`.

Each write is verified before the next step starts, and the run is in the journal, so that `pulsus
runs resume` goes on with it. Effects: those of `routing/plans/apply_plan.py`.
"""

from __future__ import annotations

import time
from dataclasses import replace

from pulsus.approvals.approver_protocol import WriteRun
from pulsus.approvals.run_consent import RunConsent
from pulsus.core.compose.plans.module_source import read_plan
from pulsus.core.types import JsonValue, Plan, Verification
from pulsus.execution.engine.progress import RunProgress, StepProgress
from pulsus.execution.journal.run_records import StepRecord
from pulsus.execution.tool_process import RunResult
from pulsus.fast_dataclass import dataclass
from pulsus.routing.delivery.project_protocol import Project
from pulsus.routing.plans.apply_plan import AppliedRun, apply_plan
from pulsus.routing.plans.save_plan import save_plan
from pulsus.routing.runs.run_promoted import PreparedTool, ToolRun


@dataclass(frozen=True, slots=True)
class GivenConsent:
    """The consent to a whole composition: it was given before its first step."""

    how: RunConsent

    def obtain(self, run: WriteRun, *, dry: bool) -> RunConsent:
        """Return how the composition was confirmed."""
        return "dry_run" if dry else self.how


def run_composition(project: Project, run: ToolRun, prepared: PreparedTool) -> RunResult:
    """Run the plan of a composition with its inputs; consent to it is obtained first.

    Raises ApprovalNeeded, and what preparing a step raises. A failed step is the failure of the
    result.
    """
    plan = read_plan(run.source)
    assert plan is not None
    how = run.consent.obtain(prepared.wanted_consent(run.inputs), dry=False)
    began = time.monotonic()
    saved = save_plan(project, _with_defaults(plan, run), run.inputs, ())
    applied = apply_plan(project, saved, (), GivenConsent(how), lambda _: {}, _ignore)
    failure = None if applied.end.state == "done" else applied.end.error
    return RunResult(
        result=dict(applied.outputs),
        stdout_tail="",
        stderr_tail="",
        duration_ms=int((time.monotonic() - began) * 1000),
        confinement=_by_step(applied),
        failure=failure,
        wrote=True,
        verification=_find_verification(applied),
    )


def _with_defaults(plan: Plan, run: ToolRun) -> Plan:
    """Return the plan with the summary of its module as description, if it has none."""
    return plan if plan.description else replace(plan, description=run.tool.summary)


def _ignore(_: StepProgress | RunProgress) -> None:
    return None


def _by_step(applied: AppliedRun) -> dict[str, JsonValue]:
    steps: dict[str, JsonValue] = {
        each.step: dict(each.confinement) for each in _calls(applied) if each.confinement
    }
    return {"writes": "by step", "steps": steps}


def _find_verification(applied: AppliedRun) -> Verification | None:
    """Return the verdict on the first write that is not verified, else on the last write."""
    found = [each.verification for each in _calls(applied) if each.is_write and each.verification]
    bad = next((each for each in found if not each.ok), None)
    return bad or (found[-1] if found else None)


def _calls(applied: AppliedRun) -> list[StepRecord]:
    return [each for each in applied.record.steps if each.items is None]
