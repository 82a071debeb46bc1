"""The difference of two saved plans as lines for a person. Pure.

The differences are found in `core/compose/saved_plans/plan_diff.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from pulsus.cli.line_folding import fold_line
from pulsus.cli.render.plan_views.saved_plan_text import Style
from pulsus.cli.render.plan_views.step_words import MOST, cut
from pulsus.core.compose.saved_plans.plan_diff import Difference, FieldChange, PlanChange
from pulsus.core.types import JsonValue

SIGNS: dict[Difference, str] = {"added": "+", "removed": "-", "changed": "~"}
_COLOURS: dict[Difference, str] = {"added": "green", "removed": "red", "changed": "yellow"}
_LONGEST_NAME = 20


def plan_diff_lines(
    changes: Sequence[PlanChange], *, verbose: bool, columns: int | None, style: Style
) -> Iterator[str]:
    """Yield the number of changes, then each with its fields. `verbose` shows whole values."""
    yield count_changes(changes)
    most = None if verbose else MOST
    for change in changes:
        yield ""
        sign = style(SIGNS[change.difference], _COLOURS[change.difference])
        yield f"{sign} {describe_change(change)}"
        wide = min(max(len(each.name) for each in change.fields), _LONGEST_NAME)
        for each in change.fields:
            # A setting or property of the plan is its own field; an input may be named `value`.
            own = change.section in ("setting", "plan") and each.name == change.name
            label = "" if own else cut(each.name, most)
            start = f"    {label:<{wide}}  " if label else "    "
            # Within a step that changed, a field may be new.
            told = (
                f"{each.difference} " if change.difference == "changed" != each.difference else ""
            )
            line = f"{start}{told}{describe_field(each, most)}"
            hanging = min(len(start), _LONGEST_NAME + 6)
            yield from (fold_line(line, columns, hanging=hanging) if columns else line).split("\n")


def count_changes(changes: Sequence[PlanChange]) -> str:
    """Return one line: how many parts differ, and how many of them concern a write."""
    if not changes:
        return "the plans are equal"
    writes = sum(change.writes for change in changes)
    told = "1 change" if len(changes) == 1 else f"{len(changes)} changes"
    if not writes:
        return f"{told}, none to a step that writes"
    return f"{told}, {writes} to steps that write"


def describe_change(change: PlanChange) -> str:
    """Return the head of a change: what differs, its tool and its users, and if it writes."""
    parts = [f"{change.section} {cut(change.name, MOST)}"]
    if change.writes and change.section in ("step", "input"):
        parts.append("WRITES")
    if change.tool:
        parts.append(cut(change.tool, MOST))
    if change.used_by:
        parts.append(f"used by {', '.join(change.used_by)}")
    return "  ".join(parts)


def describe_field(change: FieldChange, most: int | None) -> str:
    """Return the values of a field: `old -> new`, or the one that was added or removed."""
    match change.difference:
        case "added":
            return write_value(change.new, most)
        case "removed":
            return write_value(change.old, most)
        case "changed":
            old, new = shorten_pair(change.old, change.new, most)
            return f"{old} -> {new}"


def shorten_pair(old: JsonValue, new: JsonValue, most: int | None) -> tuple[str, str]:
    """Return both values so that they differ: if cutting makes them equal, from the difference."""
    shown = write_value(old, most), write_value(new, most)
    if shown[0] != shown[1]:
        return shown
    texts = write_value(old, None), write_value(new, None)
    at = next((n for n, (a, b) in enumerate(zip(*texts, strict=False)) if a != b), None)
    start = min(map(len, texts)) if at is None else at
    begin = max(0, start - 20)
    return tuple(f"…{cut(each[begin:], most)}" for each in texts)  # type: ignore[return-value]


def write_value(value: JsonValue, most: int | None) -> str:
    """Return the value as JSON text on one line, cut at `most` characters. Hashes are short."""
    if isinstance(value, str) and len(value) == 64 and set(value) <= set("0123456789abcdef"):
        return f"{value[:12]}…"
    return cut(json.dumps(value, ensure_ascii=False), most)
