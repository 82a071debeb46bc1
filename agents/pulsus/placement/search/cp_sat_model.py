"""The whole placement as a CP-SAT model, and its solver (seed, one worker, time limit).

The capacities (memory, CPU) with their reserve, pins and the anti-affinity of HA groups come from
`placement/placement_rules.py`. OR-tools is an extra, imported here when it is needed. A virtual
machine that runs is always somewhere: on its own host, placed or not, or on another one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from pulsus.errors import ExtraMissing
from pulsus.placement.placement_rules import NOWHERE, AntiAffinity, PlacementRules

_MOST_PPM = 10**9
"""Largest RAM share in millionths: 1,000 times the limit, of a host that is overloaded."""

Constraint = tuple[str, int]
"""A kind (`placed`, `pin`, `usable`, `ram`, `cpu`, `apart`) and the index that it is about."""


def load_cp_model() -> Any:
    """Return OR-tools' module of CP-SAT. Raises ExtraMissing."""
    try:
        from ortools.sat.python import cp_model
    except ImportError as failure:
        raise ExtraMissing.of("planning a placement", ["ortools"], "planner") from failure
    return cp_model


def deterministic_solver(seed: int, work: float, seconds: float) -> Any:
    """Return a solver of one worker: the same model, seed and work give the same answer."""
    solver = load_cp_model().CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = seed
    # A tight relaxation: the proofs of a full cluster take a third of the work then.
    solver.parameters.linearization_level = 2
    solver.parameters.max_deterministic_time = work
    solver.parameters.max_time_in_seconds = seconds
    return solver


@dataclass(frozen=True, slots=True)
class TierResult:
    """The value of one tier, the lower bound of its best value, and if both are proven equal."""

    value: int
    bound: int

    @property
    def proven(self) -> bool:
        """True if no smaller value is possible."""
        return self.value <= self.bound


