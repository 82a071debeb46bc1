"""The parts of a step in words: values with their source, control keys, effects. Pure.

All views of a plan use them. A value is cut with a note of its length, and is on one line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from pulsus.cli.render.inputs_text import shown
from pulsus.cli.render.plan_views.plan_page import PlanPage
from pulsus.core.compose.plans.dsl.plan_values import value_to_json
from pulsus.core.compose.saved_plans.saved_plan import SavedInput, SavedPlan, StepReview
from pulsus.core.telemetry.sanitize import one_line
from pulsus.core.types import (
    Constant,
    Expression,
    JsonValue,
    OutputRef,
    ParamRef,
    PlanStep,
    PlanValue,
    Structure,
    Template,
)
from pulsus.fast_dataclass import dataclass
from pulsus.late_pattern import late_pattern
from pulsus.routing.inputs.missing_words import describe_proposed, proposed_option, read_proposals

_PARAMETER = late_pattern(r"\binput\.([A-Za-z_]\w*)")

MOST = 200
"""Characters of a value that are shown without `-v`."""


@dataclass(frozen=True, slots=True)
class ShownValue:
    """A value of a step: its text, and in words where it comes from (empty if it stands there)."""

    text: str
    source: str = ""


def cut(text: str, most: int | None) -> str:
    """Return the text on one line, cut with a note of its length. None as `most` cuts nothing."""
    if most is not None and len(text) > most:
        # Cut first: a value may have millions of characters.
        return f"{one_line(text[:most], most)}… ({len(text):,} characters)"
    return one_line(text, len(text) + 1)


def describe_value(
    name: str, value: PlanValue, page: PlanPage, most: int | None = MOST
) -> ShownValue:
    """Return what the input `name` of a step gets. Texts are cut at `most` characters."""
    match value:
        case Constant(constant):
            return ShownValue(_write(constant, most))
        case ParamRef(param):
            given = page.saved.inputs.get(param)
            if given is None:
                return ShownValue("missing", _how_to_give(param, page, most))
            renamed = [cut(param, most)] if param != name else []
            return ShownValue(
                _write(given.value, most), ", ".join([*renamed, *_list_sources(given, most)])
            )
        case OutputRef(step, output):
            return ShownValue(cut(f"{output} of {step}", most))
        case Expression(source):
            return _with_values(cut(f"{{{{ {source} }}}}", most), "computed", source, page, most)
        case Template(source):
            text = cut(source, most)
            return _with_values(text, "text with values in it", source, page, most)
        case Structure():
            text = _write(value_to_json(value), most)
            return _with_values(text, "with values in it", text, page, most)


def _with_values(text: str, what: str, source: str, page: PlanPage, most: int | None) -> ShownValue:
    """Return a text that refers to parameters of the plan, with the value of each behind it."""
    saved, names = page.saved, dict.fromkeys(_PARAMETER.findall(source))
    given = [
        f"{name} is {_write(saved.inputs[name].value, most)}"
        if name in saved.inputs
        else f"{name} is missing; {_how_to_give(name, page, most)}"
        for name in names
        if name in saved.plan.params
    ]
    return ShownValue(text, f"{what}: {', '.join(given)}" if given else what)


def _how_to_give(name: str, page: PlanPage, most: int | None) -> str:
    """Return how to give a missing input, with the value that the request proposes."""
    proposed = read_proposals(page.saved.notes)
    likely = f"{describe_proposed(proposed[name])}; " if name in proposed else ""
    return cut(f"{likely}give {proposed_option(name, proposed, page.types.get(name))}", most)


def describe_control(step: PlanStep, most: int | None = MOST) -> Iterator[tuple[str, str]]:
    """Yield label and words of each key that controls the step."""
    if step.needs:
        yield "after", ", ".join(step.needs)
    if step.when is not None:
        yield "only if", _describe_condition(step.when, most)
    if step.for_each is not None:
        items = _describe_items(step.for_each.items, most)
        yield "for each", f"item of {items}, at most {step.for_each.limit:,}"
    if step.retry is not None:
        pause = f", {step.retry.delay_s:g} s apart" if step.retry.delay_s else ""
        yield "retry", f"up to {step.retry.attempts} attempts{pause}"
    if step.timeout_s is not None:
        yield "timeout", f"{step.timeout_s:g} s"
    if step.on_failure == "continue":
        yield "failure", "steps that do not depend on it go on"


def _describe_condition(when: Expression, most: int | None) -> str:
    """Return the condition in words; without a limit of characters also as it is written."""
    from pulsus.cli.render.plan_views.expression_words import condition_words

    words = cut(condition_words(when.source), most)
    return words if most is not None else f"{words}: {cut(f'{{{{ {when.source} }}}}', None)}"


def _describe_items(items: PlanValue, most: int | None) -> str:
    """Return the list of `for_each` in words; without a limit of characters also as written."""
    match items:
        case Constant(constant):
            return _write(constant, most)
        case OutputRef(step, output):
            return cut(f"{output} of {step}", most)
        case ParamRef(name):
            return cut(f"the input {name}", most)
        case Expression() | Template() | Structure():
            from pulsus.cli.render.plan_views.expression_words import value_words

            words = cut(value_words(items), most)
            return words if most is not None else f"{words} ({_write(value_to_json(items), None)})"


def describe_review(review: StepReview, most: int | None = MOST) -> Iterator[tuple[str, str]]:
    """Yield label and words of effects, target, approval, verification and undo of a step."""
    yield "effects", cut(_describe_effects(review), most)
    if review.target:
        yield "target", cut(", ".join(review.target), most)
    if review.kind != "write":
        return
    yield "approval", _describe_approval(review)
    yield "verify", cut(review.verify, most) if review.verify else "nothing checks the change"
    yield "undo", cut(review.undo, most) if review.undo else "none declared"


def describe_kind(review: StepReview) -> str:
    """Return the kind, with writes in capitals."""
    return "WRITES" if review.kind == "write" else review.kind


def describe_stages(stages: tuple[tuple[str, ...], ...], writes: tuple[str, ...]) -> str:
    """Return the order of a run: `a + b, then c (alone)`. A write runs alone."""
    named = [f"{stage[0]} (alone)" if stage[0] in writes else " + ".join(stage) for stage in stages]
    return ", then ".join(named)


def count_kinds(saved: SavedPlan) -> str:
    """Return how many steps the plan has, and how many of them change something."""
    steps, writes = len(saved.plan.steps), len(saved.writes)
    told = f"{steps} step" if steps == 1 else f"{steps} steps"
    if not writes:
        return f"{told}, nothing is changed"
    if steps == 1:
        return f"{told}, it WRITES"
    return f"{told}, {writes} of them {'WRITES' if writes == 1 else 'WRITE'}"


def _write(value: JsonValue, most: int | None) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    short = most is None or len(text) <= most
    return cut(shown(value) if short else text, most)


def _list_sources(given: SavedInput, most: int | None) -> Iterator[str]:
    if given.file is not None:
        yield f"file {cut(given.file, most)}"
    elif given.source != "request":
        yield {"option": "--input", "answer": "an answer"}.get(given.source, given.source)
    elif given.text:
        yield f'from "{cut(given.text, most)}"'
        if given.p < 0.995:
            yield f"p={given.p:.2f}"
    else:
        yield "request"


def _describe_effects(review: StepReview) -> str:
    effects = review.effects
    if effects is None:
        return "not declared"
    named = (("paths", effects.paths), ("hosts", effects.hosts), ("commands", effects.commands))
    return "; ".join(f"{name} {', '.join(each)}" for name, each in named if each) or "none"


def _describe_approval(review: StepReview) -> str:
    match review.approval:
        case None | "none" | "operator":
            return "a confirmation"
        case "approver":
            return "an approver types the target"
        case other:
            return cut(other, MOST)
