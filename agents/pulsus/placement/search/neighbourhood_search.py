"""Improve a placement step by step: CP-SAT on a few hosts at a time, and on more if that fails.

Each improvement is kept only with an order of moves that leads to it, so that the plan can always
be executed. The search counts its own work: the same cluster, seed and limit of work give the same
plan, as long as the clock does not end it. The time limit comes from
`placement/placement_planner.py`.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from pulsus.placement.move_order import OrderedMoves, Step, order_moves
from pulsus.placement.placement_rules import NOWHERE, PlacementState, misplaced
from pulsus.placement.search.neighbourhood_model import NeighbourhoodModel
from pulsus.placement.search.tier_values import TierValues

_SIZES = (4, 6, 8, 12, 16, 24)
"""Hosts of a neighbourhood. The next size follows when each virtual machine has had one of this."""
_LARGEST_FOR_MOVES = 12
"""Hosts of a neighbourhood in which a needless move is looked for. Larger ones found none."""
_MOST_WAITING = 12
"""Virtual machines that wait, in one neighbourhood."""
_WORK_A_LITERAL = 8e-6
"""Deterministic seconds for each variable: building a model takes time that CP-SAT does not count.
"""


@dataclass(frozen=True, slots=True)
class SearchBudget:
    """Limits of a search: `work` in deterministic seconds of CP-SAT, and the clock.

    `seconds_left` returns the seconds that remain.
    """

    seed: int
    work: float
    seconds_left: Callable[[], float]


class NeighbourhoodSearch:
    """A placement that is being improved: `state` after `steps`, and whether the clock ended it."""

    def __init__(self, tiers: TierValues, ordered: OrderedMoves, budget: SearchBudget) -> None:
        self.tiers, self.rules = tiers, tiers.rules
        self.state: PlacementState = ordered.state
        self.steps: list[Step] = list(ordered.steps)
        self.budget = budget
        self.spent = 0.0
        self.ended_by_clock = False
        self._random = random.Random(budget.seed)
        self._lost = misplaced(self.state)

    def run(self) -> None:
        """Place those that wait, then lower soft violations, then return needless moves."""
        self._pass_over(self._waiting)
        if any(not rule.hard for rule in self.rules.affinities):
            self._pass_over(self._crowded)
        self._pass_over(self._needless, _LARGEST_FOR_MOVES)

    def _may_go_on(self) -> bool:
        if self.budget.seconds_left() <= 0:
            self.ended_by_clock = True
        return not self.ended_by_clock and self.spent < self.budget.work

    def _pass_over(self, find: Callable[[], list[int]], largest: int = _SIZES[-1]) -> None:
        """Try each virtual machine of the list, and then again with larger neighbourhoods."""
        for size in (each for each in _SIZES if each <= largest):
            tried: set[int] = set()
            while self._may_go_on():
                untried = [vm for vm in find() if vm not in tried]
                if not untried:
                    break
                tried.add(untried[0])
                self._improve_around(untried[0], untried, size)

    def _waiting(self) -> list[int]:
        """Return those without a place that could have one, the most important first."""
        rules = self.rules
        return sorted(
            self._lost,
            key=lambda vm: (rules.pin[vm] == NOWHERE, -rules.priority[vm], rules.ram[vm], vm),
        )

    def _crowded(self) -> list[int]:
        """Return the members of soft groups in places that hold more of them than others."""
        found = []
        for number, rule in enumerate(self.rules.affinities):
            if rule.hard:
                continue
            counts = self.state.members[number]
            least = len(rule.members) // max(1, rule.places)
            found += [
                vm
                for vm in rule.members
                if self.state.where[vm] != NOWHERE
                and counts[rule.place_of[self.state.where[vm]]] > least + 1
            ]
        return sorted(set(found) - self._lost)

    def _needless(self) -> list[int]:
        """Return those that moved although they could have stayed, the largest first."""
        rules = self.rules
        found = [
            vm
            for vm, host in enumerate(self.state.where)
            if rules.at[vm] not in (NOWHERE, host) and vm not in self.tiers.needs
        ]
        return sorted(found, key=lambda vm: (-rules.ram[vm], vm))

    def _improve_around(self, vm: int, others: list[int], size: int) -> None:
        hosts = self._hosts_around(vm, size)
        if not hosts:
            return
        waiting = self._waiting_for(hosts, [vm, *others]) if vm in self._lost else []
        model = NeighbourhoodModel(self.state, hosts, waiting)
        built = model.literals * _WORK_A_LITERAL
        work = min(0.02 * size, max(self.budget.work - self.spent, 0.0))
        found, spent = model.improve(self.budget.seed, work, self.budget.seconds_left())
        self.spent += built + spent
        self._accept(found)

    def _hosts_around(self, vm: int, size: int) -> list[int]:
        """Return hosts that take no overload: those that the move is about, and free ones."""
        rules, state = self.rules, self.state
        barred = {state.where[each] for each in self._lost}
        usable = [host for host in rules.usable_hosts if host not in barred]
        about = [host for host in (state.where[vm], rules.at[vm]) if host in set(usable)]
        if rules.pin[vm] != NOWHERE:
            about.append(rules.pin[vm])
        free = sorted(
            (host for host in usable if host not in about),
            key=lambda host: (state.ram[host] - rules.ram_limit[host], host),
        )
        if vm in self._lost:
            free = [host for host in free if rules.may_host(vm, host)] or free
        room = max(0, size - len(about))
        # Half are the freest hosts, and half are drawn from the next ones: repeats differ then.
        first, rest = free[: room // 2], free[room // 2 : room * 4]
        drawn = self._random.sample(rest, min(len(rest), room - len(first)))
        chosen = {*about, *first, *drawn}
        return sorted(chosen) if chosen.isdisjoint(barred) else []

    def _waiting_for(self, hosts: list[int], vms: list[int]) -> list[int]:
        """Return those that these hosts might take together, by their free RAM and CPU."""
        rules, state = self.rules, self.state
        ram = sum(rules.ram_limit[host] - state.ram[host] for host in hosts)
        cpu = sum(rules.cpu_limit[host] - state.cpu[host] for host in hosts)
        found: list[int] = []
        for vm in dict.fromkeys(vms):
            fits = rules.ram[vm] <= ram and rules.cpu[vm] <= cpu
            if fits and any(rules.may_host(vm, host) for host in hosts):
                found.append(vm)
                ram, cpu = ram - rules.ram[vm], cpu - rules.cpu[vm]
            if len(found) == _MOST_WAITING:
                break
        return found

    def _accept(self, found: dict[int, int]) -> None:
        """Keep the placement of a neighbourhood if it is better and an order leads to it."""
        changed = {vm: host for vm, host in found.items() if host != self.state.where[vm]}
        if not changed:
            return
        targets = list(self.state.where)
        for vm, host in changed.items():
            targets[vm] = host
        ordered = order_moves(self.rules, targets, self.state)
        steps = [*self.steps, *ordered.steps]
        if ordered.stuck:  # hosts are fuller now than they were at the start
            ordered = order_moves(self.rules, targets)
            steps = list(ordered.steps)
        if ordered.stuck:
            return
        lost = misplaced(ordered.state)
        if self.tiers.of(ordered.state, lost) < self.tiers.of(self.state, self._lost):
            self.state, self._lost = ordered.state, lost
            self.steps = steps
