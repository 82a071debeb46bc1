"""The cluster to plan for, made from fresh facts of the knowledge base (§32.1.2). Pure.

A fact that a plan needs and that is missing or too old (stale) stops the planning: nothing is
guessed. A host that is not live counts as drained. If a fact is stale is decided in `kb/facts.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from pulsus.errors import FactsIncomplete
from pulsus.kb.fact_base import FactView
from pulsus.kb.facts import THIS_MACHINE, KnownNode, VirtualMachine
from pulsus.placement.cluster import Cluster, ClusterHost, ClusterVm

_SOURCES = "a file of kb.files, or to a plugin's facts"
_SHOWN = 10
"""Names in one sentence."""


def cluster_of_facts(
    view: FactView, *, require_racks: bool = False, where: str = _SOURCES
) -> Cluster:
    """Return the cluster as the fresh facts describe it.

    A host that is not live takes no VM: it counts as drained. This machine is a host only if a
    file or a plugin says so, or a VM is on it. Racks count for HA groups if the facts name one, so
    that a plan, its check and its approval keep to the same rules. Then each host needs its rack,
    as it does with `require_racks`. `where` says to which source a missing fact can be added.
    Raises FactsIncomplete.
    """
    vms = view.vms()
    used = {vm.host for vm in vms if vm.host is not None}
    hosts = [
        _to_host(node, view, where)
        for node in view.hosts()
        if node.name in used or (_may_be_host(node) and not _lacking(node))
    ]
    if not hosts:
        message = "no fresh fact knows a node with its ram_mib and cpu_mc"
        raise _incomplete(message, "one", where)
    known = {host.name for host in hosts}
    lacking = sorted(used - known)
    if lacking:
        message = f"no fresh fact knows the node {lacking[0]}, and VMs run on it"
        raise _incomplete(message, "the node", where)
    by_rack = require_racks or (view.use_racks and _names_racks(hosts) and _has_group(vms))
    if by_rack:
        _require_racks(hosts, where)
    return Cluster(tuple(hosts), tuple(_to_vm(vm, where) for vm in vms), by_rack)


def notes_on_omitted_nodes(view: FactView, where: str = _SOURCES) -> Iterator[str]:
    """Yield a sentence about the nodes that `cluster_of_facts` leaves out, one for each reason.

    This machine is left out without a sentence: no one expects it to be a host.
    """
    used = {vm.host for vm in view.vms()}
    omitted: dict[tuple[str, ...], list[str]] = {}
    for node in view.hosts():
        lacking = _lacking(node)
        if lacking and node.name not in used and _may_be_host(node):
            omitted.setdefault(lacking, []).append(node.name)
    for lacking, names in omitted.items():
        yield (
            f"{_take_no_part(names)}: the facts have no {' and no '.join(lacking)}, "
            f"so add {' and '.join(lacking)} to {where}"
        )


def _take_no_part(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    verb = "takes" if len(names) == 1 else "take"
    return f"{', '.join(names[:_SHOWN])}{more} {verb} no part in the plan"


def narrow_cluster(cluster: Cluster, hosts: Collection[str], vms: Collection[int]) -> Cluster:
    """Return the cluster in which only these VMs may move, and only to these hosts.

    The other VMs stay where they are and take their room. A VM on another host has to leave it.
    A group of which no member may move is left out: no plan can change where its members are.
    """
    usable = {host.name for host in cluster.hosts if host.usable and host.name in hosts}
    left = {vm.host for vm in cluster.vms if vm.vmid in vms} - set(hosts)
    kept = tuple(
        host if host.name in hosts else replace(host, drain=True)
        for host in cluster.hosts
        if host.name in hosts or host.name in left
    )
    moving = tuple(vm for vm in cluster.vms if vm.vmid in vms)
    groups = {vm.ha_group for vm in moving}
    staying = tuple(
        replace(vm, pinned=vm.host, ha_group=vm.ha_group if vm.ha_group in groups else "")
        for vm in cluster.vms
        if vm.vmid not in vms and vm.host in usable
    )
    return Cluster(kept, (*moving, *staying), cluster.use_rack_constraints)


def _may_be_host(node: KnownNode) -> bool:
    """Return False for this machine, if nothing but its own facts knows it."""
    return node.provenance.source != THIS_MACHINE


def _lacking(fact: KnownNode | VirtualMachine) -> tuple[str, ...]:
    """Return the names of the figures that the fact lacks."""
    return tuple(key for key in ("ram_mib", "cpu_mc") if getattr(fact, key) is None)


def _names_racks(hosts: Sequence[ClusterHost]) -> bool:
    return any(host.rack for host in hosts)


def _has_group(vms: Sequence[VirtualMachine]) -> bool:
    return any(count > 1 for count in Counter(vm.ha_group for vm in vms if vm.ha_group).values())


def _require_racks(hosts: Sequence[ClusterHost], where: str) -> None:
    for host in hosts:
        if not host.rack:
            raise FactsIncomplete(
                f"the facts have no rack of the node {host.name}, and HA groups need it",
                hint=f"add the rack to {where}, or set kb.use_racks = false",
            )


def _to_host(node: KnownNode, view: FactView, where: str) -> ClusterHost:
    if node.ram_mib is None or node.cpu_mc is None:
        raise _no_figure(node, f"the node {node.name}", where)
    return ClusterHost(
        node.name,
        node.ram_mib,
        node.cpu_mc,
        node.rack or "",
        online=node.status == "online",
        drain=not view.is_live(node.name),
    )


def _to_vm(vm: VirtualMachine, where: str) -> ClusterVm:
    if vm.ram_mib is None or vm.cpu_mc is None:
        raise _no_figure(vm, f"VM {vm.vmid}", where)
    return ClusterVm(
        vm.vmid,
        vm.ram_mib,
        vm.cpu_mc,
        vm.host or "",
        vm.ha_group or "",
        vm.priority,
        (vm.host or "") if vm.pinned else "",
    )


def _no_figure(fact: KnownNode | VirtualMachine, name: str, where: str) -> FactsIncomplete:
    lacking = _lacking(fact)
    message = f"the facts have no {' and no '.join(lacking)} of {name}"
    return _incomplete(message, f"{' and '.join(lacking)} of {name}", where)


def _incomplete(message: str, what: str, where: str) -> FactsIncomplete:
    return FactsIncomplete(message, hint=f"add {what} to {where}")
