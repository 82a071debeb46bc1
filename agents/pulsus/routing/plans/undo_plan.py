"""Undo: make the plan that reverses the writes of a run, newest first (contracts, `Undo:`).

A file that was edited after the run is found in `routing/plans/later_edits.py`. A run without such
writes is refused (NOTHING_TO_UNDO).

It also says which runs were undone. The description of a plan names the run that it undoes, but
anyone can write that. So the calls decide: a write is reversed if a later run made the call that
its `Undo:` declares.

Nothing runs here: `routing/plans/apply_plan.py` carries the plan out, like every saved plan.
Effect: reads the journal and the results of the run.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from pulsus.approvals.run_consent import input_options
from pulsus.approvals.tool_description import describe_tool
from pulsus.core.compose.plans import pins
from pulsus.core.compose.saved_plans.saved_plan import SavedPlan
from pulsus.core.contract import declared_call
from pulsus.core.python_source import python_parser
from pulsus.core.telemetry.sanitize import one_line, strip_controls
from pulsus.core.types import Constant, DeclaredCall, JsonValue, Plan, PlanStep, ToolSpec
from pulsus.errors import NothingToUndo, PulsusError
from pulsus.execution.journal.journal import Journal
from pulsus.execution.journal.run_records import RunRecord, RunSummary, StepRecord
from pulsus.routing.delivery.project_protocol import Project
from pulsus.routing.plans.apply_plan import open_journal_of, saved_plan_of
from pulsus.routing.plans.later_edits import UNDO
from pulsus.routing.plans.run_results import load_result
from pulsus.routing.plans.save_plan import save_plan
from pulsus.routing.plans.verify_write import says_unchanged

_UNDECLARED = "declares no `Undo:`"
_UNSURE = {
    "failed": "failed",
    "in_doubt": "is in doubt",
    "started": "did not end",
    "unverified": "is not verified",
}
_MOST_CHARS = 2000
_MOST_RUNS = 200
"""Latest runs among which an undo is looked for."""


@dataclass(frozen=True, slots=True)
class TakenBack:
    """The run that reversed writes of another one. `is_whole` is False if some writes stay."""

    by: str
    is_whole: bool


def make_undo_plan(project: Project, run_id: str) -> SavedPlan:
    """Return the reverse plan of the run, which returns what its steps return.

    Its notes name the writes that it does not reverse, what each step changes, and the files of
    the run that stay: a backup may be the only copy of something, so nothing here removes one.

    Raises RunNotFound, and NothingToUndo if no write of the run changed anything or can be
    reversed.
    """
    with closing(open_journal_of(project, run_id)) as journal:
        record = journal.read_run(run_id)
        saved = saved_plan_of(record)
        steps, notes, unchanged = _reverse_steps(project, record, saved)
        before = find_undone(project, journal, journal.list_runs(_MOST_RUNS)).get(run_id)
    if next(_writes(record), None) is None:
        raise NothingToUndo(
            f"{run_id} wrote nothing",
            hint="only writes that were made are undone, not those that wait or were skipped",
            run_id=run_id,
        )
    if unchanged and not (steps or notes):
        raise NothingToUndo(
            f"{run_id} changed nothing: {'; '.join(unchanged)}",
            hint="nothing is to be done",
            run_id=run_id,
        )
    notes += unchanged
    if not steps:
        raise NothingToUndo(
            f"{run_id} has no write that can be undone" + "".join(f"; {note}" for note in notes),
            hint=_way_back(run_id, undeclared=any(note.endswith(_UNDECLARED) for note in notes)),
            run_id=run_id,
        )
    numbered = tuple(
        _with_outputs(project, step, f"u{n}", alone=len(steps) == 1)
        for n, (step, _) in enumerate(steps, 1)
    )
    returns = tuple(name for step in numbered for name in step.outputs)
    found = save_plan(project, Plan(f"Undo {run_id}", numbered, returns=returns), {}, ())
    kept = (
        note
        for step, (_, made) in zip(numbered, steps, strict=True)
        for note in _effect_notes(project, step, made)
    )
    again = (_undone_before(run_id, before),) if before else ()
    return replace(found, notes=(*again, *found.notes, *notes, *kept))


def render_undo_command(
    project: Project, tool: ToolSpec, inputs: Mapping[str, JsonValue], result: JsonValue
) -> str | None:
    """Return the command that takes back one write of the tool, which `pulsus run` made.

    None if the tool has no `Undo:`, the write changed nothing, or the command cannot be shown: a
    value is missing or a secret, or has a control character, or the command is too long to be read.
    """
    if tool.undo is None or says_unchanged(result):
        return None
    try:
        step = _reverse(project, tool, inputs, result)
    except (KeyError, PulsusError):
        return None
    values = {n: each.value for n, each in step.inputs.items() if isinstance(each, Constant)}
    options = (word for pair in input_options(values) for word in ("--input", pair))
    command = shlex.join(("pulsus", "run", step.tool, *options))
    is_secret = project.redactor.redact_value(dict(values)) != values
    if is_secret or len(command) > _MOST_CHARS or strip_controls(command) != command:
        return None
    return command if project.redactor.redact(command) == command else None


def _undone_before(run_id: str, before: TakenBack) -> str:
    """Return the note for a run that was undone before: the second undo reverses something else."""
    part = "" if before.is_whole else "partly "
    return f"{run_id} was {part}undone before, by {before.by}: check that this plan still fits"


def _way_back(run_id: str, *, undeclared: bool) -> str:
    """Return what an operator can do about writes that no tool reverses.

    `undeclared`: a tool of the run declares no `Undo:`, which its author can add.
    """
    author = "; the author of a tool can name its opposite as `Undo:` in its contract"
    return (
        f"`pulsus runs replay {run_id}` shows what its steps did and returned: take these writes "
        "back by hand, or with a tool that does the opposite (`pulsus tools list`)"
        f"{author if undeclared else ''}"
    )


def find_undone(
    project: Project, journal: Journal, runs: Sequence[RunSummary]
) -> dict[str, TakenBack]:
    """Return the undo of each undone run among `runs`, which are newest first.

    An undo does not count if it was undone itself. If a part of it was, some writes stay.
    """
    listed = {each.run_id for each in runs}
    found: dict[str, TakenBack] = {}
    for each in runs:
        named = UNDO.fullmatch(each.request)
        again = found.get(each.run_id)
        if named is None or named[1] not in listed or (again and again.is_whole):
            continue
        reversed_writes, writes = _count_reversed(project, journal, named[1], each.run_id)
        is_whole = reversed_writes == writes and again is None
        if reversed_writes and (is_whole or named[1] not in found):
            found[named[1]] = TakenBack(each.run_id, is_whole)
    return found


def _with_outputs(project: Project, step: PlanStep, name: str, *, alone: bool) -> PlanStep:
    """Return the step under this name, with an output for each value that its tool returns."""
    tool = project.catalogue.get(step.tool)
    keys = [each.name for each in tool.returns if each.name.isidentifier()] if tool else []
    return replace(step, id=name, outputs={k if alone else f"{name}_{k}": k for k in keys})


def _effect_notes(project: Project, step: PlanStep, made: Sequence[str]) -> Iterator[str]:
    """Yield what an undo changes, and each file of the run that stays.

    `made` are the inputs whose values the reversed write returned. Only such a value may name a
    backup: the other inputs are the user's own, for example the command of a cron entry.
    """
    tool = project.catalogue.get(step.tool)
    if tool is None:
        return
    yield f"{step.id}: {tool.id}: {describe_tool(tool)}"
    for name in made:
        value = step.inputs[name]
        path = value.value if isinstance(value, Constant) and name not in tool.target else None
        # os.path.isfile is False for a path that is too long or may not be looked at.
        if isinstance(path, str) and path.startswith("/") and os.path.isfile(path):  # noqa: PTH113
            yield f"{step.id}: the {name} {one_line(Path(path).name, 200)} stays"


def _reverse_steps(
    project: Project, record: RunRecord, saved: SavedPlan
) -> tuple[list[tuple[PlanStep, tuple[str, ...]]], list[str], list[str]]:
    """Return the steps, each with the inputs that the write itself returned, and two lists of
    notes: on the writes that no step reverses, and on those that changed nothing.
    """
    tools = {step.id: step.tool for step in saved.plan.steps}
    steps: list[tuple[PlanStep, tuple[str, ...]]] = []
    notes: list[str] = []
    unchanged: list[str] = []
    for found in sorted(_writes(record), key=lambda each: each.seq, reverse=True):
        name = found.step if found.item is None else f"{found.step}[{found.item}]"
        if found.state != "done":
            notes.append(f"{name}: {tools[found.step]} {_UNSURE[found.state]}; look at it yourself")
            continue
        if _changed_nothing(project, record.run_id, found):
            unchanged.append(f"{name}: {tools[found.step]} changed nothing")
            continue
        tool = project.catalogue.get(tools[found.step])
        if tool is None or tool.undo is None:
            notes.append(f"{name}: its change stays, {tools[found.step]} {_UNDECLARED}")
            continue
        try:
            result = load_result(project.state_dir, record.run_id, found)
            step = _reverse(project, tool, found.inputs or {}, result)
            steps.append((step, _returned_inputs(tool.undo)))
        except (KeyError, PulsusError) as missing:
            notes.append(f"{name}: {tool.undo.tool} needs a value that this run lacks: {missing}")
    return steps, notes, unchanged


def _changed_nothing(project: Project, run_id: str, step: StepRecord) -> bool:
    """Return True if the write itself returned `changed` as False or 0."""
    try:
        result = load_result(project.state_dir, run_id, step)
    except PulsusError:
        return False
    return says_unchanged(result)


def _returned_inputs(undo: DeclaredCall) -> tuple[str, ...]:
    """Return the inputs of the undo that are an output of the write, for example its backup."""
    found = {name: declared_call.read_reference(value) for name, value in undo.inputs.items()}
    return tuple(
        name for name, reference in found.items() if reference and reference[0] == "output"
    )


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


def _count_reversed(
    project: Project, journal: Journal, run_id: str, undo_id: str
) -> tuple[int, int]:
    """Return how many writes of the run the other run reversed, and how many the run made."""
    try:
        record, undo = journal.read_run(run_id), journal.read_run(undo_id)
        saved, plan = saved_plan_of(record), saved_plan_of(undo).plan
        reverse_steps, _, unchanged = _reverse_steps(project, record, saved)
    except PulsusError:
        # Nothing proves an undo that cannot be read, and a list of other runs goes on without it.
        return 0, 0
    tools = {step.id: step.tool for step in plan.steps}
    made = [
        (tools[each.step], dict(each.inputs or {}))
        for each in _writes(undo)
        if each.state == "done"
    ]
    count = 0
    for step, _ in reverse_steps:
        values = {n: v.value for n, v in step.inputs.items() if isinstance(v, Constant)}
        if (step.tool, values) in made:
            made.remove((step.tool, values))
            count += 1
    return count, len([*_writes(record)]) - len(unchanged)
