"""Give steps the outputs of earlier ones, read from their result files (docs/plans.md).

The results of a step with `for_each` are merged into a list here (`read`).

A result whose sha256 differs is refused in `execution/journal/run_folder.py`.

Only hashes are held in memory, so that a plan of 10,000 steps is bounded. Effect: reads files.

An expression over them is evaluated in `core/compose/plans/dsl/plan_values.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from pulsus import steps as step_calls
from pulsus.core.compose.plans.dsl.step_references import step_references
from pulsus.core.types import JsonValue, OutputRef, PlanStep
from pulsus.errors import PlanValueFailed
from pulsus.execution.journal.run_folder import result_name
from pulsus.execution.journal.run_records import StepRecord

Load = Callable[[str, str], JsonValue]
"""Return the value in the file of that name, which must have that sha256. Raises StateCorrupt."""

_Known = str | None | list[str | None]


class StepOutputs:
    """The results of one run: a hash for each step, a list of them with `for_each`, or None.

    None means that there is no result: the step was skipped on purpose, or only its effect is
    known.
    """

    def __init__(self, steps: Iterable[PlanStep], load: Load) -> None:
        self._steps = {step.id: step for step in steps}
        self._load = load
        self._known: dict[str, _Known] = {}

    def set_result(self, step: str, sha256: str | None) -> None:
        """Note the hash of a step's result."""
        self._known[step] = sha256

    def set_items(self, step: str, hashes: Sequence[str | None]) -> None:
        """Note the hashes of the results of a step's items."""
        self._known[step] = list(hashes)

    def referred(self, step: PlanStep) -> dict[OutputRef, JsonValue]:
        """Return every output that the step refers to.

        Raises StateCorrupt for a lost file, and PlanValueFailed if a result lacks an output.
        """
        wanted = {ref for ref in step_references(step) if isinstance(ref, OutputRef)}
        return {ref: self.read(ref) for ref in sorted(wanted, key=lambda r: (r.step, r.output))}

    def read(self, ref: OutputRef) -> JsonValue:
        """Return one output. Raises as `referred`."""
        known = self._known.get(ref.step)
        if isinstance(known, list):
            return [
                self._read_one(ref, result_name(ref.step, item), sha256)
                for item, sha256 in enumerate(known)
            ]
        return self._read_one(ref, result_name(ref.step), known)

    def _read_one(self, ref: OutputRef, name: str, sha256: str | None) -> JsonValue:
        if sha256 is None:
            return None
        return _pick_output(self._steps[ref.step], ref.output, self._load(name, sha256))


def outputs_of_record(
    steps: Sequence[PlanStep], records: Iterable[StepRecord], load: Load
) -> StepOutputs:
    """Return the outputs of the steps that are `done` in the journal."""
    outputs = StepOutputs(steps, load)
    items: dict[str, dict[int, str | None]] = {}
    for each in records:
        if each.item is not None:
            items.setdefault(each.step, {})[each.item] = each.sha256
        elif each.state == "done" and each.items is None:
            outputs.set_result(each.step, each.sha256)
        elif each.state == "done":
            items.setdefault(each.step, {})
    for step, found in items.items():
        outputs.set_items(step, [found.get(n) for n in range(len(found))])
    return outputs


def _pick_output(step: PlanStep, output: str, result: JsonValue) -> JsonValue:
    outputs: Mapping[str, str] = step.outputs
    try:
        value: JsonValue = step_calls.output(result, outputs[output], step=step.id)
    except step_calls.OutputMissing as failure:
        raise PlanValueFailed(
            str(failure),
            hint=f"name a key of the result of {step.tool} under `outputs` of step {step.id}",
            step=step.id,
        ) from None
    return value
