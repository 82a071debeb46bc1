"""`pulsus_query`: find resources, or get one in its state of now (assistant architecture §7).

At most 50 resources are shown. A name that is unknown or ambiguous gets suggestions here. They are
discovered in `infra/local_machine.py`, and kept (with their expiry) in
`gates/resources/resolved_context.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from pulsus.agent.tool_protocol import CallContext, CallNeeds, CallOutcome
from pulsus.agent.tools.local import machine_figures
from pulsus.agent.tools.local.local_system import LocalSystem, number_of, targets_of, text_of
from pulsus.core.text.similar_names import similar_names
from pulsus.core.types import JsonValue
from pulsus.errors import ExtraMissing
from pulsus.fast_dataclass import dataclass
from pulsus.gates.built_in_tools import built_in_tools
from pulsus.gates.tool_descriptors import ToolDescriptor
from pulsus.infra.inventory import CONTAINER, HOST, PROCESS, SERVICE, InventoryEntry

_KINDS: Final = (HOST, SERVICE, CONTAINER, PROCESS)
_SHOWN: Final = 50


@dataclass(frozen=True, slots=True)
class QueryTool:
    """Finds resources of this machine."""

    system: LocalSystem

    @property
    def descriptor(self) -> ToolDescriptor:
        """Return the tool's descriptor."""
        return built_in_tools()["pulsus_query"]

    def needs(self, args: Mapping[str, JsonValue]) -> CallNeeds:
        """Return what the call would do. A query needs no target: it finds them."""
        kind = text_of(args, "kind")
        missing = (
            f"no inventory of this Pulsus finds resources of kind {kind!r}"
            if kind and kind not in _KINDS
            else ""
        )
        return CallNeeds(action=text_of(args, "action"), unavailable=missing)

    def run(self, args: Mapping[str, JsonValue], context: CallContext) -> CallOutcome:
        """Run the query."""
        action = text_of(args, "action")
        if action in {"get", "config"}:
            return self._get(args, with_config=action == "config")
        listing = self.system.machine.list_resources(_kinds(args))
        entries = listing.entries
        backends: list[JsonValue] = [
            {"instance_id": each.name, "connected": not each.reason, "reason": each.reason}
            for each in listing.backends
        ]
        found: tuple[InventoryEntry, ...] = ()
        match action:
            case "search":
                query = text_of(args, "query")
                found = _matching(entries, query)[: number_of(args, "limit", _SHOWN)]
                data = _search_result(query, found)
            case "topology":
                found = tuple(each for each in entries if each.resource.kind != PROCESS)
                data = {"summary": _summary(found), "nodes": self._host_tree(found)}
            case "health":
                data = {"connections": backends, "status": _statuses(entries)}
            case _:
                found = entries[: number_of(args, "limit", 200)]
                data = _inventory(found, self.system.host.name)
        unusable: list[JsonValue] = [
            f"{each.name}: {each.reason}" for each in listing.backends if each.reason
        ]
        meta: dict[str, JsonValue] = {"unavailable": unusable} if unusable else {}
        # No `read`: a listing finds resources. Only a read of one resource verifies a change of it.
        resources = tuple(each.resource for each in found)
        return CallOutcome(self.system.report.success(data, meta), resources)

    def _get(self, args: Mapping[str, JsonValue], *, with_config: bool) -> CallOutcome:
        (wanted,) = targets_of(args)
        entries = self._candidates(wanted, _kinds(args))
        exact = [each for each in entries if wanted in each.resource.names]
        if len(exact) != 1:
            return self._not_one(wanted, exact, entries)
        entry = exact[0]
        data = _row(entry) | {"node": entry.resource.host}
        if entry.resource.kind == HOST:
            data |= self._figures()
        if with_config:
            data |= _config(entry)
        return CallOutcome(
            self.system.report.success(data),
            (entry.resource,),
            single=True,
            read=(entry.resource.id,),
        )

    def _candidates(self, wanted: str, kinds: Sequence[str]) -> tuple[InventoryEntry, ...]:
        if not kinds and wanted in self.system.host.names:
            kinds = (HOST,)  # the most asked one, without waiting for every backend
        prefix = wanted.partition(":")[0]
        asked = (prefix,) if ":" in wanted and prefix in _KINDS else kinds
        return self.system.machine.list_resources(asked).entries

    def _not_one(
        self, wanted: str, exact: Sequence[InventoryEntry], entries: Sequence[InventoryEntry]
    ) -> CallOutcome:
        """Return the refusal of a name that stands for no resource, or for several."""
        ids: list[JsonValue] = [each.resource.id for each in exact]
        if exact:
            return CallOutcome(
                self.system.report.failed(
                    "INVALID_INPUT",
                    f"{wanted!r} is the name of {len(exact)} resources: use target_resource_id",
                    suggestions=ids,
                )
            )
        names = [name for each in entries for name in (each.resource.name, each.resource.id)]
        near: list[JsonValue] = list(similar_names(wanted, names))
        return CallOutcome(
            self.system.report.failed(
                "NOT_FOUND",
                f"there is no resource {wanted!r} on {self.system.host.name}",
                error="not_found",
                resource_id=wanted,
                suggestions=near,
            )
        )

    def _figures(self) -> dict[str, JsonValue]:
        try:
            figures = machine_figures.performance()
        except ExtraMissing as missing:
            return {"figures": f"{missing.message}: {missing.hint}"}
        return figures

    def _host_tree(self, entries: Sequence[InventoryEntry]) -> list[JsonValue]:
        host = self.system.host
        below: dict[str, JsonValue] = {"name": host.name, "id": host.id, "status": "running"}
        for kind, name in ((SERVICE, "services"), (CONTAINER, "containers")):
            below[name] = [_brief(each) for each in entries if each.resource.kind == kind]
        return [below]


