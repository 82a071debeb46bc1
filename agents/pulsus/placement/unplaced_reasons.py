"""Say for each host why it does not take a virtual machine, with numbers. Pure.

Reasons are too little free memory (RAM) or CPU, a pin, an HA group, a drained host.

The constraints that contradict each other, if no plan exists, are in `search/infeasible_core.py`.
`cli/place/placement_text.py` prints both.
"""

from __future__ import annotations

from pulsus.placement.placement_rules import NOWHERE, PlacementState


def why_no_host(state: PlacementState, vm: int) -> dict[str, str]:
    """Return the first reason of each host, by name, in the state after the plan."""
    return {
        host.name: _reason(state, vm, number)
        for number, host in enumerate(state.rules.cluster.hosts)
    }


def _reason(state: PlacementState, vm: int, host: int) -> str:
    rules = state.rules
    its, spec = rules.cluster.hosts[host], rules.cluster.vms[vm]
    if not its.online:
        return "it is offline"
    if its.drain:
        return "it is drained"
    if rules.pin[vm] not in (NOWHERE, host):
        return f"the VM is pinned to {spec.pinned}"
    own = state.where[vm] == host
    for what, need, used, limit, reserve in (
        ("MiB of RAM", spec.ram_mib, state.ram[host], rules.ram_limit[host], its.reserve_ram_mib),
        ("mc of CPU", spec.cpu_mc, state.cpu[host], rules.cpu_limit[host], its.reserve_cpu_mc),
    ):
        if own and used > limit:
            return f"its VMs need {used} {what}, and the limit is {limit}"
        if not own and used + need > limit:
            kept = f" and a reserve of {reserve}" if reserve else ""
            return f"{max(0, limit - used)} {what} are free of {limit}{kept}; the VM needs {need}"
    other = _member_in_the_way(state, vm, host)
    return other or "no order of moves leads there without overloading a host on the way"


def _member_in_the_way(state: PlacementState, vm: int, host: int) -> str:
    rules = state.rules
    for number in rules.affinities_of[vm]:
        rule = rules.affinities[number]
        place = rule.place_of[host]
        for other in rule.members if rule.hard else ():
            there = state.where[other]
            if other != vm and there != NOWHERE and rule.place_of[there] == place:
                where = f"in rack {rules.cluster.hosts[host].rack}" if rule.by_rack else "here"
                vmid = rules.cluster.vms[other].vmid
                return f"VM {vmid} of the HA group {rule.group!r} is {where} already"
    return ""
