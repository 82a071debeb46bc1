"""Pin a plan and its inputs for review: from a route, or from a plan file (contracts, "Plans").

If the saved plan still holds is checked in `routing/plans/changes_since_review.py`. The file's form
is `core/compose/saved_plans/saved_plan_file.py`. A `retry` on a write is refused here, and values
of the wrong type by `core/compose/plans/type_check.py`. Secrets are refused in
`routing/plans/refuse_secrets.py`.

Effect: reads the catalogue, the records and the files that inputs name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from pulsus.core.compose.plans import pins
from pulsus.core.compose.plans.build_plan import list_parameters
from pulsus.core.compose.plans.conversion_notes import list_conversions, list_json_files
from pulsus.core.compose.plans.dsl.control_checks import refuse_retried_write
from pulsus.core.compose.plans.dsl.plan_checks import check_plan
from pulsus.core.compose.plans.type_check import require_types
from pulsus.core.compose.saved_plans.saved_plan import (
    Alternative,
    SavedInput,
    SavedPlan,
    review_step,
)
from pulsus.core.contract import type_hints
from pulsus.core.contract.effective_kind import get_stricter_kind
from pulsus.core.python_source import python_parser
from pulsus.core.storage.records.promotion_target import Target
from pulsus.core.system import regular_files
from pulsus.core.types import ArgSpec, JsonValue, Plan, PlanStep, RouteOutcome, ToolSpec
from pulsus.errors import UsageError
from pulsus.execution.parse_inputs import parse_inputs
from pulsus.routing import plan_preview
from pulsus.routing.delivery.candidate_module import pinned_steps, read_module
from pulsus.routing.delivery.project_protocol import Project
from pulsus.routing.inputs import missing_words
from pulsus.routing.plans.refuse_secrets import refuse_secret_texts, refuse_secrets
from pulsus.routing.plans.trusted_settings import trusted_settings

_ALTERNATIVES = 3
"""Tools named for each step beside the chosen one."""


def save_route(project: Project, outcome: RouteOutcome, pairs: Sequence[str]) -> SavedPlan:
    """Return the plan of a route for review. `pairs` are the `--input` texts of the call.

    Raises UsageError for a value that holds a secret, and PlanInvalid for one of a wrong type.
    """
    assert outcome.decision.plan is not None
    # A person may have given values since the plan was made.
    plan = plan_preview.with_filled_inputs(outcome, outcome.decision.plan)
    given = {
        name: SavedInput(value.value, value.source, text=value.text, p=value.p)
        for name, value in outcome.inputs.items()
        if name in plan.params and value.source != "wired"
    }
    return _save(
        project,
        plan,
        {**given, **_with_files(given, pairs)},
        request=outcome.intent.intent,
        alternatives=tuple(_list_alternatives(outcome, plan)),
        notes=[*outcome.notes, *missing_words.untaken_notes(outcome, project.redactor.redact)],
    )


def save_plan(
    project: Project,
    plan: Plan,
    values: Mapping[str, JsonValue],
    pairs: Sequence[str],
    *,
    request: str = "",
    origins: Mapping[str, SavedInput] = MappingProxyType({}),
) -> SavedPlan:
    """Return a plan that was written or edited by hand, pinned to the tools as they are now.

    `values` are inputs in its file, `pairs` the `--input` texts, which win. `request` is the one
    that an edited plan was made from, or else the plan's description: once applied, the plan is
    remembered for it. `origins` says where the values of an older plan came from.

    Raises ToolNotFound, ToolAmbiguous, PlanInvalid, UsageError.
    """
    unpinned = tuple(replace(step, sha256=None, version=None) for step in plan.steps)
    ids = (tool.id for tool in project.catalogue.tools)
    pinned = pins.pin_steps(replace(plan, steps=unpinned), project.catalogue.find, ids)
    check_plan(pinned)
    tools = find_tools(project, pinned.steps)
    options = parse_inputs(pairs, list_parameters(pinned, tools.values()))
    known = {
        name: replace(origins[name], file=None, sha256=None)
        if name in origins and name not in options
        else SavedInput(value, "option")
        for name, value in {**values, **options}.items()
    }
    given = {**known, **_with_files(known, pairs)}
    return _save(project, pinned, given, request=request or plan.description)


def find_missing(saved: SavedPlan, project: Project) -> tuple[ArgSpec, ...]:
    """Return the parameters of the plan that have no value yet."""
    tools = find_tools(project, saved.plan.steps)
    params = list_parameters(saved.plan, tools.values())
    return tuple(each for each in params if each.name not in saved.inputs)


def promoted_version(project: Project, tool: ToolSpec) -> tuple[str | None, ToolSpec]:
    """Return the promoted version of exactly these bytes, and the tool with its recorded kind.

    The version is None if the bytes are not promoted.
    """
    target = Target(tool.domain, tool.action, tool.name)
    record = project.promoter().current(target, tool.sha256)
    if record is None:
        return None, tool
    return record.version, replace(tool, kind=get_stricter_kind(tool.kind, record.kind))


def _save(
    project: Project,
    plan: Plan,
    inputs: Mapping[str, SavedInput],
    *,
    request: str = "",
    alternatives: tuple[Alternative, ...] = (),
    notes: Sequence[str] = (),
) -> SavedPlan:
    tools = find_tools(project, plan.steps)
    params = list_parameters(plan, tools.values())
    known = {arg.name: inputs[arg.name] for arg in params if arg.name in inputs}
    typed = {
        arg.name: replace(found, type=_write_type(arg))
        for arg in params
        if (found := known.get(arg.name) or _default_of(arg)) is not None
    }
    values = {name: each.value for name, each in typed.items()}
    refuse_secrets(project, plan, values)
    refuse_secret_texts(project, plan)
    require_types(plan, tools, values)
    versions: dict[str, str | None] = {}
    for tool_id, tool in list(tools.items()):
        versions[tool_id], tools[tool_id] = promoted_version(project, tool)
    _refuse_retried_writes(project, plan.steps, tools)
    steps = tuple(replace(step, version=versions[step.tool]) for step in plan.steps)
    return SavedPlan(
        plan=replace(plan, steps=steps),
        inputs=typed,
        review=tuple(review_step(step.id, tools[step.tool]) for step in steps),
        catalogue=project.catalogue.digest,
        settings=trusted_settings(project),
        request=project.redactor.redact(request),
        alternatives=alternatives,
        notes=(
            *notes,
            *list_conversions(plan, tools),
            *list_json_files(plan, tools, missing_words.read_proposals(notes) | values),
            *_note_unpromoted(steps),
        ),
    )


def find_tools(project: Project, steps: Iterable[PlanStep]) -> dict[str, ToolSpec]:
    """Return the tools of the steps by their ids. Raises ToolNotFound."""
    found: dict[str, ToolSpec] = {}
    for step in steps:
        pins.pin_steps(Plan("", (replace(step, sha256=None),)), project.catalogue.find)
        tool = project.catalogue.get(step.tool)
        assert tool is not None
        found[tool.id] = tool
    return found


def _refuse_retried_writes(
    project: Project, steps: Iterable[PlanStep], tools: Mapping[str, ToolSpec]
) -> None:
    """Raise PlanInvalid for `retry` on a write: `pulsus apply` never runs such a plan."""
    for number, step in enumerate(steps):
        if step.retry is None:
            continue
        tool = tools[step.tool]
        called = pinned_steps(project, read_module(tool.path)).values()
        used = (tool, *(promoted_version(project, one)[1] for one, _ in called))
        refuse_retried_write(step, number, used)


def _note_unpromoted(steps: Iterable[PlanStep]) -> Iterator[str]:
    for step in steps:
        if step.version is None:
            yield f"{step.id}: {step.tool} is not promoted; `pulsus apply` runs promoted tools only"


def _default_of(arg: ArgSpec) -> SavedInput | None:
    if arg.required or not type_hints.is_plain(arg.default):
        return None
    return SavedInput(python_parser.read_literal(arg.default or "None"), "default")


def _write_type(arg: ArgSpec) -> str:
    return type_hints.write_annotation(type_hints.parse_hint(arg.type_hint))


def _with_files(known: Mapping[str, SavedInput], pairs: Sequence[str]) -> dict[str, SavedInput]:
    """Return the inputs of `k=@FILE`, with the path and the hash of the file."""
    found: dict[str, SavedInput] = {}
    for pair in pairs:
        name, mark, file = pair.partition("=@")
        if mark and name in known:
            found[name] = replace(known[name], file=file, sha256=hash_file(Path(file)))
    return found


def hash_file(path: Path) -> str:
    """Return the SHA-256 of the file that an input was read from. Raises UsageError."""
    try:
        data = regular_files.read_file(path.expanduser().resolve(), 64 << 20)[0]
    except regular_files.UnreadableFile as failure:
        raise UsageError(
            f"cannot read {path}, which an input of the plan was read from: {failure.cause}",
            hint="put the file back, or make the plan again",
        ) from failure
    return hashlib.sha256(data).hexdigest()


def _list_alternatives(outcome: RouteOutcome, plan: Plan) -> Iterator[Alternative]:
    """Yield the next candidates of each step: of its clause, or of the whole request."""
    clauses = [part.candidates for part in outcome.subintents]
    whole = outcome.candidates
    for number, step in enumerate(plan.steps):
        fits = len(clauses) == len(plan.steps)
        ranked = clauses[number] if fits else whole
        others = [each for each in ranked if each.tool.id != step.tool]
        for each in others[:_ALTERNATIVES]:
            reason = each.why_not or "another tool was more probable"
            yield Alternative(step.id, each.tool.id, round(each.p, 4), reason)
