"""Undo: make the plan that reverses the writes of a run, newest first (contracts, `Undo:`).

Nothing runs here: `apply_plan.py` carries the plan out, like every saved plan. Effect: reads the
journal and the results of the run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import cast

from pulsus.core.compose.plans import pins
from pulsus.core.compose.saved_plans.saved_plan import SavedPlan
from pulsus.core.contract import declared_call
from pulsus.core.python_source import python_parser
from pulsus.core.telemetry.sanitize import one_line
from pulsus.core.types import Constant, JsonValue, Plan, PlanStep, ToolSpec
from pulsus.errors import NothingToUndo, PulsusError
from pulsus.execution.journal.run_records import RunRecord, StepRecord
from pulsus.routing.delivery.project_protocol import Project
from pulsus.routing.plans.apply_plan import open_journal_of, saved_plan_of
from pulsus.routing.plans.run_results import load_result
from pulsus.routing.plans.save_plan import save_plan


def make_undo_plan(project: Project, run_id: str) -> SavedPlan:
    """Return the reverse plan of the run, which returns what its steps return.

    Its notes name the writes that it does not reverse, what each step changes, and the files of
    the run that stay: a backup may be the only copy of something, so nothing here removes one.

    Raises RunNotFound, and NothingToUndo if no write of the run can be reversed.
    """
    with closing(open_journal_of(project, run_id)) as journal:
        record = journal.read_run(run_id)
        saved = saved_plan_of(record)
        steps, notes = _reverse_steps(project, record, saved)
    if not any(each.is_write for each in record.steps):
        raise NothingToUndo(f"{run_id} wrote nothing", hint="only writes are undone", run_id=run_id)
    if not steps:
        raise NothingToUndo(
            f"{run_id} has no write that can be undone" + "".join(f"; {note}" for note in notes),
            hint="`Undo:` in the contract of a tool names the tool that reverses it",
            run_id=run_id,
        )
    numbered = tuple(
        _with_outputs(project, step, f"u{n}", alone=len(steps) == 1)
        for n, step in enumerate(steps, 1)
    )
    returns = tuple(name for step in numbered for name in step.outputs)
    found = save_plan(project, Plan(f"Undo {run_id}", numbered, returns=returns), {}, ())
    kept = (note for step in numbered for note in _effect_notes(project, step))
    return replace(found, notes=(*found.notes, *notes, *kept))


def _with_outputs(project: Project, step: PlanStep, name: str, *, alone: bool) -> PlanStep:
    """Return the step under this name, with an output for each value that its tool returns."""
    tool = project.catalogue.get(step.tool)
    keys = [each.name for each in tool.returns if each.name.isidentifier()] if tool else []
    return replace(step, id=name, outputs={k if alone else f"{name}_{k}": k for k in keys})


def _effect_notes(project: Project, step: PlanStep) -> Iterator[str]:
    """Yield what an undo changes, and each file that it only reads: such a file stays."""
    tool = project.catalogue.get(step.tool)
    if tool is None:
        return
    if tool.side_effects and tool.side_effects != "none":
        yield f"{step.id}: {tool.id}: {' '.join(tool.side_effects.split())}"
    for name, value in step.inputs.items():
        path = value.value if isinstance(value, Constant) and name not in tool.target else None
        if isinstance(path, str) and path.startswith("/") and Path(path).is_file():
            file = one_line(Path(path).name, 200)
            yield f"{step.id}: the {name} {file} stays, because {tool.id} only reads it"


def _reverse_steps(
    project: Project, record: RunRecord, saved: SavedPlan
) -> tuple[list[PlanStep], list[str]]:
    tools = {step.id: step.tool for step in saved.plan.steps}
    steps: list[PlanStep] = []
    notes: list[str] = []
    for found in sorted(_writes(record), key=lambda each: each.seq, reverse=True):
        name = found.step if found.item is None else f"{found.step}[{found.item}]"
        if found.state != "done":
            notes.append(f"{name}: {tools[found.step]} is {found.state}; look at it yourself")
            continue
        tool = project.catalogue.get(tools[found.step])
        if tool is None or tool.undo is None:
            notes.append(f"{name}: its change stays, {tools[found.step]} declares no `Undo:`")
            continue
        try:
            result = load_result(project.state_dir, record.run_id, found)
            steps.append(_reverse(project, tool, found.inputs or {}, result))
        except (KeyError, PulsusError) as missing:
            notes.append(f"{name}: {tool.undo.tool} needs a value that this run lacks: {missing}")
    return steps, notes


def _writes(record: RunRecord) -> Iterator[StepRecord]:
    """Yield the writes that were started: whole steps, and the items of `for_each`."""
    for each in record.steps:
        is_call = each.items is None
        if each.is_write and is_call and each.state not in ("pending", "skipped", "waiting"):
            yield each


def _reverse(
    project: Project, tool: ToolSpec, inputs: Mapping[str, JsonValue], result: JsonValue
) -> PlanStep:
    """Return the step that reverses one write. Raises KeyError for a value that is not known."""
    assert tool.undo is not None
    outputs = result if isinstance(result, dict) else {"result": result}
    given = _defaults(tool) | dict(inputs)
    values = cast(
        "dict[str, JsonValue]",
        declared_call.render_value(dict(tool.undo.inputs), given, outputs),
    )
    step = PlanStep("u", tool.undo.tool, {k: Constant(v) for k, v in values.items()}, {})
    return pins.pin_steps(Plan("", (step,)), project.catalogue.find).steps[0]


def _defaults(tool: ToolSpec) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {}
    for arg in tool.args:
        if arg.default is not None:
            try:
                found[arg.name] = python_parser.read_literal(arg.default)
            except (ValueError, SyntaxError):
                continue
    return found
