"""Read a placement plan that is to be checked: the JSON of `pulsus place`, or a list of actions.

Effects: reads the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pulsus.placement.cluster import PlacementAction
from pulsus.placement.cluster_file import parse_text, read_text, refuse_value
from pulsus.placement.cluster_values import FaultyValue


def load_plan(path: Path) -> tuple[tuple[PlacementAction, ...], frozenset[int] | None]:
    """Return the actions, and the vmids that the plan leaves unplaced; None if it names none.

    Raises ClusterInvalid with file, line, value and fix.
    """
    text = read_text(path)
    data = parse_text(path, text)
    try:
        return _actions(data), _unplaced(data)
    except FaultyValue as fault:
        refuse_value(path, text, fault)


def _actions(data: Any) -> tuple[PlacementAction, ...]:
    entries = data.get("actions") if isinstance(data, dict) else data
    if not isinstance(entries, list):
        raise FaultyValue("actions", entries, "there is no list of actions", "add `actions`")
    return tuple(_action(entry, f"actions[{number}]") for number, entry in enumerate(entries))


def _action(entry: Any, place: str) -> PlacementAction:
    if not isinstance(entry, Mapping):
        raise FaultyValue(place, entry, f"{entry!r} is not a mapping", "write action, vmid, target")
    unknown = set(entry) - {"action", "vmid", "source", "target"}
    if unknown:
        key = min(map(str, unknown))
        raise FaultyValue(f"{place}.{key}", key, f"unknown key {key!r}", "remove it")
    kind, vmid, target = entry.get("action"), entry.get("vmid"), entry.get("target")
    source = entry.get("source")
    if kind not in ("migrate", "start"):
        raise FaultyValue(
            f"{place}.action", kind, f"{kind!r} is no action", "write migrate or start"
        )
    if isinstance(vmid, bool) or not isinstance(vmid, int):
        raise FaultyValue(f"{place}.vmid", vmid, f"{vmid!r} is no vmid", "write a whole number")
    if not isinstance(target, str) or not target:
        raise FaultyValue(f"{place}.target", target, f"{target!r} is no host", "name the host")
    if source is not None and not isinstance(source, str):
        raise FaultyValue(f"{place}.source", source, f"{source!r} is no host", "name the host")
    return PlacementAction("start" if kind == "start" else "migrate", vmid, target, source or "")


def _unplaced(data: Any) -> frozenset[int] | None:
    entries = data.get("unplaced") if isinstance(data, dict) else None
    if entries is None:
        return None
    if not isinstance(entries, list):
        raise FaultyValue("unplaced", entries, f"{entries!r} is not a list", "write a list")
    found = set()
    for number, entry in enumerate(entries):
        vmid = entry.get("vmid") if isinstance(entry, dict) else entry
        if isinstance(vmid, bool) or not isinstance(vmid, int):
            raise FaultyValue(
                f"unplaced[{number}]", vmid, f"{vmid!r} is no vmid", "write a whole number"
            )
        found.add(vmid)
    return frozenset(found)