def _kinds(args: Mapping[str, JsonValue]) -> tuple[str, ...]:
    kind = text_of(args, "kind")
    return (kind,) if kind else ()


def _matching(entries: Sequence[InventoryEntry], query: str) -> tuple[InventoryEntry, ...]:
    """Return the entries whose names hold every word of the query, or else one of them."""
    words = query.casefold().replace("@", " ").split()
    texts = [" ".join(each.resource.names).casefold() for each in entries]
    hits = [sum(word in text for word in words) for text in texts]
    most = max(hits, default=0)
    return tuple(each for each, hit in zip(entries, hits, strict=True) if hit and hit == most)


def _search_result(query: str, found: Sequence[InventoryEntry]) -> dict[str, JsonValue]:
    return {"query": query, "matches": [_row(each) for each in found], "total": len(found)}


def _row(entry: InventoryEntry) -> dict[str, JsonValue]:
    resource = entry.resource
    return {
        "name": resource.name,
        "status": entry.status,
        "type": resource.kind,
        "id": resource.id,
        **entry.details,
    }


def _brief(entry: InventoryEntry) -> dict[str, JsonValue]:
    return {"name": entry.resource.name, "status": entry.status, "id": entry.resource.id}


def _config(entry: InventoryEntry) -> dict[str, JsonValue]:
    resource = entry.resource
    return {
        "hostname": resource.host,
        "target_host": resource.target_host,
        "reachable_via": list(resource.reachable_via),
        "allowed_actions": list(resource.allowed_actions),
        "aliases": list(resource.aliases),
    }


def _statuses(entries: Sequence[InventoryEntry]) -> dict[str, JsonValue]:
    counted = Counter((each.resource.kind, each.status) for each in entries)
    return {f"{kind} {status}": number for (kind, status), number in sorted(counted.items())}


def _summary(entries: Sequence[InventoryEntry]) -> dict[str, JsonValue]:
    kinds = Counter(each.resource.kind for each in entries)
    running = Counter(each.resource.kind for each in entries if each.status == "running")
    return {
        "total_nodes": kinds[HOST],
        "total_system_containers": kinds[CONTAINER],
        "running_containers": running[CONTAINER],
        "total_docker_hosts": int(kinds[CONTAINER] > 0),
        "total_services": kinds[SERVICE],
        "running_services": running[SERVICE],
    }


def _inventory(entries: Sequence[InventoryEntry], host: str) -> dict[str, JsonValue]:
    def rows(kind: str) -> list[JsonValue]:
        return [_brief(each) for each in entries if each.resource.kind == kind]

    containers = rows(CONTAINER)
    engines: list[JsonValue] = (
        [{"hostname": host, "display_name": host, "container_count": len(containers)}]
        if containers
        else []
    )
    groups: dict[str, JsonValue] = {
        "hosts": rows(HOST),
        "services": rows(SERVICE),
        "containers": containers,
        "docker_hosts": engines,
        "processes": rows(PROCESS),
    }
    total = {name: len(group) for name, group in groups.items() if isinstance(group, list)}
    return {**groups, "total": dict(total)}
