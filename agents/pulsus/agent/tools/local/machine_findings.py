"""Findings about this machine: full disks, failed services, lack of memory (by thresholds).

The thresholds of warnings and critical findings are in `infra/local_facts.py` (`DISK_LIMITS`).

Effect: reads the figures and the state of services. Nothing is stored: a finding exists as long as
its cause does.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal

from pulsus.agent.tools.local import machine_figures
from pulsus.core.text.plurals import counted
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass
from pulsus.infra.inventory import CONTAINER, SERVICE
from pulsus.infra.local_facts import DISK_LIMITS, LOAD_LIMITS, MEMORY_LIMITS
from pulsus.infra.local_machine import LocalMachine
from pulsus.infra.processes import load_psutil

Severity = Literal["info", "warning", "critical"]

_VMSTAT: Final = Path("/proc/vmstat")


@dataclass(frozen=True, slots=True)
class LocalFinding:
    """One finding. `id` is the same as long as its cause lasts. `value` passed `threshold`."""

    id: str
    resource_id: str
    resource_name: str
    type: str
    severity: Severity
    title: str
    value: float | None = None
    threshold: float | None = None

    def to_json(self) -> dict[str, JsonValue]:
        """Return the finding as a row of a result."""
        return {
            "id": self.id,
            "key": self.id,
            "resource_id": self.resource_id,
            "resource_name": self.resource_name,
            "type": self.type,
            "severity": self.severity,
            "title": self.title,
            "value": self.value,
            "threshold": self.threshold,
            "status": "active",
        }


def find_problems(machine: LocalMachine) -> list[LocalFinding]:
    """Return every finding, critical ones first. Raises ExtraMissing without psutil."""
    found = [*_space(machine), *_memory(machine), *_resources(machine)]
    order: dict[Severity, int] = {"critical": 0, "warning": 1, "info": 2}
    return sorted(found, key=lambda each: (order[each.severity], each.id))


def _space(machine: LocalMachine) -> Iterator[LocalFinding]:
    host = machine.host
    for row in machine_figures.file_systems():
        for kind, key, what in (
            ("disk", "usage_percent", "space"),
            ("inodes", "inodes_percent", "inodes"),
        ):
            value = row[key]
            if not isinstance(value, int | float) or row["read_only"]:
                continue
            severity, threshold = _grade(value, DISK_LIMITS)
            if severity:
                mount = str(row["mountpoint"])
                title = f"{mount} has used {value:g} % of its {what}"
                yield LocalFinding(
                    f"{kind}:{mount}",
                    host.id,
                    host.name,
                    kind,
                    severity,
                    title,
                    float(value),
                    threshold,
                )


def _memory(machine: LocalMachine) -> Iterator[LocalFinding]:
    host = machine.host
    psutil = load_psutil()
    used = float(psutil.virtual_memory().percent)
    load = os.getloadavg()[1] / (os.cpu_count() or 1)
    for kind, value, limits, title in (
        ("memory", used, MEMORY_LIMITS, f"{used:g} % of the memory is in use"),
        ("load", round(load, 2), LOAD_LIMITS, f"the load of five minutes is {load:.2f} a core"),
    ):
        severity, threshold = _grade(value, limits)
        if severity:
            yield LocalFinding(kind, host.id, host.name, kind, severity, title, value, threshold)
    kills = _out_of_memory_kills()
    if kills:
        ended = counted(kills, "process", "processes")
        title = f"the kernel ended {ended} for lack of memory since the start"
        yield LocalFinding(
            "out_of_memory", host.id, host.name, "out_of_memory", "warning", title, kills, 0.0
        )


def _resources(machine: LocalMachine) -> Iterator[LocalFinding]:
    for entry in machine.list_resources((SERVICE, CONTAINER)).entries:
        if entry.status == "failed":
            resource = entry.resource
            what = "service" if resource.kind == SERVICE else "container"
            state = entry.details.get("state", "")
            title = f"the {what} {resource.name} failed ({state})"
            yield LocalFinding(
                f"failed:{resource.id}",
                resource.id,
                resource.name,
                f"{what}_failed",
                "critical",
                title,
            )


def _grade(value: float, limits: tuple[float, float]) -> tuple[Severity | None, float]:
    warning, critical = limits
    if value >= critical:
        return "critical", critical
    return ("warning", warning) if value >= warning else (None, warning)


def _out_of_memory_kills() -> int:
    try:
        lines = _VMSTAT.read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    counts = dict(line.split(maxsplit=1) for line in lines if " " in line)
    return int(counts.get("oom_kill", "0"))
