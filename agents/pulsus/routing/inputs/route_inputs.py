"""Give every input of a decision its value and say where it came from (spec §6). Pure.

Words that nothing follows are found in `routing/inputs/unfollowed_restrictions.py`, and values of
the request in `routing/inputs/request_values.py`. A missing input is asked for in
`routing/inputs/missing_inputs.py`.

The first source that has a value counts: `option` (`--input`), `wired` (an earlier step), `request`
(its words), `default`. A value of the request is used only if it is sure. What a writing tool
changes is never taken from words alone: such a value is proposed. If a language model is given, it
is asked about what the words of a request leave open (`routing/inputs/ask_model_for_inputs.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from pulsus.core.arguments.filler import FilledValue
from pulsus.core.python_source import python_parser
from pulsus.core.types import (
    ArgSpec,
    Catalogue,
    InputValue,
    JsonValue,
    OutputRef,
    ParamRef,
    ParsedIntent,
    RouteDecision,
    RouteOutcome,
)
from pulsus.errors import PlanUnwirable
from pulsus.execution.parse_inputs import parse_inputs
from pulsus.routing import plan_preview
from pulsus.routing.inputs import (
    input_conflicts,
    input_notes,
    plan_steps,
    promoted_steps,
)
from pulsus.routing.inputs.plan_steps import PromotedPlan, StepInputs
from pulsus.routing.inputs.request_values import (
    NO_VALUES,
    RequestValues,
    by_parameter,
    improve_values,
    read_values,
)

if TYPE_CHECKING:
    from pulsus.routing.delivery.project_protocol import Project
    from pulsus.routing.inputs.ask_model_for_inputs import InputModel
    from pulsus.routing.search.search_result import SearchResult


def decision_arguments(outcome: RouteOutcome) -> tuple[ArgSpec, ...]:
    """Return the arguments of what was decided: of the plan, or of the selected tool."""
    return plan_steps.decision_arguments(outcome.decision)


def input_model(project: Project, told: Callable[[str], None]) -> InputModel | None:
    """Return the model for inputs that the words leave open; None without one or if it is off.

    `told` gets a line before each wait.
    """
    settings = project.settings.model
    if not (settings.inputs and settings.base_url):
        return None
    # Late, because most projects have no model.
    from pulsus.routing.inputs.ask_model_for_inputs import InputModel

    return InputModel(settings.name, lambda: project.model(settings.input_seconds), told)


def with_inputs(
    outcome: RouteOutcome,
    pairs: Sequence[str],
    *,
    fill: bool,
    now: datetime,
    promoted: PromotedPlan | None = None,
    model: InputModel | None = None,
) -> RouteOutcome:
    """Return the outcome with its inputs, what is missing, proposed and not used.

    `pairs` are the `--input` texts. Without `fill` the request is not read for values. An optional
    input of a step that gets a value becomes a parameter of the plan. `promoted` is the plan of a
    selected composition. `model` is asked about inputs of a selected tool that reads. Raises
    UsageError for a pair that does not fit.
    """
    if not outcome.decision.selected:
        return outcome
    steps = plan_steps.list_steps(outcome, promoted)
    names = [pair.partition("=")[0].rstrip(":") for pair in pairs]
    read, use, request = NO_VALUES, None, ""
    if fill:
        request = plan_steps.readable_request(outcome)
        instead = input_conflicts.find_named_instead_of_wired(steps, names, now)
        if instead:
            outcome = plan_steps.with_separate_parameters(outcome, instead)
            steps = plan_steps.list_steps(outcome, promoted)
        read = read_values(request, steps, names, now)
        split = input_conflicts.find_conflicts(steps, read.values)
        outcome = plan_steps.with_separate_parameters(outcome, split)
        if model is not None:
            read, use = improve_values(request, steps, names, now, read, model)
    outcome = plan_steps.with_parameters(outcome, _new_parameters(steps, read, names))
    steps = plan_steps.list_steps(outcome, promoted)
    args = decision_arguments(outcome)
    given = parse_inputs(pairs, [replace(arg, required=False) for arg in args])
    found = by_parameter(steps, read.values) if read.values else {}
    found = {name: value for name, value in found.items() if name not in given}
    if given and found:
        found = _without_answered(request, steps, found, given, now)
    inputs = {name: InputValue(value, "option") for name, value in given.items()}
    inputs |= {name: _from_request(one) for name, one in found.items() if one.state == "fill"}
    said = by_parameter(steps, read.same_as_default) if read.same_as_default else {}
    inputs |= {
        name: replace(_from_request(one), is_default=True)
        for name, one in said.items()
        if name not in inputs and name not in found
    }
    inputs |= {a.name: d for a in args if a.name not in inputs and (d := _default(a)) is not None}
    # The name of a tool calls it. Of one that writes it may also be the thing that is meant.
    writes = any(step.tool.kind == "write" for step in steps)
    called = {word for step in steps for word in (step.tool.name, step.tool.id) if not writes}
    unused = tuple(text for text in read.unused if text not in called)
    if unused and given:
        request = plan_steps.readable_request(outcome)
        declined = _declined_texts(request, steps, args, given, now)
        unused = tuple(text for text in unused if text not in declined)
    named = [arg for arg in args if not arg.kind.startswith("var_")]
    left_out = input_notes.find_left_out(outcome, steps, read, found, inputs) if fill else ()
    missing = tuple(arg for arg in named if arg.required and arg.name not in inputs)
    needed = {arg.name for arg in missing}
    written = {n for step in steps if step.tool.kind == "write" for n in step.names.values()}
    proposed = {n: _from_request(one) for n, one in found.items() if one.state == "propose"}
    # A write is never run without a likely value: its default may be another user's data.
    proposed = {
        name: replace(value, unclear=value.unclear or name in written - needed)
        for name, value in proposed.items()
    }
    return replace(
        outcome,
        inputs={**{a.name: inputs[a.name] for a in named if a.name in inputs}, **_wired(outcome)},
        missing=missing,
        proposed=proposed,
        unused=_not_named(_not_given(unused, given), left_out),
        left_out=left_out,
        input_model=use,
        notes=(
            *outcome.notes,
            *input_notes.say_left_out(left_out),
            *input_notes.columns_to_choose(steps, needed),
            *input_notes.model_failures(use),
            *input_notes.early_limits(steps, read, {*given, *found}),
        ),
    )


def inputs_of_search(
    intent: ParsedIntent,
    found: SearchResult,
    catalogue: Catalogue,
    *,
    max_steps: int,
    now: datetime,
) -> dict[str, InputValue]:
    """Return the inputs that a route with this search result fills, as `named_inputs` names them.

    Empty if no tool was chosen, or if no plan can be made of the chosen ones. A language model is
    not asked.
    """
    choice = found.choice
    tools = tuple(ranked.tool for ranked in choice.chosen)
    try:
        several = choice.policy == "compose"
        plan = plan_preview.compose_plan(intent.intent, tools, max_steps) if several else None
    except PlanUnwirable:
        return {}
    outcome = RouteOutcome(
        run_id="",
        intent=intent,
        decision=RouteDecision("", choice.policy, tools, plan, choice.reason),
        candidates=found.candidates,
        tau=0.0,
        widened=found.widened,
        subintents=found.subintents,
    )
    promoted = promoted_steps.read_promoted_plan(outcome, catalogue)
    return named_inputs(with_inputs(outcome, (), fill=True, now=now, promoted=promoted))


def named_inputs(outcome: RouteOutcome) -> dict[str, InputValue]:
    """Return every input that has a value by its own name, in a plan as `TOOL.INPUT`."""
    plan = outcome.decision.plan
    if plan is None:
        return dict(outcome.inputs)
    by_id = {tool.id: tool for tool in outcome.decision.selected}
    found: dict[str, InputValue] = {}
    for step in plan.steps:
        tool = by_id[step.tool]
        for arg in tool.args:
            source = step.inputs.get(arg.name)
            if isinstance(source, ParamRef):
                value = outcome.inputs.get(source.name)
            elif source is None:
                value = _default(arg)
            else:
                value = outcome.inputs.get(f"{step.id}.{arg.name}")
            if value is not None:
                found.setdefault(f"{tool.name}.{arg.name}", value)
    return found


def call_values(outcome: RouteOutcome) -> dict[str, JsonValue]:
    """Return the values to call the decision with; defaults and wired inputs are left to it."""
    return {
        name: value.value
        for name, value in outcome.inputs.items()
        if value.source in ("option", "request", "answer")
    }


def _new_parameters(
    steps: Sequence[StepInputs], read: RequestValues, names: Collection[str]
) -> list[tuple[str, str]]:
    """Return the optional inputs, as (step id, input), that need a parameter of the plan.

    These are inputs with a sure value, inputs that `--input` names, and two kinds of proposals that
    a person has to decide on: unclear ones, and those for a step that writes.
    """
    wanted: list[tuple[str, str]] = []
    for step, values in zip(steps, read.values or [()] * len(steps), strict=True):
        writes = step.tool.kind == "write"
        wanted += [(step.id, v.name) for v in values if v.state == "fill" or v.unclear or writes]
    parameters = {name for step in steps for name in step.names.values()}
    for name in names:
        if name not in parameters:
            having = [step.id for step in steps if any(a.name == name for a in step.tool.args)]
            wanted += [(having[0], name)] if len(having) == 1 else []
    return list(dict.fromkeys(wanted))


def _from_request(value: FilledValue) -> InputValue:
    unclear = value.state == "propose" and value.unclear
    return InputValue(value.value, "request", value.text, value.p, value.by, unclear)


def _not_given(texts: Sequence[str], given: Mapping[str, JsonValue]) -> tuple[str, ...]:
    """Return the texts that `--input` does not give either."""
    values = _value_texts(given)
    return tuple(text for text in dict.fromkeys(texts) if text not in values)


def _declined_texts(
    request: str,
    steps: Sequence[StepInputs],
    args: Sequence[ArgSpec],
    given: Mapping[str, JsonValue],
    now: datetime,
) -> set[str]:
    """Return the words of proposals in whose place `--input` gives the default.

    The hint of `INPUT_UNCLEAR` says how to run without them, so they are no words left over.
    """
    defaults = {arg.name: d.value for arg in args if (d := _default(arg)) is not None}
    own = {name for name, value in given.items() if name in defaults and defaults[name] == value}
    if not own:
        return set()
    said = by_parameter(steps, read_values(request, steps, (), now).values)
    return {one.text for name, one in said.items() if name in own and one.state == "propose"}


def _without_answered(
    request: str,
    steps: Sequence[StepInputs],
    found: Mapping[str, FilledValue],
    given: Mapping[str, JsonValue],
    now: datetime,
) -> dict[str, FilledValue]:
    """Return the values without those from words that only a given input took, with its value.

    `30 days` is answered by `--input days=30`. An input that is given takes no words any more, so
    another one would claim them: `max_files=30` would let a run delete only so many files. A word
    that a given value equals is not proposed for another input either, if each place where the
    request has it is given.
    """
    said = by_parameter(steps, read_values(request, steps, (), now).values)
    answered = [said[n].text for n, v in given.items() if n in said and said[n].value == v]
    values = _value_texts(given)

    def is_answered(name: str, one: FilledValue) -> bool:
        text = one.text
        is_own = name in said and said[name].text == text
        if not text or (is_own and one.state == "fill"):
            return False
        places = len(re.findall(rf"(?<!\w){re.escape(text)}(?!\w)", request))
        if 0 < places <= values.count(text):
            return True
        return not is_own and 0 < request.count(text) <= sum(w.count(text) for w in answered)

    return {name: one for name, one in found.items() if not is_answered(name, one)}


def _value_texts(given: Mapping[str, JsonValue]) -> list[str]:
    """Return the texts of all given values, and of the items of given lists."""
    return [
        str(each)
        for value in given.values()
        for each in (value if isinstance(value, list) else [value])
    ]


def _not_named(texts: Sequence[str], left_out: Sequence[str]) -> tuple[str, ...]:
    """Return the texts that stand in none of the words that are left out, which say more."""
    return tuple(text for text in texts if not any(text in words for words in left_out))


def _default(arg: ArgSpec) -> InputValue | None:
    if arg.default is None or arg.kind.startswith("var_"):
        return None
    try:
        return InputValue(python_parser.read_literal(arg.default), "default")
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return InputValue(arg.default, "default")


def _wired(outcome: RouteOutcome) -> dict[str, InputValue]:
    """Return the inputs that an earlier step feeds, as `step.input` with `step.output`."""
    plan = outcome.decision.plan
    return {
        f"{step.id}.{name}": InputValue(f"{value.step}.{value.output}", "wired")
        for step in (plan.steps if plan else ())
        for name, value in step.inputs.items()
        if isinstance(value, OutputRef)
    }
