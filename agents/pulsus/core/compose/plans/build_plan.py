"""Build the plan of a composition: connect outputs to inputs, name parameters (spec §6). Pure.

`wiring.py` decides which earlier output feeds an input, and `core/compose/plans/dsl/plan_checks.py`
refuses more steps than `compose.max_steps` allows. Two steps with the same input share one
parameter; `routing/inputs/input_conflicts.py` separates them.
`core/compose/selection/step_candidates.py` chooses the tools of the steps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pulsus.core.compose.plans import wiring
from pulsus.core.compose.plans.dsl import plan_checks
from pulsus.core.contract import type_compatibility, type_hints
from pulsus.core.contract.type_hints import Hint
from pulsus.core.types import (
    ArgSpec,
    OutputRef,
    ParamRef,
    Plan,
    PlanStep,
    PlanValue,
    ToolSpec,
)
from pulsus.errors import PlanUnwirable
from pulsus.late_pattern import late_pattern

DRY_RUN = "dry_run"
_PLACE = late_pattern(r"(?:^|_)(?:path|file|folder|dir|directory|archive|unit|host|user)$")


def compose_plan(description: str, tools: Sequence[ToolSpec], *, max_steps: int = 8) -> Plan:
    """Return the plan that runs `tools` in this order, each pinned to its bytes.

    An input comes from an earlier step if name and type match (`wiring.find_source`). A required
    input that no step gives becomes a plan parameter. An optional input becomes a parameter with
    its default if the tool's own examples set it, because then callers need it. The plan returns
    the outputs of the last step, and of every step that no later step uses.

    Raises PlanUnwirable with step, input and reason, and PlanInvalid for no tools or too many.
    """
    ids = [f"s{number}" for number in range(1, len(tools) + 1)]
    draft = _PlanDraft()
    for step, tool in zip(ids, tools, strict=True):
        draft.add_step(step, tool)
    draft.add_optional_parameters(tools)
    plan = Plan(
        description=" ".join(description.split()),
        steps=_name_outputs(draft.steps),
        params=tuple(draft.params),
    )
    plan = replace(plan, returns=_list_returns(plan))
    plan_checks.check_plan(plan, max_steps=max_steps)
    return plan


def list_parameters(plan: Plan, tools: Iterable[ToolSpec]) -> tuple[ArgSpec, ...]:
    """Return the plan's parameters as arguments, in the order of `io.params`.

    Type hint and description come from the first step that uses the parameter. A parameter is
    optional only if every step that uses it has the same default, written as a literal.
    """
    by_id = {tool.id: tool for tool in tools}
    uses: dict[str, list[ArgSpec]] = {name: [] for name in plan.params}
    for step in plan.steps:
        args = {arg.name: arg for arg in by_id[step.tool].args} if step.tool in by_id else {}
        for name, value in step.inputs.items():
            if isinstance(value, ParamRef):
                uses[value.name].append(args.get(name, ArgSpec(name, None, True, None)))
    return tuple(_merge_uses(name, found) for name, found in uses.items())


def add_parameters(
    plan: Plan, tools: Iterable[ToolSpec], wanted: Iterable[tuple[str, str]]
) -> Plan:
    """Return the plan with a parameter for each optional input in `wanted`, as (step id, input).

    An input that has a source already is left alone, and so is one whose default is no constant.
    """
    by_id = {tool.id: tool for tool in tools}
    draft = _PlanDraft(list(plan.steps), dict.fromkeys(plan.params, type_hints.parse_hint(None)))
    places = {step.id: number for number, step in enumerate(plan.steps)}
    for step_id, name in wanted:
        step = draft.steps[places[step_id]]
        args = wiring.list_inputs(by_id[step.tool])
        arg = next(one for one in args if one.name == name)
        if name not in step.inputs and type_hints.is_plain(arg.default):
            draft.set_parameter(places[step_id], arg, args)
    return replace(plan, steps=tuple(draft.steps), params=tuple(draft.params))


def separate_parameters(
    plan: Plan, tools: Iterable[ToolSpec], wanted: Iterable[tuple[str, str]]
) -> Plan:
    """Return the plan with a parameter of its own for each input in `wanted`, as (step id, input).

    The parameter replaces one that other steps use too, or the output of an earlier step.
    """
    by_id = {tool.id: tool for tool in tools}
    draft = _PlanDraft(list(plan.steps), dict.fromkeys(plan.params, type_hints.parse_hint(None)))
    places = {step.id: number for number, step in enumerate(plan.steps)}
    for step_id, name in wanted:
        args = wiring.list_inputs(by_id[draft.steps[places[step_id]].tool])
        draft.set_parameter(places[step_id], next(a for a in args if a.name == name), args)
    changed = replace(plan, steps=tuple(draft.steps), params=tuple(draft.params))
    return replace(changed, returns=_list_returns(changed))


@dataclass(slots=True)
class _PlanDraft:
    """A plan while its steps are added. Outputs still have the keys of the tools."""

    steps: list[PlanStep] = field(default_factory=list)
    params: dict[str, Hint] = field(default_factory=dict)
    offers: list[tuple[wiring.StepOutput, ...]] = field(default_factory=list)
    changed: dict[str, Hint] = field(default_factory=dict)
    """The parameters that say what an earlier step changes."""

    def add_step(self, step: str, tool: ToolSpec) -> None:
        """Add a step with its required inputs, each from an earlier step or a parameter."""
        args = wiring.list_inputs(tool)
        sources = {arg.name: wiring.find_source(arg, self.offers) for arg in args}
        writes = tool.kind == "write"
        # A report's own scalars say where to write: they share no parameter of an earlier step.
        # The `path` or `key` of one change is not that of another change.
        report = wiring.is_report_writer(tool)
        unshared = dict(self.params) if report else dict(self.changed)
        inputs: dict[str, PlanValue] = {}
        for arg in args:
            value = sources[arg.name]
            scalar = type_hints.parse_hint(arg.type_hint).scalar
            if isinstance(value, wiring.TypeMismatch):
                raise PlanUnwirable(
                    f"step {step} ({tool.id}) needs {arg.name!r}, and no step can give it: "
                    f"{value.reason}",
                    hint="ask for steps whose outputs fit, or add a tool that converts them",
                    step=step,
                    tool=tool.id,
                    input=arg.name,
                    reason=value.reason,
                )
            # What is changed is said by a person, and not guessed from the name of an output.
            if value is not None and not (writes and scalar and _is_target(arg, tool, report)):
                inputs[arg.name] = value
            elif arg.required:
                inputs[arg.name] = self._add_parameter(step, arg, unshared if writes else {})
        if writes:
            names = [value.name for value in inputs.values() if isinstance(value, ParamRef)]
            self.changed |= {name: self.params[name] for name in names}
        offers = wiring.list_step_outputs(step, tool)
        outputs = {offer.key: offer.key for offer in offers}
        self.steps.append(PlanStep(step, tool.id, inputs, outputs, tool.sha256))
        self.offers.append(offers)

    def add_optional_parameters(self, tools: Sequence[ToolSpec]) -> None:
        """Add the optional parameters, after the required ones, which keep the plain names.

        Two steps never share an optional parameter, because each has its own default. Only
        `dry_run` is shared: a caller who sets it means every step.
        """
        for number, tool in enumerate(tools):
            args = wiring.list_inputs(tool)
            for arg in args:
                if arg.name not in self.steps[number].inputs and _is_set_by_callers(arg, tool):
                    self.set_parameter(number, arg, args)

    def set_parameter(self, number: int, arg: ArgSpec, args: Sequence[ArgSpec]) -> None:
        """Give the input `arg` of a step a parameter of its own. `args` are all its inputs."""
        step = self.steps[number]
        unshared = {} if arg.name == DRY_RUN else self.params
        inputs = {**step.inputs, arg.name: self._add_parameter(step.id, arg, unshared)}
        # In the order of the tool, so that the plan reads like a call of it.
        ordered = {one.name: inputs[one.name] for one in args if one.name in inputs}
        self.steps[number] = replace(step, inputs=ordered)

    def _add_parameter(self, step: str, arg: ArgSpec, unshared: Mapping[str, Hint]) -> ParamRef:
        """Return a parameter for `arg`: one of the same name and type, or a new one.

        Parameters in `unshared` get a new one in any case.
        """
        hint = type_hints.parse_hint(arg.type_hint)
        name = f"{arg.name}_" if arg.name in plan_checks.RESERVED else arg.name
        while name in self.params and (
            name in unshared or not _is_same_type(self.params[name], hint)
        ):
            name = f"{step}_{name}"
        self.params.setdefault(name, hint)
        return ParamRef(name)


def _is_target(arg: ArgSpec, tool: ToolSpec, report: bool) -> bool:
    """Return True if the input says what a change acts on, not what it puts there.

    A tool without `Target:` may name it as a place only.
    """
    if report:
        return True
    return arg.name in tool.target if tool.target else _PLACE.search(arg.name) is not None


def _is_set_by_callers(arg: ArgSpec, tool: ToolSpec) -> bool:
    shown = any(arg.name in example.inputs for example in tool.examples)
    return (shown or arg.name == DRY_RUN) and type_hints.is_plain(arg.default)


def _is_same_type(one: Hint, other: Hint) -> bool:
    return type_compatibility.fits(one, other) and type_compatibility.fits(other, one)


def _name_outputs(steps: Sequence[PlanStep]) -> tuple[PlanStep, ...]:
    """Return the steps with output names that are unique in the plan.

    If two steps have the same output, the later step keeps the plain name, because its value is
    newer.
    """
    names: dict[OutputRef, str] = {}
    taken = {_make_identifier(key) for step in steps for key in step.outputs}
    given: set[str] = set()
    for step in reversed(steps):
        for key in step.outputs:
            plain = name = _make_identifier(key)
            while name in given or (name in taken and name != plain):
                name = f"{step.id}_{name}"
            given.add(name)
            names[OutputRef(step.id, key)] = name
    return tuple(_rename_outputs(step, names) for step in steps)


def _rename_outputs(step: PlanStep, names: Mapping[OutputRef, str]) -> PlanStep:
    inputs = {
        arg: OutputRef(value.step, names[value]) if isinstance(value, OutputRef) else value
        for arg, value in step.inputs.items()
    }
    outputs = {names[OutputRef(step.id, key)]: key for key in step.outputs}
    return replace(step, inputs=inputs, outputs=outputs)


def _make_identifier(key: str) -> str:
    name = re.sub(r"\W", "_", key, flags=re.ASCII)
    return name if name.isidentifier() else f"_{name}"


def _list_returns(plan: Plan) -> tuple[str, ...]:
    values = [value for step in plan.steps for value in step.inputs.values()]
    used = {value.step for value in values if isinstance(value, OutputRef)}
    last = plan.steps[-1:]
    ends = [step for step in plan.steps if step.id not in used or step in last]
    return tuple(name for step in ends for name in step.outputs)


def _merge_uses(name: str, uses: Sequence[ArgSpec]) -> ArgSpec:
    if not uses:
        # Only expressions, templates, `when` or `for_each` read it: no tool says its type.
        return ArgSpec(name, type_hint=None, required=True, default=None)
    first = uses[0]
    defaults = {arg.default for arg in uses}
    # With two defaults, any value of the plan's own would change what one of the steps does.
    optional = not any(arg.required for arg in uses) and len(defaults) == 1
    default = first.default if optional and type_hints.is_plain(first.default) else None
    return replace(
        first,
        name=name,
        required=default is None,
        default=default,
        kind="positional_or_keyword",
    )
