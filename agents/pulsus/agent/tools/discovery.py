"""`pulsus_discovery`: ports, files of settings and logs, and bind mounts of one resource.

The details are read in `agent/tools/local/service_details.py`; resources are listed by
`infra/local_machine.py`.
"""

from __future__ import annotations

from collections.abc import Mapping

from pulsus.agent.tool_protocol import CallContext, CallNeeds, CallOutcome
from pulsus.agent.tools.local import service_details
from pulsus.agent.tools.local.local_system import LocalSystem, targets_of, text_of
from pulsus.core.types import JsonValue
from pulsus.errors import ExtraMissing
from pulsus.fast_dataclass import dataclass
from pulsus.gates.built_in_tools import built_in_tools
from pulsus.gates.tool_descriptors import ToolDescriptor
from pulsus.infra.containers import EngineSilent
from pulsus.infra.inventory import CONTAINER, HOST, SERVICE, InventoryEntry
from pulsus.infra.processes import listening_ports


@dataclass(frozen=True, slots=True)
class DiscoveryTool:
    """Looks at one resource of this machine more closely."""

    system: LocalSystem

    @property
    def descriptor(self) -> ToolDescriptor:
        """Return the tool's descriptor."""
        return built_in_tools()["pulsus_discovery"]

    def needs(self, args: Mapping[str, JsonValue]) -> CallNeeds:
        """Return what the call would do. Discovery needs no resolved target."""
        return CallNeeds(action=text_of(args, "action"))

    def run(self, args: Mapping[str, JsonValue], context: CallContext) -> CallOutcome:
        """Return what is known of one resource, or the names of all."""
        if text_of(args, "action") == "list":
            return self._list()
        (wanted,) = targets_of(args)
        prefix = wanted.partition(":")[0] if ":" in wanted else ""
        entries = self.system.machine.list_resources((prefix,) if prefix else ()).entries
        found = [each for each in entries if wanted in each.resource.names]
        if len(found) != 1:
            return self._not_one(wanted, found)
        (entry,) = found
        try:
            data = self._facts(entry)
        except EngineSilent as silent:
            answer = self.system.report.blocked("EXECUTION_CONTEXT_UNAVAILABLE", str(silent))
            return CallOutcome(answer)
        except ExtraMissing as missing:
            answer = self.system.report.blocked(
                "EXECUTION_CONTEXT_UNAVAILABLE", missing.message, recovery_hint=missing.hint
            )
            return CallOutcome(answer)
        response = self.system.report.success(data)
        return CallOutcome(response, (entry.resource,), single=True, read=(entry.resource.id,))

    def _list(self) -> CallOutcome:
        entries = self.system.machine.list_resources((HOST, SERVICE, CONTAINER)).entries
        rows: list[JsonValue] = [
            {"resource_id": each.resource.id, "name": each.resource.name, "status": each.status}
            for each in entries
        ]
        data: JsonValue = {"discoveries": rows, "total": len(rows)}
        return CallOutcome(
            self.system.report.success(data), tuple(each.resource for each in entries)
        )

    def _not_one(self, wanted: str, found: list[InventoryEntry]) -> CallOutcome:
        ids: list[JsonValue] = [each.resource.id for each in found]
        if found:
            message = f"{wanted!r} is the name of {len(found)} resources: use target_resource_id"
            return CallOutcome(self.system.report.failed("INVALID_INPUT", message, suggestions=ids))
        host = self.system.host.name
        return CallOutcome(
            self.system.report.failed(
                "NOT_FOUND", f"there is no resource {wanted!r} on {host}", resource_id=wanted
            )
        )

    def _facts(self, entry: InventoryEntry) -> dict[str, JsonValue]:
        resource, machine = entry.resource, self.system.machine
        found: dict[str, JsonValue] = {
            "service_type": str(entry.details.get("image") or resource.name),
            "hostname": resource.host,
            "target_id": resource.target_host,
            "resource_id": resource.id,
            "status": entry.status,
        }
        if resource.kind == CONTAINER:
            return found | service_details.container_facts(machine.engine.inspect(resource.uid))
        if resource.kind == HOST:
            ports = sorted({port for each in listening_ports().values() for port in each})
            rows: list[JsonValue] = [{"port": port, "protocol": "tcp"} for port in ports]
            return found | {"service_type": "host", "ports": rows, "log_paths": ["/var/log"]}
        pids = service_details.service_pids(machine, entry)
        name = resource.name if resource.kind == SERVICE else resource.name.rpartition("-")[0]
        return found | {
            "pids": list(pids),
            "ports": service_details.ports_of(pids),
            "config_paths": service_details.config_paths(name),
            "log_paths": service_details.log_paths(name, pids),
        }
