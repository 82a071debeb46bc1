"""The inventory of this machine: the host, its services, containers and important processes.

It needs no root. What this user may not see is left out. Every backend has a time limit, and one
that does not answer is named with the reason. The backends are `supervisors.py`, `containers.py`
and `processes.py`. Effects: starts clients, reads /proc and /etc.
"""

from __future__ import annotations

import os
import platform
import socket  # noqa: TID251 - for the name of this machine; no connection is made
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from pathlib import Path
from typing import Final

from pulsus.core.types import JsonValue
from pulsus.errors import ExtraMissing
from pulsus.fast_dataclass import dataclass
from pulsus.gates.resources.resolved_resource import ResolvedResource
from pulsus.infra.containers import CONTAINER_ACTIONS, ContainerEngine, EngineSilent
from pulsus.infra.inventory import (
    CONTAINER,
    HOST,
    PROCESS,
    SERVICE,
    BackendState,
    InventoryEntry,
    InventoryListing,
)
from pulsus.infra.local_command import LocalCommands
from pulsus.infra.processes import important_processes
from pulsus.infra.supervisors import (
    SERVICE_ACTIONS,
    Supervisor,
    SupervisorSilent,
    all_supervisors,
)

LOCAL: Final = "local"
"""The name of the executor of this machine, as `reachable_via` and provenance have it."""

HOST_ACTIONS: Final = ("command", "write", "append", "run", "resolve", "dismiss")
"""Changes that may be asked of the host itself."""

_MACHINE_ID: Final = Path("/etc/machine-id")
_ID_DIGITS: Final = 12


