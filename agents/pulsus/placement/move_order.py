"""Bring migrations and starts into an order that can be executed. Pure and deterministic.

During a migration both hosts hold the virtual machine. A cycle is broken by a temporary hop to a
third host.
"""

from __future__ import annotations

from dataclasses import dataclass

from pulsus.placement.cluster import PlacementAction
from pulsus.placement.placement_rules import NOWHERE, PlacementRules, PlacementState


@dataclass(frozen=True, slots=True)
class OrderedMoves:
    """The actions in order, and the state after them. `stuck` reached no target."""

    actions: tuple[PlacementAction, ...]
    state: PlacementState
    stuck: frozenset[int]


def order_moves(rules: PlacementRules, targets: list[int]) -> OrderedMoves:
    """Return the actions that lead from the present to the targets.

    What no order can bring to its target stays where it is, and is in `stuck`.
    """
    state = PlacementState(rules, rules.at)
    pending = {vm for vm, target in enumerate(targets) if target not in (NOWHERE, state.where[vm])}
    actions: list[PlacementAction] = []
    hopped: set[int] = set()
    while pending:
        vm = _next_ready(state, targets, pending)
        if vm is not None:
            actions.append(_act(state, vm, targets[vm]))
            pending.discard(vm)
            continue
        hop = _find_hop(state, targets, pending, hopped)
        if hop is None:
            break
        hopped.add(hop[0])
        actions.append(_act(state, *hop))
    return OrderedMoves(tuple(actions), state, frozenset(pending))


def _act(state: PlacementState, vm: int, target: int) -> PlacementAction:
    hosts = state.rules.cluster.hosts
    vmid = state.rules.cluster.vms[vm].vmid
    if state.where[vm] == NOWHERE:
        state.put(vm, target)
        return PlacementAction("start", vmid, hosts[target].name)
    source = state.take(vm)
    state.put(vm, target)
    return PlacementAction("migrate", vmid, hosts[target].name, hosts[source].name)


def _next_ready(state: PlacementState, targets: list[int], pending: set[int]) -> int | None:
    """Return the move that frees a host which others wait for; starts come last."""
    ready = [vm for vm in pending if state.accepts(vm, targets[vm])]
    if not ready:
        return None
    wanted = {targets[vm] for vm in pending if vm not in set(ready)}
    left = {state.where[vm] for vm in pending}
    return min(
        ready,
        key=lambda vm: (
            state.where[vm] == NOWHERE,
            state.where[vm] not in wanted,
            targets[vm] in left,
            -state.rules.ram[vm],
            vm,
        ),
    )


def _find_hop(
    state: PlacementState, targets: list[int], pending: set[int], hopped: set[int]
) -> tuple[int, int] | None:
    """Return a pending virtual machine and a host to park it on, so that another move can go."""
    rules = state.rules
    moving = [vm for vm in pending if state.where[vm] != NOWHERE and rules.pin[vm] == NOWHERE]
    for vm in sorted(moving, key=lambda vm: (vm in hopped, rules.ram[vm], vm)):
        if vm in hopped:
            continue
        here = state.where[vm]
        for host in rules.usable_hosts:
            if host in (here, targets[vm]) or not state.accepts(vm, host):
                continue
            state.take(vm)
            state.put(vm, host)
            helps = any(state.accepts(other, targets[other]) for other in pending)
            state.take(vm)
            state.put(vm, here)
            if helps:
                return vm, host
    return None
