"""Facts of a small cluster with a sick node, for tests of proposals and migrations."""

from typing import Any

from pulsus.kb.fact_base import FactBase, FactView
from tests.knowledge import NOW, base_of

SICK: dict[str, list[dict[str, Any]]] = {
    "nodes": [
        {"name": "pve1", "rack": "r1", "health": "nominal", "ram_mib": 16384, "cpu_mc": 8000},
        {"name": "pve2", "rack": "r2", "health": "nominal", "ram_mib": 16384, "cpu_mc": 8000},
        {"name": "pve3", "rack": "r3", "health": "degraded", "ram_mib": 16384, "cpu_mc": 8000},
    ],
    "alerts": [{"node": "pve3", "condition": "ecc_errors", "at": NOW.isoformat()}],
    "vms": [
        {"vmid": 101, "host": "pve3", "ram_mib": 4096, "cpu_mc": 1000, "ha_group": "db"},
        {"vmid": 102, "host": "pve1", "ram_mib": 4096, "cpu_mc": 1000, "ha_group": "db"},
        {"vmid": 103, "host": "pve3", "ram_mib": 2048, "cpu_mc": 500},
    ],
}
"""pve3 is degraded and holds VM 101 and 103; VM 101 and 102 must not share a host."""


def view_of(document=SICK, *, use_degraded=False) -> FactView:
    """Return the facts of a document as they hold at NOW."""
    base: FactBase = base_of(document)
    return base.at(NOW, use_degraded=use_degraded)


def changed(section, key, value, **fields):
    """Return SICK with other fields in the row whose `key` has that value; None removes one."""
    rows = [row | fields if row[key] == value else row for row in SICK[section]]
    kept = [{name: each for name, each in row.items() if each is not None} for row in rows]
    return SICK | {section: kept}
