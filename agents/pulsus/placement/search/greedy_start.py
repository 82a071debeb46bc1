"""A first placement: the largest first, each where it fits best. Pure and deterministic.

The virtual machines of higher priority come before larger ones, pinned ones before all. Where one
fits is decided in `placement/placement_rules.py`.
"""

from __future__ import annotations

from pulsus.placement.placement_rules import NOWHERE, PlacementRules, PlacementState, misplaced


def greedy_start(rules: PlacementRules) -> PlacementState:
    """Return a placement that keeps to all rules. What finds no host stays where it is now.

    A virtual machine moves only if it must, or if fewer members of its HA group share a place then.
    """
    state = PlacementState(rules, rules.at)
    for vm in _most_important_first(rules, misplaced(state)):
        _place(state, vm)
    _spread(state)
    return state


def _most_important_first(rules: PlacementRules, vms: set[int]) -> list[int]:
    return sorted(
        vms,
        key=lambda vm: (
            rules.pin[vm] == NOWHERE,
            -rules.priority[vm],
            -rules.ram[vm],
            -rules.cpu[vm],
            vm,
        ),
    )


def _place(state: PlacementState, vm: int) -> None:
    """Move one virtual machine to its best host; leave it where it is if no host takes it."""
    rules, here = state.rules, state.where[vm]
    fits = [host for host in rules.usable_hosts if host != here and state.accepts(vm, host)]
    if not fits:
        return
    if here != NOWHERE:
        state.take(vm)
    best = min(fits, key=lambda host: (state.added_pairs(vm, host), _room_left(state, vm, host)))
    state.put(vm, best)


def _room_left(state: PlacementState, vm: int, host: int) -> tuple[float, int]:
    """Return the larger share that stays free, and the index: the fullest host comes first."""
    rules = state.rules
    ram = (rules.ram_limit[host] - state.ram[host] - rules.ram[vm]) / max(1, rules.ram_limit[host])
    cpu = (rules.cpu_limit[host] - state.cpu[host] - rules.cpu[vm]) / max(1, rules.cpu_limit[host])
    return max(ram, cpu), host


def _spread(state: PlacementState) -> None:
    """Move members of groups with too few places while that lowers the pairs that share one."""
    rules = state.rules
    for rule in rules.affinities:
        if rule.hard:
            continue
        for vm in sorted(rule.members, key=lambda vm: (rules.ram[vm], vm)):
            if state.where[vm] != NOWHERE and rules.pin[vm] == NOWHERE:
                _move_if_fewer_pairs(state, vm)


def _move_if_fewer_pairs(state: PlacementState, vm: int) -> None:
    here = state.where[vm]
    targets = [h for h in state.rules.usable_hosts if h != here and state.accepts(vm, h)]
    state.take(vm)
    now = state.added_pairs(vm, here)
    found = min(
        ((state.added_pairs(vm, host), _room_left(state, vm, host), host) for host in targets),
        default=None,
    )
    state.put(vm, found[2] if found and found[0] < now else here)
