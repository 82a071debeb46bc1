"""The cluster to plan for: hosts, virtual machines, and the actions of a plan (issue part 10, §3).

Types only; memory (RAM) is in MiB, CPU in millicores. All values are frozen. They come from a file
(`cluster_file.py`) or from facts (`cluster_from_facts.py`); the rules are in `placement_rules.py`.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Literal

ActionKind = Literal["migrate", "start"]
PlacementStatus = Literal["optimal", "feasible", "infeasible", "timeout"]


@dataclass(frozen=True, slots=True)
class ClusterHost:
    """A host. Its reserve is kept free of virtual machines. A drained host takes none."""

    name: str
    ram_mib: int
    cpu_mc: int
    rack: str = ""
    online: bool = True
    drain: bool = False
    reserve_ram_mib: int = 0
    reserve_cpu_mc: int = 0

    @property
    def usable(self) -> bool:
        """True if a virtual machine may be placed here."""
        return self.online and not self.drain


@dataclass(frozen=True, slots=True)
class ClusterVm:
    """A virtual machine.

    `host` is the host that it is on, or empty. `pinned` is the only host that it may run on, or
    empty. A higher `priority` is more important.
    """

    vmid: int
    ram_mib: int
    cpu_mc: int
    host: str = ""
    ha_group: str = ""
    priority: int = 0
    pinned: str = ""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Hosts and virtual machines at one moment. Names of hosts and vmids are unique."""

    hosts: tuple[ClusterHost, ...]
    vms: tuple[ClusterVm, ...]
    use_rack_constraints: bool = False

    def host_named(self, name: str) -> ClusterHost | None:
        """Return the host of that name, or None."""
        return next((host for host in self.hosts if host.name == name), None)

    @property
    def digest(self) -> str:
        """SHA-256 of the whole cluster, independent of the order in the file."""
        whole = {
            "hosts": sorted((asdict(host) for host in self.hosts), key=lambda host: host["name"]),
            "vms": sorted((asdict(vm) for vm in self.vms), key=lambda vm: vm["vmid"]),
            "use_rack_constraints": self.use_rack_constraints,
        }
        text = json.dumps(whole, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode("utf-8")).hexdigest()


@dataclass(frozen=True, slots=True)
class PlacementAction:
    """One step of a plan. `source` is empty for a start."""

    action: ActionKind
    vmid: int
    target: str
    source: str = ""
