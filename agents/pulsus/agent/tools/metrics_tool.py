"""`pulsus_metrics`: figures of this machine now (§7), for the agent. Needs psutil (extra `agent`).

The counters of Pulsus itself are in `agent/agent_metrics.py` and `core/telemetry/metrics.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pulsus.agent.tool_protocol import CallContext, CallNeeds, CallOutcome
from pulsus.agent.tools.local import machine_figures
from pulsus.agent.tools.local.local_system import (
    LocalSystem,
    is_host,
    number_of,
    targets_of,
    text_of,
)
from pulsus.agent.tools.local.service_details import service_pids
from pulsus.core.types import JsonValue
from pulsus.errors import ExtraMissing
from pulsus.fast_dataclass import dataclass
from pulsus.gates.built_in_tools import built_in_tools
from pulsus.gates.resources.resolved_resource import ResolvedResource
from pulsus.gates.tool_descriptors import ToolDescriptor
from pulsus.infra.inventory import CONTAINER

_PROCESSES: Final = 10
_UNAVAILABLE: Final = {
    "baselines": "this Pulsus keeps no history of figures, so it has no baselines",
}


@dataclass(frozen=True, slots=True)
class MetricsTool:
    """Measures this machine, or the processes of one of its services."""

    system: LocalSystem

    @property
    def descriptor(self) -> ToolDescriptor:
        """Return the tool's descriptor."""
        return built_in_tools()["pulsus_metrics"]

    def needs(self, args: Mapping[str, JsonValue]) -> CallNeeds:
        """Return what the call reads."""
        kind = text_of(args, "type")
        return CallNeeds(kind, targets_of(args), unavailable=_UNAVAILABLE.get(kind, ""))

    def run(self, args: Mapping[str, JsonValue], context: CallContext) -> CallOutcome:
        """Measure. It takes about half a second."""
        target, kind = self.system.target_of(context), text_of(args, "type")
        if kind in _UNAVAILABLE:
            return self.system.refused("EXECUTION_CONTEXT_UNAVAILABLE", _UNAVAILABLE[kind])
        if target.kind == CONTAINER:
            return self.system.refused(
                "INVALID_INPUT", "the figures of a container come from pulsus_docker action=stats"
            )
        elsewhere = self.system.refuse_elsewhere(target)
        if elsewhere is not None:
            return CallOutcome(elsewhere)
        try:
            data = self._measure(kind, target, args)
        except ExtraMissing as missing:
            return self.system.refused(
                "EXECUTION_CONTEXT_UNAVAILABLE", missing.message, recovery_hint=missing.hint
            )
        if data is None:
            return self.system.refused("NOT_FOUND", f"{target.id} has no running process")
        return CallOutcome(self.system.report.success(data), read=(target.id,))

    def _measure(
        self, kind: str, target: ResolvedResource, args: Mapping[str, JsonValue]
    ) -> JsonValue:
        if not is_host(target):
            return self._processes_of(target)
        match kind:
            case "network":
                return {"resource_id": target.id, "interfaces": machine_figures.network()}
            case "disk_io":
                return {"resource_id": target.id, "devices": machine_figures.disk_io()}
            case "temperatures":
                cpu, disks = machine_figures.temperatures()
                sensors: dict[str, JsonValue] = {
                    "hostname": target.name,
                    "cpu_temps": cpu,
                    "disk_temps": disks,
                }
                return {"hosts": [sensors] if cpu or disks else []}
            case "processes":
                sort, limit = text_of(args, "sort", "cpu"), number_of(args, "limit", _PROCESSES)
                rows = machine_figures.busiest_processes(sort, limit)
                return {
                    "resource_id": target.id,
                    "sort": sort,
                    "processes": rows,
                    "total": len(rows),
                }
            case _:
                return self._performance(target)

    def _performance(self, target: ResolvedResource) -> dict[str, JsonValue]:
        figures = machine_figures.performance()
        point: dict[str, JsonValue] = {
            "timestamp": self.system.report.now().isoformat(timespec="seconds")
        }
        for name in ("cpu", "memory", "disk"):
            part = figures[name]
            point[name] = part["percent"] if isinstance(part, dict) else None
        return {"resource_id": target.id, "period": "now", "points": [point], **figures}

    def _processes_of(self, target: ResolvedResource) -> JsonValue:
        """Return the figures of a service or process; None if it has no process."""
        entry = self.system.machine.get(target.id)
        pids = service_pids(self.system.machine, entry) if entry else ()
        rows = machine_figures.process_figures(pids)
        if not rows:
            return None
        cpu = memory = 0.0
        for row in rows:
            if isinstance(row, dict):
                cpu += float(str(row["cpu_percent"]))
                memory += float(str(row["memory_percent"]))
        point: dict[str, JsonValue] = {
            "timestamp": self.system.report.now().isoformat(timespec="seconds"),
            "cpu": round(cpu, 1),
            "memory": round(memory, 1),
        }
        return {"resource_id": target.id, "period": "now", "points": [point], "processes": rows}
