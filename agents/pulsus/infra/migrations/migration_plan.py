"""A migration plan from outside becomes typed actions, or is refused (tool calling §32.4). Pure.

Refused are names that are no DNS label, vmids out of range, unknown keys, and more than 10,000
actions. If the plan fits the cluster is decided in `check_migrations.py`.
"""

from __future__ import annotations

import re
from typing import Final

from pulsus.core.types import JsonValue
from pulsus.errors import PlanInvalid
from pulsus.placement.cluster import PlacementAction

NODE_NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
"""The name of a node: a DNS label. It never begins with a hyphen, so it is never an option."""

MOST_ACTIONS: Final = 10_000
_VMIDS: Final = range(100, 1_000_000_000)
"""The ids that Proxmox VE gives to guests."""

_FIELDS: Final = frozenset({"action", "vmid", "source", "target"})


def parse_actions(plan: JsonValue, *, needs_source: bool = True) -> tuple[PlacementAction, ...]:
    """Return the actions of a plan. Raises PlanInvalid that names the action and the value.

    Nothing is corrected: a name that is no name of a node is refused, never shortened. Without
    `needs_source` a migration may leave its source out, which is empty then.
    """
    if not isinstance(plan, list) or not plan:
        raise PlanInvalid("the migration plan has no actions", hint="a plan is a list of actions")
    if len(plan) > MOST_ACTIONS:
        raise PlanInvalid(f"the migration plan has {len(plan)} actions, more than {MOST_ACTIONS}")
    rows = enumerate(plan, start=1)
    return tuple(_parse(row, number, needs_source=needs_source) for number, row in rows)


def plan_rows(actions: tuple[PlacementAction, ...]) -> list[JsonValue]:
    """Return the actions as JSON values, which `parse_actions` reads."""
    return [
        {
            "action": each.action,
            "vmid": each.vmid,
            "source": each.source or None,
            "target": each.target,
        }
        for each in actions
    ]


def _parse(row: JsonValue, number: int, *, needs_source: bool) -> PlacementAction:
    if not isinstance(row, dict) or not row.keys() <= _FIELDS:
        raise _invalid(number, f"{row!r} is not an object of {', '.join(sorted(_FIELDS))}")
    action, vmid, source = row.get("action"), row.get("vmid"), row.get("source")
    if action not in ("migrate", "start"):
        raise _invalid(number, f"action {action!r} is neither migrate nor start")
    if not isinstance(vmid, int) or isinstance(vmid, bool) or vmid not in _VMIDS:
        raise _invalid(number, f"vmid {vmid!r} is not a number from {_VMIDS[0]} on")
    target = _node(row.get("target"), "target", number)
    if action == "start":
        if source is not None:
            raise _invalid(number, f"a start has no source, not {source!r}")
        return PlacementAction("start", vmid, target)
    if source is None and not needs_source:
        return PlacementAction("migrate", vmid, target)
    found = _node(source, "source", number)
    if found == target:
        raise _invalid(number, f"vmid {vmid} would move from {found} to itself")
    return PlacementAction("migrate", vmid, target, found)


def _node(value: JsonValue, field: str, number: int) -> str:
    if not isinstance(value, str) or not NODE_NAME.fullmatch(value):
        raise _invalid(number, f"{field} {value!r} is no name of a node")
    return value


def _invalid(number: int, why: str) -> PlanInvalid:
    return PlanInvalid(
        f"action {number} of the migration plan: {why}",
        hint="ask for a new plan; a plan is never corrected",
    )