class CpSatPlacement:
    """Variables and constraints of all virtual machines on all hosts.

    `on[vm, host]` is true if the virtual machine is there at the end; `bad[vm]` is true if it is on
    a host that it cannot stay on. Constraints in `dropped` are left out.
    """

    def __init__(
        self,
        rules: PlacementRules,
        dropped: Collection[Constraint] = (),
        required: Collection[int] = (),
    ) -> None:
        self.rules = rules
        self.cp = load_cp_model()
        self.model = self.cp.CpModel()
        self._dropped = frozenset(dropped)
        self._required = frozenset(required)
        self.on: dict[tuple[int, int], Any] = {}
        self.bad: dict[int, Any] = {}
        self._vms_of_host: list[list[int]] = [[] for _ in rules.cluster.hosts]
        for vm in range(len(rules.cluster.vms)):
            self._add_vm(vm)
        for host in range(len(rules.cluster.hosts)):
            self._limit_host(host)
        self.pairs: list[Any] = []
        for number, rule in enumerate(rules.affinities):
            if ("apart", number) in self._dropped:
                continue
            if rule.hard:
                self._keep_apart(rule)
            elif not self._required:
                self._count_pairs(rule)

    def _keeps(self, kind: str, index: int) -> bool:
        return (kind, index) not in self._dropped

    def _hosts_for(self, vm: int) -> list[int]:
        rules = self.rules
        return [
            host
            for host in range(len(rules.cluster.hosts))
            if host == rules.at[vm]
            or (
                (rules.usable[host] or not self._keeps("usable", host))
                and (rules.pin[vm] in (NOWHERE, host) or not self._keeps("pin", vm))
            )
        ]

    def _add_vm(self, vm: int) -> None:
        rules, here = self.rules, self.rules.at[vm]
        hosts = self._hosts_for(vm)
        for host in hosts:
            self.on[vm, host] = self.model.new_bool_var("")
            self._vms_of_host[host].append(vm)
        self.model.add_at_most_one(self.on[vm, host] for host in hosts)
        if here != NOWHERE:
            self.model.add_exactly_one(self.on[vm, host] for host in hosts)
            self.bad[vm] = self.model.new_bool_var("")
            self.model.add_implication(self.bad[vm], self.on[vm, here])
            wrong_pin = rules.pin[vm] not in (NOWHERE, here) and self._keeps("pin", vm)
            if wrong_pin or (not rules.usable[here] and self._keeps("usable", here)):
                self.model.add_implication(self.on[vm, here], self.bad[vm])
        if vm in self._required and self._keeps("placed", vm):
            self.model.add(sum(self.on[vm, host] for host in hosts) >= 1)
            if vm in self.bad:
                self.model.add(self.bad[vm] == 0)

    def _limit_host(self, host: int) -> None:
        rules = self.rules
        if not rules.usable[host] and self._keeps("usable", host):
            return
        vms = self._vms_of_host[host]
        for kind, weight, limit in (
            ("ram", rules.ram, rules.ram_limit[host]),
            ("cpu", rules.cpu, rules.cpu_limit[host]),
        ):
            if not self._keeps(kind, host):
                continue
            now = sum(weight[vm] for vm in vms if rules.at[vm] == host)
            terms = [weight[vm] * self.on[vm, host] for vm in vms]
            own = [vm for vm in vms if rules.at[vm] == host]
            if now <= limit:
                self.model.add(sum(terms) <= limit)
                continue
            self.model.add(sum(terms) - sum(weight[v] * self.bad[v] for v in own) <= limit)
            self._let_none_in([self.on[v, host] for v in vms if v not in set(own)], own)

    def _let_none_in(self, incoming: list[Any], staying: list[int]) -> None:
        """Let no virtual machine come while one is here that should not be."""
        if not incoming:
            return
        comes = self.model.new_bool_var("")
        for literal in incoming:
            self.model.add_implication(literal, comes)
        for vm in staying:
            self.model.add_implication(self.bad[vm], comes.negated())

    def _keep_apart(self, rule: AntiAffinity) -> None:
        for place in sorted(set(rule.place_of)):
            literals = {
                (vm, host): self.on[vm, host]
                for vm in rule.members
                for host, its in enumerate(rule.place_of)
                if its == place and (vm, host) in self.on
            }
            own = [vm for vm, host in literals if self.rules.at[vm] == host]
            if len(own) < 2:
                self.model.add_at_most_one(literals.values())
                continue
            self.model.add(sum(literals.values()) - sum(self.bad[vm] for vm in own) <= 1)
            coming = [each for (vm, host), each in literals.items() if self.rules.at[vm] != host]
            self._let_none_in(coming, own)

    def _count_pairs(self, rule: AntiAffinity) -> None:
        """Count the pairs in each place: the k-th member adds k - 1 of them."""
        for place in sorted(set(rule.place_of)):
            literals = [
                self.on[vm, host]
                for vm in rule.members
                for host, its in enumerate(rule.place_of)
                if its == place and (vm, host) in self.on
            ]
            if len(literals) < 2:
                continue
            most = min(len(literals), len(rule.members))
            levels = [self.model.new_bool_var("") for _ in range(most)]
            self.model.add(sum(levels) == sum(literals))
            for lower, upper in pairwise(levels):
                self.model.add_implication(upper, lower)
            self.pairs.extend(k * level for k, level in enumerate(levels) if k)

    def unplaced(self, priority: int) -> Any:
        """Return the number of virtual machines of this priority that are not placed."""
        terms: list[Any] = []
        for vm, its in enumerate(self.rules.priority):
            if its != priority:
                continue
            if vm in self.bad:
                terms.append(self.bad[vm])
            else:
                terms.append(1 - sum(self.on[vm, h] for h in self._hosts_for(vm)))
        return sum(terms)

    def soft_violations(self) -> Any:
        """Return the pairs of members of soft groups that share a place."""
        return sum(self.pairs)

    def moves(self, weight: Mapping[int, int] | None = None) -> Any:
        """Return how many run elsewhere at the end, or the sum of their weights."""
        return sum(
            (weight[vm] if weight else 1) * literal
            for (vm, host), literal in self.on.items()
            if self.rules.at[vm] not in (NOWHERE, host)
        )

    def imbalance_ppm(self) -> Any:
        """Return the highest minus the lowest RAM share of a usable host, in millionths.

        It may be up to 2 millionths above the true value, because shares are rounded outwards.
        """
        rules = self.rules
        highest = self.model.new_int_var(0, _MOST_PPM, "")
        lowest = self.model.new_int_var(0, _MOST_PPM, "")
        for host in rules.usable_hosts:
            limit = max(1, rules.ram_limit[host])
            used = sum(rules.ram[vm] * self.on[vm, host] for vm in self._vms_of_host[host])
            self.model.add(highest * limit >= 1_000_000 * used)
            self.model.add(lowest * limit <= 1_000_000 * used)
        return highest - lowest

    def hint(self, where: list[int], unplaced: Collection[int]) -> None:
        """Give the solver a placement to start from."""
        self.model.clear_hints()
        for (vm, host), literal in self.on.items():
            self.model.add_hint(literal, int(where[vm] == host))
        for vm, literal in self.bad.items():
            self.model.add_hint(literal, int(vm in unplaced))

    def solver(self, seed: int, work: float, seconds: float) -> Any:
        """Return a solver of one worker: the same model, seed and work give the same answer."""
        return deterministic_solver(seed, work, seconds)

    def read(self, solver: Any) -> list[int]:
        """Return the host of each virtual machine in the solution."""
        where = [NOWHERE] * len(self.rules.cluster.vms)
        for (vm, host), literal in self.on.items():
            if solver.boolean_value(literal):
                where[vm] = host
        return where
