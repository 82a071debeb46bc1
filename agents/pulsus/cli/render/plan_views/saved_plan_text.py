"""A saved plan as lines for a person. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pulsus.cli.line_folding import fold_line
from pulsus.cli.render.plan_views.plan_page import PlanPage
from pulsus.cli.render.plan_views.step_words import (
    MOST,
    ShownValue,
    count_kinds,
    cut,
    describe_control,
    describe_kind,
    describe_review,
    describe_stages,
    describe_value,
)
from pulsus.core.telemetry.sanitize import strip_controls
from pulsus.core.text.plurals import counted
from pulsus.core.types import PlanStep
from pulsus.routing.clarify import WRITES

_WIDE = 10
"""Columns of the labels."""
_LONGEST_NAME = 20
"""Columns of an input's name; a longer one pushes its value to the right."""
Style = Callable[[str, str], str]


def saved_plan_lines(
    page: PlanPage, *, verbose: bool, columns: int | None, style: Style
) -> Iterator[str]:
    """Yield the plan: its head, its steps in order, its result and the next command.

    `columns` is the width to fold at; None folds nothing. `style(text, name)` colours a text.
    `verbose` shows whole values and all alternatives.
    """
    most = None if verbose else MOST
    for line in _list_lines(page, most, style):
        hanging = len(line) - len(line.lstrip(" ")) + _WIDE + 2
        folded = fold_line(line, columns, hanging=hanging) if columns else line
        yield from folded.split("\n")


def _list_lines(page: PlanPage, most: int | None, style: Style) -> Iterator[str]:
    saved, plan = page.saved, page.saved.plan
    if page.file:
        yield _row("plan", cut(page.file, None), 0)
    if saved.request or plan.description:
        yield _row("request", cut(saved.request or plan.description, most), 0)
    yield _row("steps", count_kinds(saved), 0)
    if len(plan.steps) > 1:
        yield _row("order", describe_stages(page.graph.stages, saved.writes), 0)
    yield _row("sha256", page.hash.removeprefix("sha256:"), 0)
    if page.moved:
        count = counted(len(page.moved), "part")
        yield _row("state", style(f"{count} moved since the plan was made", "red"), 0)
        yield from (_row("", f"- {cut(each, most)}", 0) for each in page.moved)
    else:
        yield _row("state", style("unchanged since it was made", "green"), 0)
    if page.catalogue_note:
        yield _row("note", page.catalogue_note, 0)
    yield from (_row("note", cut(each, most), 0) for each in page.notes)
    for number, step in enumerate(plan.steps, 1):
        yield ""
        yield from _list_step(page, step, number, most, style)
    yield ""
    if plan.returns:
        yield _row("result", ", ".join(plan.returns), 0)
    yield _row("next", style(cut(page.next_command, None), "bold"), 0)


def _list_step(
    page: PlanPage, step: PlanStep, number: int, most: int | None, style: Style
) -> Iterator[str]:
    review = page.saved.reviewed(step.id)
    version = f"@{cut(step.version, most)}" if step.version else " (not promoted)"
    kind = describe_kind(review)
    kind = style(kind, "yellow") if review.kind == "write" else kind
    pin = f"  {step.sha256[:8]}" if step.sha256 else ""
    head = style(f"{number} {step.id}", "bold")
    yield f"{head}  {kind}  {step.tool}{version}{pin}"
    named = [
        (strip_controls(name), describe_value(name, value, page, most))
        for name, value in step.inputs.items()
    ]
    wide = min(max((len(name) for name, _ in named), default=0), _LONGEST_NAME)
    for at, (name, value) in enumerate(named):
        yield _row("" if at else "inputs", f"{name:<{wide}}  {_with_source(value)}", 2)
    if step.outputs:
        given = (n if n == key else f"{n} ({cut(key, most)})" for n, key in step.outputs.items())
        yield _row("gives", ", ".join(given), 2)
    for label, words in (*describe_control(step, most), *describe_review(review, most)):
        yield _row(label, words, 2)
    yield from _list_alternatives(page, step, most)


def _list_alternatives(page: PlanPage, step: PlanStep, most: int | None) -> Iterator[str]:
    found = [each for each in page.saved.alternatives if each.step == step.id]
    for number, each in enumerate(found if most is None else found[:1]):
        more = f" ({len(found) - 1} more with -v)" if most and len(found) > 1 else ""
        label = "" if number else "instead"
        reason = cut(each.why_not, most)
        mark = f" {WRITES}" if each.tool in page.writers else ""
        yield _row(label, f"{cut(each.tool, most)}{mark} p={each.p:.2f}: {reason}{more}", 2)


def _with_source(value: ShownValue) -> str:
    return f"{value.text} ({value.source})" if value.source else value.text


def _row(label: str, text: str, start: int) -> str:
    return f"{'':<{start}}{label:<{_WIDE}}  {text}"
