"""The difference of two saved plans as JSON (docs/schemas/diff.json). Pure.

The differences are found in `core/compose/saved_plans/plan_diff.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pulsus.core.compose.saved_plans.plan_diff import PlanChange


def plan_diff_json(changes: Sequence[PlanChange]) -> list[dict[str, Any]]:
    """Return the changes with whole values. A value that is absent has no key."""
    return [
        {
            "section": change.section,
            "name": change.name,
            "difference": change.difference,
            "writes": change.writes,
            "tool": change.tool or None,
            "used_by": list(change.used_by),
            "fields": [
                {
                    "name": each.name,
                    "difference": each.difference,
                    **({} if each.difference == "added" else {"old": each.old}),
                    **({} if each.difference == "removed" else {"new": each.new}),
                }
                for each in change.fields
            ],
        }
        for change in changes
    ]
