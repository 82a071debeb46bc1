"""Find the items over which a step with `for_each` is repeated. Effect: reads the run's folder.

The results of the items become one list in `step_outputs.py`. A list longer than the step's `limit`
is refused here, the limit itself is checked in `core/compose/plans/dsl/control_checks.py`. The
items of a write run one by one, those of a read in parallel: `plan_run.py` (`_start_item`).

A resumed run takes the items that the step was started with. The condition (`when`) of a step is
looked at by `plan_run.py`, before its items.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pulsus.core.types import JsonValue, PlanValue
from pulsus.errors import PlanValueFailed
from pulsus.execution.engine.active_step import ActiveStep
from pulsus.execution.journal.run_folder import RunFolder, items_name
from pulsus.execution.journal.run_records import StepRecord


@dataclass(frozen=True, slots=True)
class ForEachItems:
    """The items of a step. `are_resumed`: an earlier process started the step with them."""

    items: list[JsonValue]
    are_resumed: bool


def find_items(
    active: ActiveStep,
    before: StepRecord | None,
    folder: RunFolder,
    evaluate: Callable[[PlanValue], JsonValue],
) -> ForEachItems:
    """Return the items of a step with `for_each`; `before` is its record if it was started.

    Raises PlanValueFailed for a value that is no list, or for too many items.
    """
    step, each = active.step, active.step.for_each
    assert each is not None
    name, sha256 = items_name(step.id), before.sha256 if before else None
    items: JsonValue
    if sha256 and (active.is_write or folder.has(name, sha256)):
        items, are_resumed = folder.load(name, sha256), True
    else:
        items, are_resumed = evaluate(each.items), False
    if not isinstance(items, list) or len(items) > each.limit:
        found = f"{len(items)} items" if isinstance(items, list) else type(items).__name__
        raise PlanValueFailed(
            f"step {step.id}: for_each takes a list of at most {each.limit} items, and got {found}",
            hint="raise its limit, or give it fewer items",
            step=step.id,
        )
    return ForEachItems(items, are_resumed)
