"""Read a placement plan that is to be checked: the JSON of `pulsus place`, or a list of actions.

Effects: reads the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pulsus.core.system.regular_files import ExpectedFile
from pulsus.errors import ClusterInvalid
from pulsus.placement.cluster import PlacementAction
from pulsus.placement.cluster_file import MAX_BYTES, read_document, refuse_value
from pulsus.placement.cluster_values import MOST_VMID, FaultyValue, read_name, shown_value

_EXPECTED = ExpectedFile(
    "a placement plan",
    MAX_BYTES,
    ClusterInvalid,
    ("actions", "action"),
    "pulsus place CLUSTER.json --output json makes one",
)
_PLAN_HINT = "make one with `pulsus place CLUSTER.json --output json > plan.json`"
_KEYS_HINT = "write action, vmid, target"


def load_plan(path: Path) -> tuple[tuple[PlacementAction, ...], frozenset[int] | None]:
    """Return the actions, and the vmids that the plan leaves unplaced; None if it names none.

    Raises ClusterInvalid with file, line, value and fix.
    """
    text, data = read_document(path, _EXPECTED)
    try:
        return _actions(data), _unplaced(data)
    except FaultyValue as fault:
        refuse_value(path, text, fault)


def _actions(data: Any) -> tuple[PlacementAction, ...]:
    entries = data.get("actions") if isinstance(data, dict) else data
    if not isinstance(entries, list):
        reason = "this is no placement plan: there is no list of actions"
        raise FaultyValue("actions", entries, reason, _PLAN_HINT)
    return tuple(_action(entry, f"actions[{number}]") for number, entry in enumerate(entries))


def _action(entry: Any, place: str) -> PlacementAction:
    if not isinstance(entry, Mapping):
        raise FaultyValue(place, entry, f"{shown_value(entry)} is not a mapping", _KEYS_HINT)
    unknown = set(entry) - {"action", "vmid", "source", "target"}
    if unknown:
        key = min(map(str, unknown))
        raise FaultyValue(f"{place}.{key}", key, f"unknown key {shown_value(key)}", "remove it")
    kind, vmid, target = entry.get("action"), entry.get("vmid"), entry.get("target")
    source = entry.get("source")
    if kind not in ("migrate", "start"):
        raise FaultyValue(
            f"{place}.action",
            kind,
            f"{shown_value(kind)} is no action",
            "write migrate or start",
        )
    return PlacementAction(
        "start" if kind == "start" else "migrate",
        _vmid(vmid, f"{place}.vmid"),
        read_name(target, f"{place}.target"),
        read_name(source, f"{place}.source") if source else "",
    )


def _unplaced(data: Any) -> frozenset[int] | None:
    entries = data.get("unplaced") if isinstance(data, dict) else None
    if entries is None:
        return None
    if not isinstance(entries, list):
        raise FaultyValue(
            "unplaced", entries, f"{shown_value(entries)} is not a list", "write a list"
        )
    found = set()
    for number, entry in enumerate(entries):
        vmid = entry.get("vmid") if isinstance(entry, dict) else entry
        found.add(_vmid(vmid, f"unplaced[{number}]"))
    return frozenset(found)


def _vmid(value: Any, place: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST_VMID:
        fix = f"write a whole number from 1 to {MOST_VMID}"
        raise FaultyValue(place, value, f"{shown_value(value)} is no vmid", fix)
    return value
