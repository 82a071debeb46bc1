"""Bring migrations and starts into an order that can be executed. Pure and deterministic.

The actions of a plan, which are the difference of the present and the planned placement, are made
here. During a migration both hosts hold the virtual machine. A cycle (deadlock) is broken by a
temporary hop to a third host. The finished order is checked once more, for its certificate, by
`plan_checker.py`; what a host accepts is in `placement_rules.py`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from pulsus.placement.cluster import PlacementAction
from pulsus.placement.placement_rules import NOWHERE, PlacementRules, PlacementState

Step = tuple[int, int]
"""A virtual machine and the host that it goes to."""


@dataclass(frozen=True, slots=True)
class OrderedMoves:
    """The steps in order, and the state after them. `stuck` reached no target."""

    rules: PlacementRules
    steps: tuple[Step, ...]
    state: PlacementState
    stuck: frozenset[int]

    @property
    def actions(self) -> tuple[PlacementAction, ...]:
        """The steps as actions, from the present of the cluster on."""
        return to_actions(self.rules, self.steps)


def to_actions(rules: PlacementRules, steps: tuple[Step, ...]) -> tuple[PlacementAction, ...]:
    """Return the steps as actions, from the present of the cluster on."""
    where, hosts, found = list(rules.at), rules.cluster.hosts, []
    for vm, target in steps:
        here, vmid = where[vm], rules.cluster.vms[vm].vmid
        if here == NOWHERE:
            found.append(PlacementAction("start", vmid, hosts[target].name))
        else:
            found.append(PlacementAction("migrate", vmid, hosts[target].name, hosts[here].name))
        where[vm] = target
    return tuple(found)


def order_moves(
    rules: PlacementRules, targets: list[int], start: PlacementState | None = None
) -> OrderedMoves:
    """Return the steps that lead from `start`, by default the present, to the targets.

    What no order can bring to its target stays where it is, and is in `stuck`.
    """
    state = start.copy() if start else PlacementState(rules, rules.at)
    return _Ordering(state, targets).run()


class _Ordering:
    """Moves that wait for their turn. After each step only the moves that it concerns are tested
    again, so that 1,000 moves take about a second.
    """

    def __init__(self, state: PlacementState, targets: list[int]) -> None:
        self.state = state
        self.rules = state.rules
        self.targets = targets
        self.pending = {
            vm for vm, target in enumerate(targets) if target not in (NOWHERE, state.where[vm])
        }
        self.ready = {vm for vm in self.pending if state.accepts(vm, targets[vm])}
        self.blocked_at = Counter(targets[vm] for vm in self.pending - self.ready)
        self.leaving = Counter(state.where[vm] for vm in self.pending)
        self.arriving: dict[int, set[int]] = {}
        for vm in self.pending:
            self.arriving.setdefault(targets[vm], set()).add(vm)
        self.steps: list[Step] = []

    def run(self) -> OrderedMoves:
        hopped: set[int] = set()
        while self.pending:
            vm = self._next_ready()
            if vm is not None:
                self._do(vm, self.targets[vm])
                continue
            hop = self._find_hop(hopped)
            if hop is None:
                break
            hopped.add(hop[0])
            self._do(*hop)
        return OrderedMoves(self.rules, tuple(self.steps), self.state, frozenset(self.pending))

    def _do(self, vm: int, host: int) -> None:
        here = self.state.where[vm]
        if here != NOWHERE:
            self.state.take(vm)
        self.state.put(vm, host)
        self.steps.append((vm, host))
        self.leaving[here] -= 1
        concerned = self._waiting_for(vm, here, host)
        if host == self.targets[vm]:
            self.pending.discard(vm)
            self.arriving[host].discard(vm)
            concerned.discard(vm)
            if vm in self.ready:
                self.ready.discard(vm)
            else:
                self.blocked_at[host] -= 1
        else:
            self.leaving[host] += 1
            concerned.add(vm)
        for other in concerned:
            self._test(other)

    def _waiting_for(self, vm: int, here: int, host: int) -> set[int]:
        """Return the pending moves whose readiness a move of `vm` may change."""
        found = set(self.arriving.get(here, ())) | self.arriving.get(host, set())
        for number in self.rules.affinities_of[vm]:
            if self.rules.affinities[number].hard:
                found.update(self.pending.intersection(self.rules.affinities[number].members))
        return found & self.pending

    def _test(self, vm: int) -> None:
        target = self.targets[vm]
        ready = self.state.accepts(vm, target)
        if ready and vm not in self.ready:
            self.ready.add(vm)
            self.blocked_at[target] -= 1
        elif not ready and vm in self.ready:
            self.ready.discard(vm)
            self.blocked_at[target] += 1

    def _next_ready(self) -> int | None:
        """Return the move that frees a host which others wait for; starts come last."""
        where, targets, ram = self.state.where, self.targets, self.rules.ram
        return min(
            self.ready,
            key=lambda vm: (
                where[vm] == NOWHERE,
                not self.blocked_at[where[vm]],
                self.leaving[targets[vm]] > 0,
                -ram[vm],
                vm,
            ),
            default=None,
        )

    def _find_hop(self, hopped: set[int]) -> Step | None:
        """Return a pending virtual machine and a host to park it on, so that another move can go.

        Only a host that others wait for is worth leaving.
        """
        state, rules = self.state, self.rules
        moving = [
            vm
            for vm in self.pending - hopped
            if state.where[vm] != NOWHERE
            and rules.pin[vm] == NOWHERE
            and (self.blocked_at[state.where[vm]] > 0 or rules.affinities_of[vm])
        ]
        for vm in sorted(moving, key=lambda vm: (rules.ram[vm], vm)):
            here = state.where[vm]
            hosts = [
                host
                for host in rules.usable_hosts
                if host not in (here, self.targets[vm]) and state.accepts(vm, host)
            ]
            # A host that no move needs is the best place to park on.
            for host in sorted(hosts, key=lambda host: (self.blocked_at[host], host)):
                if self._helps(vm, here, host):
                    return vm, host
        return None

    def _helps(self, vm: int, here: int, host: int) -> bool:
        others = self._waiting_for(vm, here, host)
        self.state.take(vm)
        self.state.put(vm, host)
        helps = any(self.state.accepts(other, self.targets[other]) for other in others)
        self.state.take(vm)
        self.state.put(vm, here)
        return helps
