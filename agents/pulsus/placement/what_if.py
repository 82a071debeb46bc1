"""Change a cluster for a what-if, by a sentence: drain a host, add one, drop a rule. Pure.

An unknown change, host, pin or group is refused with the known ones. The sentences come from the
option `--what-if` of `cli/place/place_command.py`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pulsus.errors import UsageError
from pulsus.placement.cluster import Cluster, ClusterHost

REMOVE_RACKS = "remove racks"
_ADD_FORM = "add host NAME ram MIB cpu MC [rack RACK]"
FORMS = (
    "drain HOST",
    "undrain HOST",
    "offline HOST",
    "online HOST",
    _ADD_FORM,
    "remove pin VMID",
    "remove group NAME",
    "remove reserve HOST",
    REMOVE_RACKS,
    "use racks",
)
"""The changes that `apply_change` understands."""

_HOST = re.compile(r"[A-Za-z0-9._][\w.-]*")
_NUMBER = re.compile(r"\d{1,12}")
_ADD = re.compile(
    rf"add host ({_HOST.pattern}) ram ({_NUMBER.pattern}) cpu ({_NUMBER.pattern})(?: rack (.+))?"
)
_ADD_HINT = f"write: {_ADD_FORM}"
_MOST_SHOWN = 10
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
    if words.startswith("add host "):
        return _add_host(cluster, change, _read_new_host(change, words))
    verb, _, name = words.rpartition(" ")
    if verb in _SWITCHES:
        return _change_host(cluster, change, name, verb)
    if verb == "remove pin":
        return _remove_pin(cluster, change, name)
    if words.startswith("remove group "):
        return _remove_group(cluster, change, words.removeprefix("remove group "))
    raise _refused(change, "it is not one of the known changes")


def _refused(change: str, reason: str, hint: str = "") -> UsageError:
    """Return the error. Without a `hint` it lists every form."""
    known = hint or f"write one of: {'; '.join(FORMS)}"
    return UsageError(f"--what-if {change!r}: {reason}", hint=known, change=change)


def _read_new_host(change: str, words: str) -> re.Match[str]:
    """Return the parts of `add host …`. Raises UsageError with the first part that is wrong."""
    if added := _ADD.fullmatch(words):
        return added
    name, *rest = words.split()[2:]
    given = dict(zip(rest[::2], rest[1::2], strict=False))
    if not _HOST.fullmatch(name):
        reason = f"{name!r} is no name of a host"
    elif rest[:4:2] != ["ram", "cpu"] or len(rest) < 4:
        reason = "after the name come `ram MIB` and `cpu MC`"
    elif not _NUMBER.fullmatch(given["ram"]):
        reason = f"{given['ram']!r} is no whole number of MiB"
    elif not _NUMBER.fullmatch(given["cpu"]):
        reason = f"{given['cpu']!r} is no whole number of millicores"
    else:
        reason = f"{' '.join(rest[4:])!r} is not `rack RACK`"
    raise _refused(change, reason, _ADD_HINT)


def _add_host(cluster: Cluster, change: str, added: re.Match[str]) -> Cluster:
    name, ram, cpu, rack = added.groups()
    if cluster.host_named(name):
        raise _refused(change, f"{name!r} is a host already", "name a new host")
    if not int(ram) or not int(cpu):
        raise _refused(change, "a host needs RAM and CPU", _ADD_HINT)
    if cluster.use_rack_constraints and not rack:
        reason = "this cluster uses rack constraints, so the host needs a rack"
        raise _refused(change, reason, _ADD_HINT)
    host = ClusterHost(name, int(ram), int(cpu), rack or "")
    return replace(cluster, hosts=(*cluster.hosts, host))


def _use_racks(cluster: Cluster, change: str) -> Cluster:
    without = [host.name for host in cluster.hosts if not host.rack]
    if without:
        reason = f"the host {without[0]!r} has no rack"
        raise _refused(change, reason, "give each host a `rack` in the cluster file")
    return replace(cluster, use_rack_constraints=True)


def _change_host(cluster: Cluster, change: str, name: str, verb: str) -> Cluster:
    if not cluster.host_named(name):
        hosts = [host.name for host in cluster.hosts]
        raise _refused(change, f"there is no host {name!r}", _list_known("hosts are", hosts))
    switched = tuple(
        replace(host, **_SWITCHES[verb]) if host.name == name else host for host in cluster.hosts
    )
    return replace(cluster, hosts=switched)


def _remove_pin(cluster: Cluster, change: str, vmid: str) -> Cluster:
    pinned = {str(vm.vmid) for vm in cluster.vms if vm.pinned}
    if vmid not in pinned:
        known = sorted(pinned, key=lambda each: (len(each), each))
        hint = _list_known("pinned are", known) if known else "nothing is pinned"
        raise _refused(change, f"no pinned VM has the id {vmid!r}", hint)
    vms = tuple(replace(vm, pinned="") if str(vm.vmid) == vmid else vm for vm in cluster.vms)
    return replace(cluster, vms=vms)


def _remove_group(cluster: Cluster, change: str, group: str) -> Cluster:
    groups = sorted({vm.ha_group for vm in cluster.vms if vm.ha_group})
    if group not in groups:
        hint = _list_known("groups are", groups) if groups else "no VM is in an HA group"
        raise _refused(change, f"no VM is in an HA group {group!r}", hint)
    vms = tuple(replace(vm, ha_group="") if vm.ha_group == group else vm for vm in cluster.vms)
    return replace(cluster, vms=vms)


def _list_known(label: str, names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_SHOWN} more" if len(names) > _MOST_SHOWN else ""
    return f"{label}: {', '.join(names[:_MOST_SHOWN])}{more}"
