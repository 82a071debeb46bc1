"""The difference of two saved plans as Markdown for a review comment. Pure.

It is shorter than 65,000 characters. Changes of writes come first, and whole changes are left out
at the end, with a note.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pulsus.cli.render.plan_views.markdown_escape import code_span
from pulsus.cli.render.plan_views.plan_diff_text import (
    SIGNS,
    count_changes,
    shorten_pair,
    write_value,
)
from pulsus.cli.render.plan_views.saved_plan_markdown import fit_blocks
from pulsus.cli.render.plan_views.step_words import cut
from pulsus.core.compose.saved_plans.plan_diff import FieldChange, PlanChange

_VALUE = 160
_FIELDS = 40


def plan_diff_markdown(changes: Sequence[PlanChange], old: str, new: str) -> str:
    """Return the Markdown. `old` and `new` are the names of the files."""
    head = f"### Plan {code_span(cut(old, _VALUE))} → {code_span(cut(new, _VALUE))}\n\n"
    blocks = ["".join(_list_lines(change)) for change in changes]
    command = f"pulsus diff {cut(old, _VALUE)} {cut(new, _VALUE)}"
    return fit_blocks([f"{head}{count_changes(changes)}\n", *blocks], command)


def _list_lines(change: PlanChange) -> Iterator[str]:
    writes = " **WRITES**" if change.writes and change.section in ("step", "input") else ""
    tool = f" {code_span(cut(change.tool, _VALUE))}" if change.tool else ""
    users = f", used by {code_span(cut(', '.join(change.used_by), _VALUE))}"
    yield (
        f"- {code_span(SIGNS[change.difference])} {change.section}"
        f" {code_span(cut(change.name, _VALUE))}{writes}{tool}{users if change.used_by else ''}\n"
    )
    for each in change.fields[:_FIELDS]:
        yield f"  - {code_span(cut(each.name, _VALUE))}: {_describe_field(each)}\n"
    if (rest := len(change.fields) - _FIELDS) > 0:
        yield f"  - … and {rest:,} more {'field' if rest == 1 else 'fields'}\n"


def _describe_field(change: FieldChange) -> str:
    match change.difference:
        case "added":
            return f"added {code_span(write_value(change.new, _VALUE))}"
        case "removed":
            return f"removed {code_span(write_value(change.old, _VALUE))}"
        case "changed":
            old, new = shorten_pair(change.old, change.new, _VALUE)
            return f"{code_span(old)} → {code_span(new)}"
