"""Change a cluster for a what-if, by a sentence: drain a host, add one, drop a rule. Pure."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from pulsus.errors import UsageError
from pulsus.placement.cluster import Cluster, ClusterHost

REMOVE_RACKS = "remove racks"
FORMS = (
    "drain HOST",
    "undrain HOST",
    "offline HOST",
    "online HOST",
    "add host NAME ram MIB cpu MC [rack RACK]",
    "remove pin VMID",
    "remove group NAME",
    "remove reserve HOST",
    REMOVE_RACKS,
    "use racks",
)
"""The changes that `apply_change` understands."""

_ADD = re.compile(r"add host ([A-Za-z0-9._][\w.-]*) ram (\d{1,12}) cpu (\d{1,12})(?: rack (.+))?")
_SWITCHES: dict[str, dict[str, Any]] = {
    "drain": {"drain": True},
    "undrain": {"drain": False},
    "offline": {"online": False},
    "online": {"online": True},
    "remove reserve": {"reserve_ram_mib": 0, "reserve_cpu_mc": 0},
}


def apply_change(cluster: Cluster, change: str) -> Cluster:
    """Return the cluster after the change. Raises UsageError if it is not one of `FORMS`."""
    words = " ".join(change.split())
    if words == REMOVE_RACKS:
        return replace(cluster, use_rack_constraints=False)
    if words == "use racks":
        return _use_racks(cluster, change)
    if added := _ADD.fullmatch(words):
        return _add_host(cluster, change, added)
    verb, _, name = words.rpartition(" ")
    if verb in _SWITCHES:
        return _change_host(cluster, change, name, verb)
    if verb == "remove pin":
        return _remove_pin(cluster, change, name)
    if words.startswith("remove group "):
        return _remove_group(cluster, change, words.removeprefix("remove group "))
    raise _refused(change, "it is not one of the known changes")


def _refused(change: str, reason: str) -> UsageError:
    return UsageError(
        f"--what-if {change!r}: {reason}", hint=f"write one of: {'; '.join(FORMS)}", change=change
    )


def _add_host(cluster: Cluster, change: str, added: re.Match[str]) -> Cluster:
    name, ram, cpu, rack = added.groups()
    if cluster.host_named(name):
        raise _refused(change, f"{name!r} is a host already")
    if not int(ram) or not int(cpu):
        raise _refused(change, "a host needs RAM and CPU")
    if cluster.use_rack_constraints and not rack:
        raise _refused(change, "this cluster uses rack constraints, so the host needs a rack")
    host = ClusterHost(name, int(ram), int(cpu), rack or "")
    return replace(cluster, hosts=(*cluster.hosts, host))


def _use_racks(cluster: Cluster, change: str) -> Cluster:
    without = [host.name for host in cluster.hosts if not host.rack]
    if without:
        raise _refused(change, f"the host {without[0]!r} has no rack")
    return replace(cluster, use_rack_constraints=True)


def _change_host(cluster: Cluster, change: str, name: str, verb: str) -> Cluster:
    if not cluster.host_named(name):
        known = ", ".join(host.name for host in cluster.hosts[:10])
        raise _refused(change, f"there is no host {name!r} (hosts: {known})")
    switched = tuple(
        replace(host, **_SWITCHES[verb]) if host.name == name else host for host in cluster.hosts
    )
    return replace(cluster, hosts=switched)


def _remove_pin(cluster: Cluster, change: str, vmid: str) -> Cluster:
    pinned = {str(vm.vmid) for vm in cluster.vms if vm.pinned}
    if vmid not in pinned:
        raise _refused(change, f"no pinned VM has the id {vmid!r}")
    vms = tuple(replace(vm, pinned="") if str(vm.vmid) == vmid else vm for vm in cluster.vms)
    return replace(cluster, vms=vms)


def _remove_group(cluster: Cluster, change: str, group: str) -> Cluster:
    if group not in {vm.ha_group for vm in cluster.vms if vm.ha_group}:
        raise _refused(change, f"no VM is in an HA group {group!r}")
    vms = tuple(replace(vm, ha_group="") if vm.ha_group == group else vm for vm in cluster.vms)
    return replace(cluster, vms=vms)
