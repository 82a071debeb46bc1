"""Read the results of a run from `.pulsus/runs/`, also of a run that this process does not own.

The files are written by `execution/journal/run_folder.py`.

Effect: reads files.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pulsus.core.compose.saved_plans.saved_plan import SavedPlan
from pulsus.core.types import JsonValue
from pulsus.execution.journal.run_folder import load_result as load_file
from pulsus.execution.journal.run_records import RunRecord, StepRecord


def load_result(state_dir: Path, run_id: str, found: StepRecord) -> JsonValue:
    """Return the result of one call; None if it has none. Raises StateCorrupt."""
    if found.result_file is None:
        return None
    return load_file(state_dir, run_id, found.result_file, found.sha256 or "")


def read_results(state_dir: Path, record: RunRecord) -> dict[str, JsonValue]:
    """Return the result of each step that is done, by its id; a list with `for_each`."""
    found: dict[str, JsonValue] = {}
    for each in record.steps:
        if each.item is None and each.items is None and each.state == "done":
            found[each.step] = load_result(state_dir, record.run_id, each)
        elif each.item is not None:
            given = found.setdefault(each.step, [])
            assert isinstance(given, list)
            given.append(load_result(state_dir, record.run_id, each))
    return found


def read_outputs(state_dir: Path, saved: SavedPlan, record: RunRecord) -> dict[str, JsonValue]:
    """Return the values that the plan returns, as far as their steps are done."""
    return dict(_list_outputs(state_dir, saved, record))


def _list_outputs(
    state_dir: Path, saved: SavedPlan, record: RunRecord
) -> Iterator[tuple[str, JsonValue]]:
    for step in saved.plan.steps:
        wanted = {n: key for n, key in step.outputs.items() if n in saved.plan.returns}
        own = [each for each in record.steps if each.step == step.id]
        if not wanted or not own:
            continue
        if step.for_each is not None:
            items = [each for each in own if each.item is not None]
            results = [load_result(state_dir, record.run_id, each) for each in items]
            yield from ((name, [_pick(r, key) for r in results]) for name, key in wanted.items())
        elif own[0].state == "done":
            result = load_result(state_dir, record.run_id, own[0])
            yield from ((name, _pick(result, key)) for name, key in wanted.items())


def _pick(result: JsonValue, key: str) -> JsonValue:
    """Return one output: of a mapping its key, of any other result the whole as `result`."""
    if isinstance(result, dict) and key in result:
        return result[key]
    return result if key == "result" else None
