"""Facts about this machine: capacity, health and a few figures (knowledge base).

Here are the thresholds of disk, memory and load from which this machine is degraded or critical.
The facts expire after 60 s. psutil belongs to the extra `agent` and is imported late. Effect: reads
/proc.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from typing import Final

from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass
from pulsus.infra.processes import load_psutil
from pulsus.kb.facts import THIS_MACHINE

DISK_LIMITS: Final = (90.0, 95.0)
MEMORY_LIMITS: Final = (90.0, 95.0)
LOAD_LIMITS: Final = (2.0, 4.0)
"""Percent of space and of memory; load of the last five minutes a core: warning, critical."""
TTL_SECONDS: Final = 60
_MIB: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class LocalFacts:
    """The fact source of this machine. It fits `FactSource` of the knowledge base."""

    name: str = THIS_MACHINE

    def read(self) -> Mapping[str, JsonValue]:
        """Return the facts document of this machine. Raises ExtraMissing without psutil."""
        psutil = load_psutil()
        node = platform.node()
        cores = psutil.cpu_count() or 1
        figures = {
            "memory_percent": float(psutil.virtual_memory().percent),
            "disk_percent": float(psutil.disk_usage("/").percent),
            "load_per_core": round(os.getloadavg()[1] / cores, 2),
        }
        return {
            "ttl_seconds": TTL_SECONDS,
            "nodes": [
                {
                    "name": node,
                    "health": health_of(figures),
                    "ram_mib": psutil.virtual_memory().total // _MIB,
                    "cpu_mc": cores * 1000,
                }
            ],
            "metrics": [
                {"node": node, "metric": name, "value": value} for name, value in figures.items()
            ],
        }


def health_of(figures: Mapping[str, float]) -> str:
    """Return the health that the figures stand for: nominal, degraded or critical."""
    limits = {
        "memory_percent": MEMORY_LIMITS,
        "disk_percent": DISK_LIMITS,
        "load_per_core": LOAD_LIMITS,
    }
    passed = [sum(figures[name] >= limit for limit in limits[name]) for name in figures]
    return ("nominal", "degraded", "critical")[max(passed)]
