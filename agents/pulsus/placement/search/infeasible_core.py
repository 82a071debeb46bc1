"""Minimal infeasible core: constraints that contradict each other, told with numbers.

It explains why no placement is possible. Why a single host does not take a virtual machine is said
in `placement/unplaced_reasons.py`. `cli/place/placement_text.py` prints both.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from pulsus.placement.placement_rules import NOWHERE, PlacementRules
from pulsus.placement.search.cp_sat_model import Constraint, CpSatPlacement

_WORK = 5.0
"""Deterministic seconds of CP-SAT for one test. A test that takes longer proves nothing."""


def is_infeasible(
    rules: PlacementRules,
    required: Collection[int],
    seed: int,
    seconds: float,
    dropped: Collection[Constraint] = (),
) -> bool:
    """Return True if it is proven that the required VMs cannot all be placed."""
    placement = CpSatPlacement(rules, dropped, required)
    solver = placement.solver(seed, _WORK, max(seconds, 0.01))
    return bool(solver.solve(placement.model) == placement.cp.INFEASIBLE)


def infeasible_core(
    rules: PlacementRules, required: Collection[int], seed: int, left: Callable[[], float]
) -> tuple[tuple[str, ...], bool]:
    """Return the constraints in words, and True if the set is proven to be minimal.

    The required VMs cannot all be placed. `left` says how many seconds are left: when none are, the
    set is smaller than all constraints, but perhaps not minimal.
    """
    core = _all_constraints(rules, required)
    everything = frozenset(core)
    size = max(1, len(core) // 2)
    while True:
        at = 0
        while at < len(core):
            if left() <= 0:
                return _in_words(rules, core), False
            fewer = core[:at] + core[at + size :]
            dropped = everything.difference(fewer)
            if is_infeasible(rules, required, seed, left(), dropped):
                core = fewer
            else:
                at += size
        if size == 1:
            return _in_words(rules, core), True
        size = max(1, size // 2)


def _all_constraints(rules: PlacementRules, required: Collection[int]) -> list[Constraint]:
    hosts = range(len(rules.cluster.hosts))
    return [
        *(("apart", number) for number, rule in enumerate(rules.affinities) if rule.hard),
        *(("usable", host) for host in hosts if not rules.usable[host]),
        *(("cpu", host) for host in hosts),
        *(("ram", host) for host in hosts),
        *(("pin", vm) for vm, host in enumerate(rules.pin) if host != NOWHERE),
        *(("placed", vm) for vm in sorted(required)),
    ]


def _in_words(rules: PlacementRules, core: list[Constraint]) -> tuple[str, ...]:
    return tuple(_words(rules, kind, index) for kind, index in core)


def _words(rules: PlacementRules, kind: str, index: int) -> str:
    cluster = rules.cluster
    if kind == "apart":
        rule = rules.affinities[index]
        level = "racks" if rule.by_rack else "hosts"
        return f"the {len(rule.members)} VMs of the HA group {rule.group!r} need different {level}"
    if kind in ("pin", "placed"):
        vm = cluster.vms[index]
        if kind == "pin":
            return f"VM {vm.vmid} is pinned to {vm.pinned}"
        return f"VM {vm.vmid} needs a host: {vm.ram_mib} MiB of RAM and {vm.cpu_mc} mc of CPU"
    host = cluster.hosts[index]
    if kind == "usable":
        return f"{host.name} is {'drained' if host.online else 'offline'}"
    if kind == "ram":
        return f"{host.name} has {rules.ram_limit[index]} MiB of RAM for VMs"
    return f"{host.name} has {rules.cpu_limit[index]} mc of CPU for VMs"
