"""The inventory of resources: what discovery returns (assistant architecture §2.7). Types only.

This machine alone is listed: Pulsus itself connects to no remote host. `ssh` and `docker exec` are
programs that run in `execution/run_gated_command.py`, with options (host keys) from
`commands/safe_options.py`. No inventory is stored: `local_machine.py` looks again at each call. If
a host or another target is known, so that a call may act on it, is decided in
`gates/resources/strict_resolution.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field
from typing import Final, Literal, Protocol

from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass
from pulsus.gates.resources.resolved_resource import ResolvedResource

ResourceStatus = Literal["running", "stopped", "failed", "unknown"]

HOST: Final = "host"
SERVICE: Final = "service"
CONTAINER: Final = "docker_container"
PROCESS: Final = "process"


@dataclass(frozen=True, slots=True)
class InventoryEntry:
    """A resource as it was found. `details` are JSON values; they may hold secrets."""

    resource: ResolvedResource
    status: ResourceStatus = "unknown"
    details: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BackendState:
    """A source of resources: usable if `reason` is empty, else why it is not."""

    name: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class InventoryListing:
    """The entries of some kinds, and the state of every backend that was asked for them."""

    entries: tuple[InventoryEntry, ...]
    backends: tuple[BackendState, ...] = ()


class Inventory(Protocol):
    """Finds resources. Every call looks again, so that a result shows the state of now."""

    @property
    def host(self) -> ResolvedResource:
        """Return the machine that Pulsus runs on."""
        ...

    def list_resources(self, kinds: Collection[str] = ()) -> InventoryListing:
        """Return the resources of these kinds; of every kind if none is named."""
        ...

    def get(self, resource_id: str) -> InventoryEntry | None:
        """Return the resource with that canonical id, or None."""
        ...
