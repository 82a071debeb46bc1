"""The planner on drain problems of the benchmark, at sizes that CI has time for.

The clock of these tests stands still: only the limit of work ends a search, as on a fast machine.
"""

import pytest

from pulsus.placement.plan_checker import check_plan
from tests.benchmarks.placement_problems import DrainProblem, drain_cluster

pytest.importorskip("ortools")
from pulsus.placement.placement_planner import PlanRequest, plan_placement

pytestmark = pytest.mark.seconds


def plan_of(cluster, seed, seconds):
    return plan_placement(cluster, PlanRequest(seed, seconds, clock=lambda: 0.0))


@pytest.mark.parametrize("seed", range(1, 4))
def test_a_small_cluster_is_planned_with_a_proof(seed):
    cluster = drain_cluster(DrainProblem(8, 50, 0.9), seed)
    plan = plan_of(cluster, seed, 10.0)
    assert (plan.status, plan.gap) == ("optimal", 0.0)
    assert check_plan(cluster, plan.actions, {vm.vmid for vm in plan.unplaced}).ok


@pytest.mark.parametrize("seed", range(1, 3))
def test_neighbourhoods_place_what_fits_only_after_others_moved(seed, monkeypatch):
    monkeypatch.setattr("pulsus.placement.placement_planner.FULL_MODEL", 0)
    cluster = drain_cluster(DrainProblem(40, 800, 0.95), seed)
    first, second = (plan_of(cluster, seed, 3.0) for _ in range(2))
    assert first == second
    assert not first.unplaced
    assert not first.ended_by_clock
    assert check_plan(cluster, first.actions, ()).ok
    assert first.objective["moves"] >= first.bounds["moves"] > 0
