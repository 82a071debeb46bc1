"""The live list of the steps of a run."""

from pulsus.cli.plan.plan_progress import PlanProgress
from pulsus.core.types import Plan, PlanStep
from pulsus.execution.journal.run_records import StepRecord


def test_a_step_that_ended_before_a_resume_is_not_shown_as_one_that_did_not_start():
    steps = tuple(PlanStep(id=name, tool="a/b/c", inputs={}, outputs={}) for name in ("s1", "s2"))
    ended = StepRecord("s1", None, "done", False, duration_ms=7)
    failed = StepRecord("s2", None, "failed", True, duration_ms=9)
    progress = PlanProgress(Plan("", steps), quiet=False, steps=[ended, failed])
    shown = [str(each.label) for each in progress._tree().children]
    assert shown == ["✓ s1  a/b/c  7 ms", "· s2  a/b/c"]
