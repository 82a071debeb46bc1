"""Minimise the tiers of a whole placement one after the other, with proven bounds (CP-SAT).

The time limit comes from `placement/placement_planner.py`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any

from pulsus.placement.placement_rules import PlacementState, misplaced
from pulsus.placement.search.cp_sat_model import CpSatPlacement, TierResult
from pulsus.placement.search.neighbourhood_search import SearchBudget
from pulsus.placement.search.size_class_bound import SizeClassBound
from pulsus.placement.search.tier_values import TierValues

_IMBALANCE_WORK = 0.8
"""Deterministic seconds for the last tier, which needs no proof."""
_BOUND_WORK = 0.5
"""Deterministic seconds for a bound by sizes. Clusters of 100 virtual machines need a tenth."""
_ALTERNATIVE_WORK = 0.2
"""Deterministic seconds for one other placement of the same values."""


class FullSearch:
    """The whole model. `state` is the best placement known, `bounds` are those of its tiers."""

    def __init__(self, tiers: TierValues, state: PlacementState, budget: SearchBudget) -> None:
        self.tiers, self.rules, self.state = tiers, tiers.rules, state
        self.budget = budget
        self.work = budget.work
        self.bounds = tiers.proven(tiers.bounds(tiers.of(state)), tiers.of(state))
        self.placement = CpSatPlacement(self.rules)

    def run(self) -> None:
        """Minimise each tier. Later ones keep the values of those before them."""
        placement, rules = self.placement, self.rules
        terms = [
            *(placement.unplaced(level) for level in self.tiers.levels),
            placement.soft_violations(),
            placement.moves(),
            placement.moves(dict(enumerate(rules.ram))),
        ]
        values, proven = self.tiers.of(self.state), [0] * len(terms)
        open_tier = False
        for number, term in enumerate(terms):
            # A tier behind one that is not proven has no bound of its own.
            least = 0 if open_tier else self._least(number, values)
            if values[number] > least and self._may_go_on():
                result, candidate = self._minimise(term, least)
                if candidate is not None and self.tiers.of(candidate) <= values:
                    self.state, values = candidate, self.tiers.of(candidate)
                least = 0 if open_tier else min(result.bound, values[number])
            proven[number] = least
            open_tier = open_tier or values[number] > least
            placement.model.add(term <= values[number])
        self.bounds = proven

    def _least(self, number: int, values: list[int]) -> int:
        """Return a lower bound of a tier, given that those before it have exactly `values`."""
        least, levels = self.tiers.bounds(values)[number], len(self.tiers.levels)
        placed = not any(values[:levels])
        tier = number - levels  # soft violations, moves, MiB
        if tier < 1 or not placed or values[number] <= least or not self._may_go_on():
            return least
        bound = SizeClassBound(self.rules, self.budget.seed)
        work, seconds = min(self.work, _BOUND_WORK), max(self.budget.seconds_left(), 0.01)
        found = (
            bound.fewest_moves(work, seconds)
            if tier == 1
            else bound.least_mib(values[levels + 1], work, seconds)
        )
        self.work -= bound.spent
        return max(least, found)

    def lowest_imbalance(self) -> tuple[PlacementState | None, float]:
        """Return the most even placement of the same values, and a bound of its imbalance."""
        if not self._may_go_on():
            return None, 0.0
        term = self.placement.imbalance_ppm()
        result, candidate = self._minimise(term, 0, _IMBALANCE_WORK)
        # Shares are rounded outwards, by up to 2 millionths in all.
        return candidate, max(0, result.bound - 2) / 1e6

    def alternatives(self, most: int) -> Iterator[PlacementState]:
        """Yield other placements of the same values, drawn by the seed."""
        draw = random.Random(self.budget.seed)
        literals = list(self.placement.on.values())
        for _ in range(most):
            if not self._may_go_on():
                return
            term = sum(draw.randrange(1000) * literal for literal in literals)
            _, candidate = self._minimise(term, 0, _ALTERNATIVE_WORK)
            if candidate is not None:
                yield candidate

    def _may_go_on(self) -> bool:
        return self.work > 0 and self.budget.seconds_left() > 0

    def _minimise(
        self, term: Any, least: int, most_work: float = math.inf
    ) -> tuple[TierResult, PlacementState | None]:
        placement = self.placement
        placement.hint(self.state.where, misplaced(self.state))
        placement.model.add(term >= least)
        placement.model.minimize(term)
        work = min(self.work, most_work)
        solver = placement.solver(self.budget.seed, work, max(self.budget.seconds_left(), 0.01))
        status = solver.solve(placement.model)
        self.work -= solver.deterministic_time
        if status not in (placement.cp.OPTIMAL, placement.cp.FEASIBLE):
            return TierResult(least + 1, least), None
        value = round(solver.objective_value)
        bound = max(least, math.ceil(solver.best_objective_bound - 1e-6))
        if status == placement.cp.OPTIMAL:
            bound = value
        return TierResult(value, bound), PlacementState(self.rules, placement.read(solver))
