"""A part of a cluster as a CP-SAT model: some hosts with their virtual machines, and some that wait
for a place. All others stay where they are.

The constraints (memory, CPU, pins, HA groups) come from `placement/placement_rules.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from pulsus.placement.placement_rules import NOWHERE, AntiAffinity, PlacementState
from pulsus.placement.search.cp_sat_model import load_cp_model

_LARGEST_SUM = 2**60
"""CP-SAT counts in 64 bits. Tiers whose weighted sum is larger are minimised one by one."""


class NeighbourhoodModel:
    """`on[vm, host]` is true if the virtual machine is there at the end, `waits[vm]` if it waits.

    No host of the neighbourhood may be overloaded, or hold a misplaced virtual machine.
    """

    def __init__(self, state: PlacementState, hosts: Sequence[int], waiting: Sequence[int]) -> None:
        self.state, self.rules = state, state.rules
        self.hosts = list(hosts)
        self.cp = load_cp_model()
        self.model = self.cp.CpModel()
        pin = self.rules.pin
        residents = [vm for host in hosts for vm in sorted(state.on[host]) if pin[vm] == NOWHERE]
        self.vms = [*residents, *waiting]
        self.on: dict[tuple[int, int], Any] = {}
        self.waits = {vm: self.model.new_bool_var("") for vm in waiting}
        self._vms_on: dict[int, list[int]] = {host: [] for host in self.hosts}
        for vm in self.vms:
            self._add_vm(vm)
        for host in self.hosts:
            self._limit_host(host)
        self.pairs: list[Any] = []
        for number in sorted({n for vm in self.vms for n in self.rules.affinities_of[vm]}):
            rule = self.rules.affinities[number]
            if rule.hard:
                self._keep_apart(number, rule)
            else:
                self._count_pairs(number, rule)

    @property
    def literals(self) -> int:
        """The number of pairs of a virtual machine and a host."""
        return len(self.on)

    def _add_vm(self, vm: int) -> None:
        found = [self.waits[vm]] if vm in self.waits else []
        for host in self.hosts:
            if self.rules.may_host(vm, host):
                literal = self.on[vm, host] = self.model.new_bool_var("")
                self._vms_on[host].append(vm)
                found.append(literal)
        self.model.add_exactly_one(found)

    def _limit_host(self, host: int) -> None:
        rules, state = self.rules, self.state
        vms = self._vms_on[host]
        fixed = [vm for vm in state.on[host] if rules.pin[vm] != NOWHERE]
        literals = [self.on[vm, host] for vm in vms]
        for weight, limits in ((rules.ram, rules.ram_limit), (rules.cpu, rules.cpu_limit)):
            room = limits[host] - sum(weight[vm] for vm in fixed)
            weights = [weight[vm] for vm in vms]
            self.model.add(self.cp.LinearExpr.weighted_sum(literals, weights) <= room)

    def _members_at(self, number: int, rule: AntiAffinity, place: int) -> tuple[int, list[Any]]:
        """Return how many members that do not move are in the place, and literals of the others."""
        fixed = self.state.members[number][place]
        literals = []
        for vm in rule.members:
            here = self.state.where[vm]
            known = vm in self.waits or any((vm, host) in self.on for host in self.hosts)
            if not known:
                continue
            fixed -= here != NOWHERE and rule.place_of[here] == place
            literals += [
                self.on[vm, host]
                for host in self.hosts
                if rule.place_of[host] == place and (vm, host) in self.on
            ]
        return fixed, literals

    def _places(self, rule: AntiAffinity) -> list[int]:
        return sorted({rule.place_of[host] for host in self.hosts})

    def _keep_apart(self, number: int, rule: AntiAffinity) -> None:
        where = self.state.where
        for place in self._places(rule):
            fixed, incoming = self._members_at(number, rule, place)
            if fixed:
                for literal in incoming:
                    self.model.add(literal == 0)
                continue
            self.model.add_at_most_one(incoming)
            for vm, waits in self.waits.items():
                # One that waits still runs where it is, and keeps the others of its group away.
                runs = vm in rule.members and where[vm] != NOWHERE
                if runs and rule.place_of[where[vm]] == place:
                    self.model.add_at_most_one([*incoming, waits])

    def _count_pairs(self, number: int, rule: AntiAffinity) -> None:
        """Count the pairs in each place: the k-th member beside b others adds b + k - 1 of them."""
        for place in self._places(rule):
            fixed, literals = self._members_at(number, rule, place)
            levels = [
                self.model.new_bool_var("") for _ in range(min(len(literals), len(rule.members)))
            ]
            if not levels:
                continue
            self.model.add(sum(levels) == sum(literals))
            for lower, upper in pairwise(levels):
                self.model.add_implication(upper, lower)
            self.pairs.extend((fixed + k) * level for k, level in enumerate(levels) if fixed + k)

    def improve(self, seed: int, work: float, seconds: float) -> tuple[dict[int, int], float]:
        """Return the hosts of the best solution, and the work that it took.

        The tiers are those of the whole plan. Without a solution the mapping is empty. `work` is in
        deterministic seconds of CP-SAT.
        """
        self._hint({vm: self.state.where[vm] for vm in self.vms})
        best: dict[int, int] = {}
        spent = 0.0
        for tier in self._tiers():
            self.model.minimize(tier)
            solver = self.cp.CpSolver()
            solver.parameters.num_workers = 1
            solver.parameters.random_seed = seed
            solver.parameters.max_deterministic_time = max(work - spent, 0.001)
            solver.parameters.max_time_in_seconds = max(seconds, 0.01)
            status = solver.solve(self.model)
            spent += solver.deterministic_time
            if status not in (self.cp.OPTIMAL, self.cp.FEASIBLE):
                break
            best = {vm: host for (vm, host), on in self.on.items() if solver.boolean_value(on)}
            self.model.add(tier <= round(solver.objective_value))
            self._hint(best)
        return best, spent

    def _hint(self, where: dict[int, int]) -> None:
        self.model.clear_hints()
        for (vm, host), literal in self.on.items():
            self.model.add_hint(literal, int(where.get(vm, NOWHERE) == host))
        for vm, literal in self.waits.items():
            self.model.add_hint(literal, int(where.get(vm, NOWHERE) not in self.hosts))

    def _tiers(self) -> list[Any]:
        rules = self.rules
        waiting: list[tuple[Any, int]] = []
        for level in sorted({rules.priority[vm] for vm in self.waits}, reverse=True):
            literals = [each for vm, each in self.waits.items() if rules.priority[vm] == level]
            waiting.append((sum(literals), len(literals)))
        away = [
            (literal, rules.ram[vm])
            for (vm, host), literal in self.on.items()
            if rules.at[vm] not in (NOWHERE, host)
        ]
        most_pairs = sum(len(rules.affinities[n].members) ** 2 for n in self._soft_rules())
        counted = [
            *waiting,
            (sum(self.pairs), most_pairs),
            (sum(literal for literal, _ in away), len(self.vms)),
        ]
        ram = sum(literal * ram for literal, ram in away)
        tiers = _merge([each for each in counted if each[1]])
        # As long as some wait, the time is better spent on others of them than on MiB.
        return tiers if self.waits else [*tiers, ram]

    def _soft_rules(self) -> set[int]:
        rules = self.rules
        return {
            n for vm in self.vms for n in rules.affinities_of[vm] if not rules.affinities[n].hard
        }


def _merge(tiers: list[tuple[Any, int]]) -> list[Any]:
    """Return weighted sums of tiers, in which an earlier one always counts more than a later one.

    Each tier comes with its largest value.
    """
    merged: list[tuple[Any, int]] = []
    for term, most in reversed(tiers):
        if merged and (most + 1) * (merged[0][1] + 1) < _LARGEST_SUM:
            later, its = merged[0]
            merged[0] = (term * (its + 1) + later, (most + 1) * (its + 1) - 1)
        else:
            merged.insert(0, (term, most))
    return [term for term, _ in merged]
