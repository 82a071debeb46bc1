"""Check (verify) a plan step by step and make its certificate.

This code shares nothing with the planner but the cluster itself. During a migration both hosts hold
the virtual machine. So a step is refused if its target has not enough room (memory) left, or if
another member of the same HA group is there. A plan of the agent is checked before its card, in
`infra/migrations/check_migrations.py`. Plans of tools are checked elsewhere:
`core/compose/plans/dsl/plan_checks.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pulsus.placement.cluster import Cluster, ClusterHost, ClusterVm, PlacementAction


@dataclass(frozen=True, slots=True)
class PlanViolation:
    """Step number from 1 (0: the end of the plan), and the reason with its numbers."""

    step: int
    reason: str


@dataclass(frozen=True, slots=True)
class Certificate:
    """The result of a check: how many steps it covers, and every violation."""

    steps_checked: int
    violations: tuple[PlanViolation, ...]
    cluster_sha256: str

    @property
    def ok(self) -> bool:
        """True if no step and no final state breaks a rule."""
        return not self.violations


def check_plan(
    cluster: Cluster,
    actions: Sequence[PlacementAction],
    unplaced: Collection[int] | None = None,
) -> Certificate:
    """Return the certificate of a plan. With `unplaced`, all other VMs must be placed at the end.

    Without it only the steps are checked, because the plan may cover a part of the cluster.
    """
    walk = _PlanWalk(cluster)
    found: list[PlanViolation] = []
    for number, action in enumerate(actions, start=1):
        found += [PlanViolation(number, reason) for reason in walk.step(action)]
    if unplaced is not None:
        found += [PlanViolation(0, reason) for reason in walk.final_faults(frozenset(unplaced))]
    return Certificate(len(actions), tuple(found), cluster.digest)


class _PlanWalk:
    """The state of a cluster while a plan runs: which host each virtual machine is on."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.hosts = {host.name: host for host in cluster.hosts}
        self.vms = {vm.vmid: vm for vm in cluster.vms}
        self.place: dict[int, str] = {
            vm.vmid: vm.host for vm in cluster.vms if vm.host and self.hosts[vm.host].online
        }
        self.group: dict[str, list[ClusterVm]] = {}
        for vm in cluster.vms:
            if vm.ha_group:
                self.group.setdefault(vm.ha_group, []).append(vm)
        usable = [host for host in cluster.hosts if host.online and not host.drain]
        self.usable_hosts, self.usable_racks = len(usable), len({host.rack for host in usable})
        self.on: dict[str, set[int]] = {host: set() for host in self.hosts}
        for vmid, name in self.place.items():
            self.on[name].add(vmid)

    def step(self, action: PlacementAction) -> list[str]:
        """Return what is wrong with one step, and do it if both its names exist."""
        vm, host = self.vms.get(action.vmid), self.hosts.get(action.target)
        if vm is None:
            return [f"there is no VM {action.vmid}"]
        if host is None:
            return [f"there is no host {action.target!r}"]
        faults = [*self._kind_faults(action, vm), *self._target_faults(vm, host)]
        if vm.vmid in self.place:
            self.on[self.place[vm.vmid]].discard(vm.vmid)
        self.place[vm.vmid] = host.name
        self.on[host.name].add(vm.vmid)
        return faults

    def _kind_faults(self, action: PlacementAction, vm: ClusterVm) -> list[str]:
        here = self.place.get(vm.vmid)
        if action.action == "start":
            return [f"VM {vm.vmid} runs on {here} already"] if here else []
        if here is None:
            return [f"VM {vm.vmid} does not run, so it cannot migrate"]
        faults = [f"VM {vm.vmid} is on {here} already"] if here == action.target else []
        if action.source and action.source != here:
            faults.append(f"VM {vm.vmid} is on {here}, not on {action.source}")
        return faults

    def _target_faults(self, vm: ClusterVm, host: ClusterHost) -> list[str]:
        faults = []
        if not host.online:
            faults.append(f"{host.name} is offline")
        if host.drain:
            faults.append(f"{host.name} is drained")
        if vm.pinned and vm.pinned != host.name:
            faults.append(f"VM {vm.vmid} is pinned to {vm.pinned}, not to {host.name}")
        others = [self.vms[vmid] for vmid in self.on[host.name] if vmid != vm.vmid]
        ram = sum(other.ram_mib for other in others) + vm.ram_mib
        cpu = sum(other.cpu_mc for other in others) + vm.cpu_mc
        if ram > host.ram_mib - host.reserve_ram_mib:
            faults.append(
                f"{host.name} would hold {ram} MiB of RAM; its limit is "
                f"{host.ram_mib - host.reserve_ram_mib}"
            )
        if cpu > host.cpu_mc - host.reserve_cpu_mc:
            faults.append(
                f"{host.name} would hold {cpu} mc of CPU; its limit is "
                f"{host.cpu_mc - host.reserve_cpu_mc}"
            )
        return faults + self._group_faults(vm, host)

    def _group_faults(self, vm: ClusterVm, host: ClusterHost) -> list[str]:
        members = self.group.get(vm.ha_group, []) if vm.ha_group else []
        faults = []
        for other in members:
            name = self.place.get(other.vmid)
            if other.vmid == vm.vmid or name is None:
                continue
            if name == host.name and len(members) <= self.usable_hosts:
                faults.append(
                    f"VM {other.vmid} of the HA group {vm.ha_group!r} is on {host.name} too"
                )
            elif (
                self.cluster.use_rack_constraints
                and self.hosts[name].rack == host.rack
                and len(members) <= self.usable_racks
            ):
                faults.append(
                    f"VM {other.vmid} of the HA group {vm.ha_group!r} is in rack {host.rack} too"
                )
        return faults

    def final_faults(self, unplaced: frozenset[int]) -> list[str]:
        """Return what is wrong at the end with the virtual machines that count as placed."""
        faults = [f"VM {vmid} is unknown" for vmid in sorted(unplaced - self.vms.keys())]
        # Those that count as placed do not have to leave room for the others.
        for vmid in unplaced & self.place.keys():
            self.on[self.place.pop(vmid)].discard(vmid)
        for vm in self.cluster.vms:
            if vm.vmid in unplaced:
                continue
            name = self.place.get(vm.vmid)
            if name is None:
                faults.append(f"VM {vm.vmid} does not run, and the plan does not say why")
                continue
            faults += [
                f"VM {vm.vmid} cannot stay on {name}: {fault}"
                for fault in self._target_faults(vm, self.hosts[name])
            ]
        return faults
