"""The plan of a placement: status, actions, objective with bounds, and its certificate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pulsus.placement.cluster import PlacementAction, PlacementStatus
from pulsus.placement.plan_checker import Certificate

TIERS = ("unplaced", "soft_violations", "moves", "moved_mib")
"""The objective in its order: an earlier tier always counts more. Then follow plan length and
imbalance, which are searched but not proven.
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
    before and after.
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
