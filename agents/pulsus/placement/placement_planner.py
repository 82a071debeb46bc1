"""The placement planner decides on which node each virtual machine runs, within a time limit.

The limit (timeout) comes from `--time-limit` of `cli/place/place_command.py`. The planner begins
with a greedy start and goes on with CP-SAT. A small cluster is searched as a whole, a larger one in
growing neighbourhoods (`search/`). The same cluster and seed give the same plan, unless the clock
ends the search: it counts its own work, and has a limit on it that is reached before the time limit
on a usual machine. Why there is no plan is said in `search/infeasible_core.py`, and why a host does
not take a virtual machine in `unplaced_reasons.py`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from pulsus.placement.cluster import Cluster, ClusterVm, PlacementStatus
from pulsus.placement.move_order import OrderedMoves, order_moves, to_actions
from pulsus.placement.placement_plan import TIERS, PlacementPlan, UnplacedVm
from pulsus.placement.placement_rules import (
    NOWHERE,
    PlacementRules,
    PlacementState,
    misplaced,
)
from pulsus.placement.plan_checker import Certificate, check_plan
from pulsus.placement.search.cp_sat_model import load_cp_model
from pulsus.placement.search.full_search import FullSearch
from pulsus.placement.search.greedy_start import greedy_start
from pulsus.placement.search.infeasible_core import infeasible_core, is_infeasible
from pulsus.placement.search.neighbourhood_search import NeighbourhoodSearch, SearchBudget
from pulsus.placement.search.step_search import StepSearch
from pulsus.placement.search.tier_values import TierValues
from pulsus.placement.unplaced_reasons import why_no_host

FULL_MODEL = 20_000
"""Most pairs of a virtual machine and a host for which the whole model is built: it takes a second
to build, and larger ones are rarely proven in ten.
"""
_WORK_PER_SECOND = 0.12
"""Deterministic seconds of CP-SAT in neighbourhoods, for each second of the time limit. One of them
takes four seconds of a slow core, so half of the limit is left for a busy machine.
"""
_FULL_WORK_PER_SECOND = 0.4
"""The same for the whole model, whose proofs are long. One of them takes two seconds."""
_FIRST_WORK = 0.03
"""The same for neighbourhoods before the whole model: a good start makes its proofs shorter."""
_SEARCH_SHARE = 0.8
"""The part of the time limit for the search. The rest is for the order, the check and reasons."""
_ALTERNATIVES = 6
"""Other placements of the same values that are tried if the first has no short order."""


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """The options of one run. `time_limit_s` is in seconds with the building of models."""

    seed: int = 0
    time_limit_s: float = 10.0
    clock: Callable[[], float] = time.monotonic


def plan_placement(cluster: Cluster, request: PlanRequest | None = None) -> PlacementPlan:
    """Return the plan. Raises ExtraMissing if OR-tools is not installed."""
    asked = request or PlanRequest()
    end = asked.clock() + asked.time_limit_s
    load_cp_model()  # its import takes a second, which counts
    return _Planning(PlacementRules(cluster), asked, lambda: end - asked.clock()).plan()


class _Planning:
    def __init__(
        self, rules: PlacementRules, asked: PlanRequest, left: Callable[[], float]
    ) -> None:
        self.rules = rules
        self.asked = asked
        self.seconds_left = left
        self.small = len(rules.cluster.vms) * len(rules.cluster.hosts) <= FULL_MODEL
        self.tiers = TierValues(rules)
        late = (1 - _SEARCH_SHARE) * asked.time_limit_s
        self.budget = SearchBudget(asked.seed, 0.0, lambda: left() - late)
        self.imbalance_bound = 0.0

    def plan(self) -> PlacementPlan:
        """Return the plan: infeasible, timeout, or one with actions."""
        rules, tiers = self.rules, self.tiers
        start = greedy_start(rules)
        pinned = {vm for vm, host in enumerate(rules.pin) if host != NOWHERE}
        if pinned & misplaced(start) and self._contradicts(pinned):
            return self._infeasible(pinned)
        bounds, full = None, None
        ordered = order_moves(rules, start.where)
        if self.small and self.budget.seconds_left() > 0:
            first = self._improve(ordered, _FIRST_WORK)
            budget = self._budget(_FULL_WORK_PER_SECOND)
            full = FullSearch(tiers, first.state, budget)
            full.run()
            bounds = full.bounds
            ordered = min(self._order(full), first, key=self._rank)
        if self._could_be_better(ordered, bounds):
            ordered = self._improve(ordered, _WORK_PER_SECOND)
        values = tiers.of(ordered.state)
        bounds = tiers.proven(bounds or tiers.bounds(values), values)
        lost = misplaced(ordered.state)
        if pinned & lost:
            return self._without_plan("timeout", (), core_is_minimal=False)
        needed = tiers.needs & lost
        if not ordered.steps and needed and sum(bounds[: len(tiers.levels)]) >= len(lost):
            easiest = min(needed, key=lambda vm: (rules.ram[vm], rules.cpu[vm], vm))
            if self._contradicts({easiest}):
                return self._infeasible({easiest})
        return self._with_plan(self._polish(ordered, full), bounds)

    def _budget(self, work_per_second: float) -> SearchBudget:
        return replace(self.budget, work=self.asked.time_limit_s * work_per_second)

    def _could_be_better(self, ordered: OrderedMoves, bounds: list[int] | None) -> bool:
        values = self.tiers.of(ordered.state)
        return values != (bounds or self.tiers.bounds(values))

    def _order(self, full: FullSearch) -> OrderedMoves:
        """Return the shortest order found for the placement, or for another of the same values."""
        best = order_moves(self.rules, full.state.where)
        pairs = list(zip(self.rules.at, full.state.where, strict=True))
        fewest = sum(now != then and then != NOWHERE for now, then in pairs)
        others = full.alternatives(_ALTERNATIVES)
        while best.stuck or len(best.steps) > fewest:
            other = next(others, None)
            if other is None:
                break
            best = min(best, order_moves(self.rules, other.where), key=self._rank)
        return best

    def _rank(self, ordered: OrderedMoves) -> tuple[list[int], int]:
        return self.tiers.of(ordered.state), len(ordered.steps)

    def _improve(self, ordered: OrderedMoves, work_per_second: float) -> OrderedMoves:
        """Search neighbourhoods of what could be ordered."""
        search = NeighbourhoodSearch(self.tiers, ordered, self._budget(work_per_second))
        search.run()
        steps = tuple(search.steps)
        # From the start on, fewer hops are needed than step by step.
        whole = order_moves(self.rules, search.state.where)
        if not whole.stuck and len(whole.steps) < len(steps):
            steps = whole.steps
        return OrderedMoves(self.rules, steps, search.state, frozenset())

    def _polish(self, ordered: OrderedMoves, full: FullSearch | None) -> OrderedMoves:
        """Shorten the plan, then even out the load, without a change of the first four tiers."""
        search = StepSearch(self.rules, list(ordered.steps), self.budget.seconds_left)
        search.shorten()
        if full is not None and self.tiers.of(search.state) == self.tiers.of(full.state):
            even, self.imbalance_bound = full.lowest_imbalance()
            if even is not None and even.imbalance() < search.state.imbalance():
                other = order_moves(self.rules, even.where)
                if not other.stuck and len(other.steps) <= len(search.steps):
                    search = StepSearch(self.rules, list(other.steps), self.budget.seconds_left)
        search.even_out()
        return OrderedMoves(self.rules, tuple(search.steps), search.state, frozenset())

    def _contradicts(self, required: set[int]) -> bool:
        rules, vms = self._required_alone(required)
        return is_infeasible(rules, vms, self.asked.seed, max(self.seconds_left(), 0.5))

    def _infeasible(self, required: set[int]) -> PlacementPlan:
        rules, vms = self._required_alone(required)
        core, minimal = infeasible_core(rules, vms, self.asked.seed, self.seconds_left)
        return self._without_plan("infeasible", core, core_is_minimal=minimal)

    def _required_alone(self, required: set[int]) -> tuple[PlacementRules, set[int]]:
        """Return the rules for a proof. A large cluster is narrowed to the required VMs.

        What contradicts itself without the other virtual machines does so with them too. A group
        with too few places would seem to have enough, so it does not count.
        """
        if self.small:
            return self.rules, required
        vms = tuple(self._without_soft_group(vm) for vm in sorted(required))
        return PlacementRules(replace(self.rules.cluster, vms=vms)), set(range(len(vms)))

    def _without_soft_group(self, vm: int) -> ClusterVm:
        rules = self.rules
        hard = all(rules.affinities[number].hard for number in rules.affinities_of[vm])
        return rules.cluster.vms[vm] if hard else replace(rules.cluster.vms[vm], ha_group="")

    def _with_plan(self, ordered: OrderedMoves, bounds: list[int]) -> PlacementPlan:
        rules, state = self.rules, ordered.state
        lost = misplaced(state)
        values, levels = self.tiers.of(state, lost), len(self.tiers.levels)
        actions = to_actions(rules, ordered.steps)
        unplaced = sorted(lost, key=lambda vm: (-rules.priority[vm], vm))
        certificate = check_plan(
            rules.cluster, actions, {rules.cluster.vms[vm].vmid for vm in lost}
        )
        if not certificate.ok:  # never hand out a plan that its own check refuses
            return self._without_plan("timeout", (), core_is_minimal=False)
        open_tiers = ((v - b) / max(1, v) for v, b in zip(values, bounds, strict=True) if v > b)
        gap = next(open_tiers, 0.0)
        fewest = max(sum(bounds[:levels]), self.tiers.fewest[-1] if levels else 0)
        least = dict(zip(TIERS, [fewest, *bounds[levels:]], strict=True))
        starts = max(0, rules.at.count(NOWHERE) - len(lost)) if gap == 0 else 0
        return PlacementPlan(
            status="optimal" if gap == 0 else "feasible",
            actions=actions,
            unplaced=tuple(
                UnplacedVm(rules.cluster.vms[vm].vmid, rules.priority[vm], why_no_host(state, vm))
                for vm in unplaced
            ),
            objective={
                **dict(zip(TIERS, [sum(values[:levels]), *values[levels:]], strict=True)),
                "plan_length": len(actions),
                "imbalance": round(state.imbalance(), 5),
            },
            bounds={
                **least,
                "plan_length": least["moves"] + starts,
                "imbalance": round(self.imbalance_bound, 5) if gap == 0 else 0.0,
            },
            gap=round(gap, 6),
            core=(),
            core_is_minimal=False,
            certificate=certificate,
            ram_shares=self._shares(state),
            ended_by_clock=gap > 0 and self.budget.seconds_left() <= 0,
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
            ended_by_clock=status == "timeout" and self.budget.seconds_left() <= 0,
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