@dataclass(frozen=True)
class LocalMachine:
    """The `Inventory` of the machine that Pulsus runs on.

    `environ` is the environment of Pulsus; `machine_id` a file with the stable id of the machine.
    """

    environ: Mapping[str, str]
    machine_id: Path = _MACHINE_ID

    @cached_property
    def commands(self) -> LocalCommands:
        """The programs that answer questions about this machine."""
        return LocalCommands(self.environ)

    @cached_property
    def supervisors(self) -> tuple[Supervisor, ...]:
        """The supervisors that Pulsus knows, also those that are not here."""
        return all_supervisors(self.commands)

    @cached_property
    def engine(self) -> ContainerEngine:
        """The container engine."""
        return ContainerEngine(self.commands)

    @cached_property
    def host(self) -> ResolvedResource:
        """This machine."""
        name = socket.gethostname()
        return ResolvedResource(
            kind=HOST,
            uid=_read_machine_id(self.machine_id) or name,
            name=name,
            host=name,
            aliases=("localhost", "this machine", "this host"),
            target_host=name,
            reachable_via=(LOCAL,),
            allowed_actions=HOST_ACTIONS,
        )

    def list_resources(self, kinds: Collection[str] = ()) -> InventoryListing:
        """Return the resources of these kinds, and which backends could be asked."""
        sources: tuple[tuple[str, Callable[[], InventoryListing]], ...] = (
            (HOST, self._list_host),
            (SERVICE, self._list_services),
            (CONTAINER, self._list_containers),
            (PROCESS, self._list_processes),
        )
        chosen = [read for kind, read in sources if not kinds or kind in kinds]
        found = _in_parallel(chosen)
        return InventoryListing(
            tuple(entry for each in found for entry in each.entries),
            tuple(state for each in found for state in each.backends),
        )

    def get(self, resource_id: str) -> InventoryEntry | None:
        """Return the resource with that id, in its state of now."""
        kind = resource_id.partition(":")[0]
        if kind not in {HOST, SERVICE, CONTAINER, PROCESS}:
            return None
        entries = self.list_resources((kind,)).entries
        return next((each for each in entries if each.resource.id == resource_id), None)

    def supervisor_of(self, entry: InventoryEntry) -> Supervisor | None:
        """Return the supervisor that controls a service, or None."""
        name = entry.details.get("supervisor")
        return next((each for each in self.supervisors if each.name == name), None)

    def _list_host(self) -> InventoryListing:
        details: dict[str, JsonValue] = {
            "system": platform.system(),
            "kernel": platform.release(),
            "architecture": platform.machine(),
            "cores": os.cpu_count(),
        }
        entry = InventoryEntry(self.host, "running", details)
        return InventoryListing((entry,), (BackendState(self.host.name),))

    def _list_services(self) -> InventoryListing:
        asked = _in_parallel([partial(self._ask, each) for each in self.supervisors])
        entries: dict[str, InventoryEntry] = {}
        for entry in (each for listing in asked for each in listing.entries):
            entries.setdefault(entry.resource.uid, entry)
        states = tuple(state for listing in asked for state in listing.backends)
        return InventoryListing(tuple(entries.values()), states)

    def _ask(self, supervisor: Supervisor) -> InventoryListing:
        reason = supervisor.unavailable()
        if not reason:
            try:
                found = tuple(self._read_services(supervisor))
            except SupervisorSilent as silent:
                reason = str(silent)
            else:
                return InventoryListing(found, (BackendState(supervisor.name),))
        return InventoryListing((), (BackendState(supervisor.name, reason),))

    def _read_services(self, supervisor: Supervisor) -> Iterator[InventoryEntry]:
        actions = tuple(each for each in SERVICE_ACTIONS if each not in supervisor.lacks)
        for service in supervisor.services():
            aliases = (f"{service.name}.service",) if supervisor.name == "systemd" else ()
            # No parent: the files and commands of a service are those of its host.
            resource = self._child(SERVICE, service.name, service.name, aliases, (*actions, "run"))
            details = {"supervisor": supervisor.name, **service.details}
            yield InventoryEntry(resource, service.status, details)

    def _list_containers(self) -> InventoryListing:
        try:
            found = self.engine.containers()
        except EngineSilent as silent:
            return InventoryListing((), (BackendState("containers", str(silent)),))
        client = self.engine.client()
        entries = []
        for each in found:
            actions = (*CONTAINER_ACTIONS, "update", "run")
            resource = self._child(
                CONTAINER, each.id, each.name, (), actions, self.host.id, (client,)
            )
            details: dict[str, JsonValue] = {
                "engine": client,
                "image": each.image,
                "state": each.state,
                "ports": each.ports,
            }
            entries.append(InventoryEntry(resource, each.status, details))
        return InventoryListing(tuple(entries), (BackendState("containers"),))

    def _list_processes(self) -> InventoryListing:
        try:
            found = important_processes()
        except ExtraMissing as missing:
            return InventoryListing((), (BackendState("processes", missing.message),))
        entries = []
        for each in found:
            # A number is used again: with the start it names one process for good.
            uid, pid = f"{each.pid}-{each.started}", str(each.pid)
            aliases = (pid, each.name)
            resource = self._child(PROCESS, uid, f"{each.name}-{pid}", aliases, ("run",))
            details: dict[str, JsonValue] = {
                "pid": each.pid,
                "user": each.user,
                "command": each.command,
                "memory_bytes": each.memory_bytes,
                "ports": list(each.ports),
            }
            entries.append(InventoryEntry(resource, "running", details))
        return InventoryListing(tuple(entries), (BackendState("processes"),))

    def _child(
        self,
        kind: str,
        uid: str,
        name: str,
        aliases: tuple[str, ...],
        actions: tuple[str, ...],
        parent: str = "",
        via: tuple[str, ...] = (LOCAL,),
    ) -> ResolvedResource:
        host = self.host.name
        target = name if parent else host
        return ResolvedResource(kind, uid, name, host, aliases, parent, target, via, actions)


def _in_parallel(reads: Sequence[Callable[[], InventoryListing]]) -> list[InventoryListing]:
    """Return the listings in the order of `reads`. A backend that hangs delays no other."""
    with ThreadPoolExecutor(max_workers=max(len(reads), 1)) as threads:
        return list(threads.map(lambda read: read(), reads))


def _read_machine_id(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()[:_ID_DIGITS]
    except (OSError, UnicodeDecodeError):
        return ""
