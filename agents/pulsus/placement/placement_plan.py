"""The plan of a placement: status, actions, objective with bounds, and its certificate.

Types only: `placement_planner.py` fills them, and `plan_checker.py` makes the certificate. The
actions, the difference of the present and the planned placement, are made in `move_order.py`.
`cli/place/placement_text.py` prints a plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pulsus.placement.cluster import PlacementAction, PlacementStatus
from pulsus.placement.plan_checker import Certificate

TIERS = ("unplaced", "soft_violations", "moves", "moved_mib")
"""The objective in its order: an earlier tier always counts more. Then follow plan length and
imbalance. They are searched, and a plan is optimal without a proof of them.
"""


@dataclass(frozen=True, slots=True)
class UnplacedVm:
    """A virtual machine without a place, and the reason of each host by its name."""

    vmid: int
    priority: int
    reasons: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class PlacementPlan:
    """A plan. `bounds` are proven lower bounds of `objective`.

    `gap` is 0.0 if the first four tiers are proven, and None if there is no plan. Otherwise it is
    the relative gap of the first tier that is not proven. `ram_shares` are the shares of each host
    before and after. If `ended_by_clock`, a slower or faster machine may find another plan.
    """

    status: PlacementStatus
    actions: tuple[PlacementAction, ...]
    unplaced: tuple[UnplacedVm, ...]
    objective: Mapping[str, float]
    bounds: Mapping[str, float]
    gap: float | None
    core: tuple[str, ...]
    core_is_minimal: bool
    certificate: Certificate
    ram_shares: Mapping[str, tuple[float, float]]
    ended_by_clock: bool

    @property
    def gaps(self) -> dict[str, float]:
        """The relative gap of each tier; 0.0 if it is proven, given those before it."""
        return {
            name: round((value - self.bounds[name]) / (value if value > 1e-9 else 1.0), 6)
            for name, value in self.objective.items()
        }
