"""The findings of `pulsus apply --check` as lines for a person, and as JSON. Pure.

The check is made in `routing/plans/apply_plan.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pulsus.cli.render.inputs_text import shown
from pulsus.cli.render.validation_text import printable
from pulsus.cli.results.result_lines import ResultView, result_lines
from pulsus.core.compose.saved_plans.saved_plan import SavedPlan
from pulsus.core.validators.effects.observed_against_declared import DRY_RUN
from pulsus.execution.journal.run_records import StepRecord
from pulsus.routing.plans.apply_plan import CheckedPlan

BANNER = "CHECK ONLY: nothing was changed"
_MOST_ROWS = 20


@printable
def check_lines(
    saved: SavedPlan,
    checked: CheckedPlan,
    notes: Sequence[str],
    *,
    columns: int | None,
    full: bool,
) -> Iterator[str]:
    """Yield the banner and the notes, then what each step gave, or would change.

    `columns` are those of the reader, None for other programs.
    """
    yield BANNER
    yield from (f"note: {note}" for note in notes)
    yield ""
    tools = {step.id: step.tool for step in saved.plan.steps}
    for step, found, kind in _steps(saved, checked):
        yield f"{step}  {tools[step]}  {_headline(found, kind, checked)}"
        if step in checked.inputs:
            given = ((k, v) for k, v in checked.inputs[step].items() if k != DRY_RUN)
            yield "    with " + ", ".join(f"{name}={shown(value)}" for name, value in given)
        if found.state == "failed" and found.error:
            yield f"    {found.error.get('code')}: {found.error.get('message')}"
        result = checked.results.get(step)
        if found.state == "done" and result is not None:
            # Other programs get exact values, as from `pulsus run`.
            wide = None if columns is None else 76
            view = ResultView(wide, most_rows=None if full else _MOST_ROWS, full=full)
            for _, line in result_lines(result, view):
                yield f"    {line}".rstrip()
    count = len(pending_writes(saved, checked))
    yield ""
    yield f"{BANNER}; {count} write{'s' if count != 1 else ''} still to do"


def check_to_dict(saved: SavedPlan, checked: CheckedPlan) -> dict[str, Any]:
    """Return what the check found as JSON values."""
    return {
        "check": True,
        "writes_to_do": list(pending_writes(saved, checked)),
        "steps": [
            {
                "id": step,
                "tool": next(each.tool for each in saved.plan.steps if each.id == step),
                "kind": kind,
                "state": found.state,
                "inputs": checked.inputs.get(step),
                "called": step not in checked.uncalled,
                "depends_on_changes": step in checked.dependent,
                "result": checked.results.get(step),
                "error": dict(found.error) if found.error else None,
            }
            for step, found, kind in _steps(saved, checked)
        ],
    }


def pending_writes(saved: SavedPlan, checked: CheckedPlan) -> tuple[str, ...]:
    """Return the writes that are still to be done: all but those whose `when` is false."""
    skipped = {
        each.step
        for each in checked.applied.record.steps
        if each.state == "skipped" and each.reason == "condition"
    }
    return tuple(step for step in saved.writes if step not in skipped)


def _steps(saved: SavedPlan, checked: CheckedPlan) -> Iterator[tuple[str, StepRecord, str]]:
    records = {each.step: each for each in checked.applied.record.steps if each.item is None}
    for review in saved.review:
        yield review.step, records[review.step], review.kind


def _headline(found: StepRecord, kind: str, checked: CheckedPlan) -> str:
    if found.step in checked.uncalled:
        text = "would write; its tool has no dry_run, so it was not called"
    elif found.state == "skipped":
        text = "skipped: its `when` is false" if found.reason == "condition" else "skipped"
    elif found.state == "failed":
        text = "failed"
    else:
        text = "would change" if kind == "write" else "read"
    if found.step in checked.dependent:
        text += " (depends on changes that were not made)"
    return f"{text}:" if found.state == "done" and found.step not in checked.uncalled else text
