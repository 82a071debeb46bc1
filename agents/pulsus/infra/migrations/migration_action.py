"""One action of a migration plan, as typed values (tool calling §32.4). Pure."""

from __future__ import annotations

import re
from typing import Final, Literal

from pulsus.core.types import JsonValue
from pulsus.errors import PlanInvalid
from pulsus.fast_dataclass import dataclass

NODE_NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
"""The name of a node: a DNS label. It never begins with a hyphen, so it is never an option."""

MOST_ACTIONS: Final = 10_000
_VMIDS: Final = range(100, 1_000_000_000)
"""The ids that Proxmox VE gives to guests."""

_FIELDS: Final = frozenset({"action", "vmid", "source", "target"})


@dataclass(frozen=True, slots=True)
class MigrationAction:
    """Move a running guest from `source` to `target`, or start a stopped one on `target`.

    `source` is empty for a start.
    """

    action: Literal["migrate", "start"]
    vmid: int
    target: str
    source: str = ""


def parse_actions(plan: JsonValue) -> tuple[MigrationAction, ...]:
    """Return the actions of a plan. Raises PlanInvalid that names the action and the value.

    Nothing is corrected: a name that is no name of a node is refused, never shortened.
    """
    if not isinstance(plan, list) or not plan:
        raise PlanInvalid("the migration plan has no actions", hint="a plan is a list of actions")
    if len(plan) > MOST_ACTIONS:
        raise PlanInvalid(f"the migration plan has {len(plan)} actions, more than {MOST_ACTIONS}")
    return tuple(_parse(row, number) for number, row in enumerate(plan, start=1))


def _parse(row: JsonValue, number: int) -> MigrationAction:
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
        return MigrationAction("start", vmid, target)
    found = _node(source, "source", number)
    if found == target:
        raise _invalid(number, f"vmid {vmid} would move from {found} to itself")
    return MigrationAction("migrate", vmid, target, found)


def _node(value: JsonValue, field: str, number: int) -> str:
    if not isinstance(value, str) or not NODE_NAME.fullmatch(value):
        raise _invalid(number, f"{field} {value!r} is no name of a node")
    return value


def _invalid(number: int, why: str) -> PlanInvalid:
    return PlanInvalid(
        f"action {number} of the migration plan: {why}",
        hint="ask for a new plan; a plan is never corrected",
    )
