"""A saved plan as Markdown for a review comment (contracts: below 65,000 characters). Pure.

Text is escaped in `cli/render/plan_views/markdown_escape.py`.

Everything that stands in the file is shown as code, so it can form neither markup nor a mention.
Whole blocks are left out at the end, with a note, if the text would be too long. Steps that write
come first.
"""

from __future__ import annotations

from collections.abc import Iterator

from pulsus.cli.render.plan_views.markdown_escape import code_span, prose, table_code
from pulsus.cli.render.plan_views.mermaid_graph import mermaid_graph
from pulsus.cli.render.plan_views.plan_page import PlanPage
from pulsus.cli.render.plan_views.step_words import (
    count_kinds,
    cut,
    describe_control,
    describe_kind,
    describe_review,
    describe_stages,
    describe_value,
)
from pulsus.core.types import PlanStep

MAX_CHARS = 64_900
"""Longest text. GitHub and GitLab refuse a comment from 65,536 characters on."""
_VALUE = 160
"""Characters of a value or a name."""
_SHORT = 40
"""Characters of a version. With 50 steps, the table must fit."""
_ROWS = 40
"""Inputs of a step that are listed."""
_MOVED = 20
_NOTES = 10
_ALTERNATIVES = 5


def saved_plan_markdown(page: PlanPage) -> str:
    """Return the Markdown, shorter than 65,000 characters for every plan."""
    return fit_blocks([*_list_blocks(page)], f"pulsus show {cut(page.file, _VALUE)}")


def fit_blocks(blocks: list[str], command: str) -> str:
    """Return the blocks that fit, in order. A note counts those left out, and names `command`."""
    room = MAX_CHARS - len(code_span(command)) - 40
    kept: list[str] = []
    for block in blocks:
        if len(block) + 1 <= room:
            kept.append(block)
            room -= len(block) + 1
    omitted = len(blocks) - len(kept)
    text = "\n".join(kept)
    if not omitted:
        return text
    parts = "1 more part does" if omitted == 1 else f"{omitted} more parts do"
    return f"{text}\n_{parts} not fit here: {code_span(command)}_\n"


def _list_blocks(page: PlanPage) -> Iterator[str]:
    """Yield complete blocks of Markdown, the most important first."""
    saved = page.saved
    yield "".join(f"{line}\n" for line in _head_lines(page))
    yield "".join(f"{line}\n" for line in _table_lines(page))
    writes = set(saved.writes)
    for step in sorted(saved.plan.steps, key=lambda step: step.id not in writes):
        yield "".join(f"{line}\n" for line in _step_lines(page, step))
    if len(saved.plan.steps) > 1:
        yield f"```mermaid\n{mermaid_graph(page)}```\n"
    notes = [page.catalogue_note] if page.catalogue_note else []
    notes += page.notes
    if notes:
        listed = (f"- Note: {prose(cut(note, _VALUE))}\n" for note in notes[:_NOTES])
        yield "".join(listed) + _count_rest(len(notes) - _NOTES, "note")


def _head_lines(page: PlanPage) -> Iterator[str]:
    saved = page.saved
    yield f"### Plan {code_span(cut(page.file, _VALUE))}"
    yield ""
    wanted = saved.request or saved.plan.description
    if wanted:
        yield f"- Request: {code_span(cut(wanted, 1_000))}"
    yield f"- {count_kinds(saved)}"
    if len(saved.plan.steps) > 1:
        order = describe_stages(page.graph.stages, saved.writes)
        yield f"- Order: {prose(cut(order, 1_000))}"
    if page.missing:
        yield f"- **Missing inputs:** {code_span(cut(', '.join(page.missing), 1_000))}"
    yield f"- {code_span(page.hash)}"
    if not page.moved:
        yield "- Still as reviewed"
    for each in page.moved[:_MOVED]:
        yield f"- **Moved:** {prose(cut(each, _VALUE))}"
    if rest := _count_rest(len(page.moved) - _MOVED, "moved part").rstrip():
        yield rest


def _table_lines(page: PlanPage) -> Iterator[str]:
    yield "| # | step | tool | kind |"
    yield "| --- | --- | --- | --- |"
    for number, step in enumerate(page.saved.plan.steps, 1):
        version = f"@{cut(step.version, _SHORT)}" if step.version else ""
        kind = describe_kind(page.saved.reviewed(step.id))
        tool = table_code(f"{cut(step.tool, 2 * _SHORT)}{version}")
        name = table_code(cut(step.id, _VALUE))
        yield f"| {number} | {name} | {tool} | {f'**{kind}**' if kind == 'WRITES' else kind} |"


def _step_lines(page: PlanPage, step: PlanStep) -> Iterator[str]:
    review = page.saved.reviewed(step.id)
    kind = describe_kind(review)
    yield f"#### {code_span(cut(step.id, _VALUE))}{' **WRITES**' if kind == 'WRITES' else ''}"
    yield ""
    tool = cut(step.tool, _VALUE)
    pin = f" {code_span(step.sha256[:8])}" if step.sha256 else ""
    version = f"version {prose(cut(step.version, _VALUE))}" if step.version else "not promoted"
    yield f"- tool: {code_span(tool)}, {version}{pin}"
    for number, (name, value) in enumerate(step.inputs.items()):
        if number == _ROWS:
            yield _count_rest(len(step.inputs) - _ROWS, "input").rstrip()
            break
        found = describe_value(name, value, page, _VALUE)
        source = f" — {prose(found.source)}" if found.source else ""
        yield f"- input {code_span(cut(name, _VALUE))}: {code_span(found.text)}{source}"
    if step.outputs:
        yield f"- gives: {code_span(cut(', '.join(step.outputs), _VALUE))}"
    for label, words in (*describe_control(step, _VALUE), *describe_review(review, _VALUE)):
        yield f"- {label}: {prose(cut(words, 2 * _VALUE))}"
    found_alternatives = [each for each in page.saved.alternatives if each.step == step.id]
    for each in found_alternatives[:_ALTERNATIVES]:
        reason = prose(cut(each.why_not, _VALUE))
        mark = " **WRITES**" if each.tool in page.writers else ""
        tool = f"{code_span(cut(each.tool, _VALUE))}{mark}"
        yield f"- instead: {tool} p={each.p:.2f}: {reason}"


def _count_rest(number: int, what: str) -> str:
    if number <= 0:
        return ""
    return f"- … and {number:,} more {what if number == 1 else f'{what}s'}\n"
