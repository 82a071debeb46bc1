"""Plan a placement within a time limit: a greedy start, then CP-SAT where the model is small.

The same cluster and seed give the same plan, unless the clock ends the work: the solver counts its
own work, and has a limit on it that is reached before the time limit on a usual machine.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pulsus.placement.cluster import Cluster, PlacementStatus
from pulsus.placement.cp_sat_model import CpSatPlacement, TierResult, load_cp_model
from pulsus.placement.greedy_start import greedy_start
from pulsus.placement.infeasible_core import infeasible_core, is_infeasible
from pulsus.placement.move_order import OrderedMoves, order_moves
from pulsus.placement.placement_plan import TIERS, PlacementPlan, UnplacedVm
from pulsus.placement.placement_rules import (
    NOWHERE,
    PlacementRules,
    PlacementState,
    misplaced,
)
from pulsus.placement.plan_checker import Certificate, check_plan
from pulsus.placement.why_not import why_no_host

FULL_MODEL = 20_000
"""Most pairs of a virtual machine and a host for which the whole model is built: it takes a second
to build, and larger ones are rarely proven in ten.
"""
_WORK_PER_SECOND = 0.4
"""Deterministic seconds of CP-SAT for each second of the time limit."""


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """The options of one run. `time_limit_s` is in seconds with the building of models."""

    seed: int = 0
    time_limit_s: float = 10.0
    clock: Callable[[], float] = time.monotonic


def plan_placement(cluster: Cluster, request: PlanRequest | None = None) -> PlacementPlan:
    """Return the plan. Raises ExtraMissing if OR-tools is not installed."""
    load_cp_model()
    asked = request or PlanRequest()
    end = asked.clock() + asked.time_limit_s
    return _Planning(PlacementRules(cluster), asked, lambda: end - asked.clock()).plan()


class _Planning:
    def __init__(
        self, rules: PlacementRules, asked: PlanRequest, left: Callable[[], float]
    ) -> None:
        self.rules = rules
        self.asked = asked
        self.left = left
        self.small = len(rules.cluster.vms) * len(rules.cluster.hosts) <= FULL_MODEL
        self.levels = sorted(set(rules.priority), reverse=True)
        self.improved = False
        self.needs = {vm for vm in range(len(rules.at)) if rules.must_move(vm)}

    def plan(self) -> PlacementPlan:
        """Return the plan: infeasible, timeout, or one with actions."""
        rules = self.rules
        state = greedy_start(rules)
        pinned = {vm for vm, host in enumerate(rules.pin) if host != NOWHERE}
        if pinned & misplaced(state) and self._contradicts(pinned):
            return self._infeasible(pinned)
        bounds = self._bounds()
        if self.small and self.left() > 0 and self._values(state) != bounds:
            self.improved = True
            state, bounds = self._improve(state, bounds)
        ordered = self._best_order(state)
        lost = misplaced(ordered.state)
        if pinned & lost:
            return self._without_plan("timeout", (), core_is_minimal=False)
        unplaced = sum(bounds[: len(self.levels)])
        needed = self.needs & lost
        if not ordered.actions and needed and unplaced >= len(lost):
            easiest = min(needed, key=lambda vm: (rules.ram[vm], rules.cpu[vm], vm))
            if self._contradicts({easiest}):
                return self._infeasible({easiest})
        return self._with_plan(ordered, bounds)

    def _contradicts(self, required: set[int]) -> bool:
        return self.small and is_infeasible(
            self.rules, required, self.asked.seed, max(self.left(), 0.5)
        )

    def _infeasible(self, required: set[int]) -> PlacementPlan:
        core, minimal = infeasible_core(self.rules, required, self.asked.seed, self.left)
        return self._without_plan("infeasible", core, core_is_minimal=minimal)

    def _bounds(self) -> list[int]:
        """Return lower bounds of all tiers that need no search."""
        rules = self.rules
        lost = Counter(
            rules.priority[vm]
            for vm in range(len(rules.at))
            if not any(rules.may_host(vm, host) for host in rules.usable_hosts)
        )
        forced = [] if lost else [vm for vm in self.needs if rules.at[vm] != NOWHERE]
        pairs = 0 if lost else sum(rule.fewest_pairs for rule in rules.affinities)
        return [
            *(lost[level] for level in self.levels),
            pairs,
            len(forced),
            sum(rules.ram[vm] for vm in forced),
        ]

    def _valid(self, bounds: list[int], values: list[int]) -> list[int]:
        """Return the bounds; without those that hold only if every VM gets a place."""
        levels = len(self.levels)
        return bounds if not sum(values[:levels]) else [*bounds[:levels], 0, 0, 0]

    def _values(self, state: PlacementState) -> list[int]:
        rules = self.rules
        lost = misplaced(state)
        count = Counter(rules.priority[vm] for vm in lost)
        moved = [vm for vm, host in enumerate(state.where) if rules.at[vm] not in (NOWHERE, host)]
        return [
            *(count[level] for level in self.levels),
            state.soft_violations(),
            len(moved),
            sum(rules.ram[vm] for vm in moved),
        ]

    def _improve(
        self, state: PlacementState, bounds: list[int]
    ) -> tuple[PlacementState, list[int]]:
        """Minimise the tiers one after the other; each keeps the values of those before it."""
        rules = self.rules
        placement = CpSatPlacement(rules)
        tiers = [
            *(placement.unplaced(level) for level in self.levels),
            placement.soft_violations(),
            placement.moves(),
            placement.moves(dict(enumerate(rules.ram))),
        ]
        work = self.asked.time_limit_s * _WORK_PER_SECOND
        values, proven = self._values(state), list(bounds)
        open_tier = False
        for number, tier in enumerate(tiers):
            if values[number] > proven[number] and work > 0 and self.left() > 0:
                placement.hint(state.where, misplaced(state))
                result, where, spent = self._minimise(placement, tier, proven[number], work)
                work -= spent
                if where is not None:
                    candidate = PlacementState(rules, where)
                    if self._values(candidate) <= values:
                        state, values = candidate, self._values(candidate)
                if not open_tier:
                    proven[number] = min(result.bound, values[number])
            # A tier behind one that is not proven has no bound of its own.
            open_tier = open_tier or values[number] > proven[number]
            if open_tier and number + 1 < len(proven):
                proven[number + 1 :] = [0] * (len(proven) - number - 1)
            if number + 1 == len(self.levels):
                proven = self._valid(proven, values)
            placement.model.add(tier <= values[number])
        return state, proven

    def _minimise(
        self, placement: CpSatPlacement, tier: Any, bound: int, work: float
    ) -> tuple[TierResult, list[int] | None, float]:
        placement.model.minimize(tier)
        solver = placement.solver(self.asked.seed, work, max(self.left(), 0.01))
        status = solver.solve(placement.model)
        if status not in (placement.cp.OPTIMAL, placement.cp.FEASIBLE):
            return TierResult(bound + 1, bound), None, solver.deterministic_time
        value = round(solver.objective_value)
        least = max(bound, math.ceil(solver.best_objective_bound - 1e-6))
        if status == placement.cp.OPTIMAL:
            least = value
        return TierResult(value, least), placement.read(solver), solver.deterministic_time

    def _best_order(self, state: PlacementState) -> OrderedMoves:
        """Return the order of the moves; if some get stuck, that of the greedy start if better."""
        ordered = order_moves(self.rules, state.where)
        if ordered.stuck:
            other = order_moves(self.rules, greedy_start(self.rules).where)
            if self._values(other.state) < self._values(ordered.state):
                return other
        return ordered

    def _with_plan(self, ordered: OrderedMoves, bounds: list[int]) -> PlacementPlan:
        rules, state = self.rules, ordered.state
        values, levels = self._values(state), len(self.levels)
        bounds = bounds if self.improved else self._valid(bounds, values)
        lost = sorted(misplaced(state), key=lambda vm: (-rules.priority[vm], vm))
        objective = dict(zip(TIERS, [sum(values[:levels]), *values[levels:]], strict=True))
        least = dict(zip(TIERS, [sum(bounds[:levels]), *bounds[levels:]], strict=True))
        gap = next(((v - b) / max(1, v) for v, b in zip(values, bounds, strict=True) if v > b), 0.0)
        starts = sum(rules.at[vm] == NOWHERE != host for vm, host in enumerate(state.where))
        certificate = check_plan(
            rules.cluster, ordered.actions, {rules.cluster.vms[vm].vmid for vm in lost}
        )
        if not certificate.ok:  # never hand out a plan that its own check refuses
            return self._without_plan("timeout", (), core_is_minimal=False)
        return PlacementPlan(
            status="optimal" if gap == 0 else "feasible",
            actions=ordered.actions,
            unplaced=tuple(
                UnplacedVm(rules.cluster.vms[vm].vmid, rules.priority[vm], why_no_host(state, vm))
                for vm in lost
            ),
            objective={
                **objective,
                "plan_length": len(ordered.actions),
                "imbalance": round(state.imbalance(), 6),
            },
            bounds={
                **least,
                "plan_length": least["moves"] + (starts if gap == 0 else 0),
                "imbalance": 0.0,
            },
            gap=round(gap, 6),
            core=(),
            core_is_minimal=False,
            certificate=certificate,
            ram_shares=self._shares(state),
        )

    def _without_plan(
        self, status: PlacementStatus, core: tuple[str, ...], *, core_is_minimal: bool
    ) -> PlacementPlan:
        rules = self.rules
        state = PlacementState(rules, rules.at)
        return PlacementPlan(
            status=status,
            actions=(),
            unplaced=tuple(
                UnplacedVm(rules.cluster.vms[vm].vmid, rules.priority[vm], why_no_host(state, vm))
                for vm in sorted(misplaced(state))
            ),
            objective={},
            bounds={},
            gap=None,
            core=core,
            core_is_minimal=core_is_minimal,
            certificate=Certificate(0, (), rules.cluster.digest),
            ram_shares=self._shares(state),
        )

    def _shares(self, state: PlacementState) -> dict[str, tuple[float, float]]:
        rules = self.rules
        before = PlacementState(rules, rules.at)
        return {
            host.name: (
                round(before.ram[number] / host.ram_mib, 6),
                round(state.ram[number] / host.ram_mib, 6),
            )
            for number, host in enumerate(rules.cluster.hosts)
        }
