"""Every plan passes the independent check, and its status does not lie."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pulsus.placement.plan_checker import check_plan
from tests.placements import cluster, fewest_unplaced, random_cluster

pytest.importorskip("ortools")
from pulsus.placement.placement_planner import PlanRequest, plan_placement

VMS = st.lists(
    st.tuples(
        st.integers(1, 60),
        st.sampled_from([None, "a", "b", "c"]),
        st.sampled_from([None, "web", "db"]),
        st.integers(0, 1),
    ),
    max_size=7,
)


def build(rows, drained=False, running=True):
    vms = [
        {"vmid": n, "ram_mib": r, "host": h if running else None, "ha_group": g, "priority": p}
        for n, (r, h, g, p) in enumerate(rows, start=1)
    ]
    return cluster([("a", 100, {"drain": drained}), ("b", 100, {}), ("c", 60, {})], vms)


@pytest.mark.seconds
@settings(max_examples=60, deadline=None)
@given(VMS, st.booleans())
def test_the_checker_accepts_every_plan(rows, drained):
    given_cluster = build(rows, drained)
    plan = plan_placement(given_cluster)
    assert plan.status in ("optimal", "feasible", "infeasible")
    assert check_plan(given_cluster, plan.actions, {vm.vmid for vm in plan.unplaced}).ok


@settings(max_examples=40, deadline=None)
@given(VMS.filter(lambda rows: len(rows) < 6))
def test_optimal_leaves_no_more_unplaced_than_trying_everything(rows):
    given_cluster = build(rows, running=False)
    plan = plan_placement(given_cluster)
    fewest = fewest_unplaced(given_cluster)
    assert plan.status == ("infeasible" if rows and fewest == len(rows) else "optimal")
    assert len(plan.unplaced) == fewest


@pytest.mark.parametrize("seed", range(3))
def test_the_same_cluster_and_seed_give_the_same_plan(seed):
    given_cluster = random_cluster(seed, hosts=5, vms=20, use=0.8)
    first, second = (plan_placement(given_cluster, PlanRequest(seed=seed)) for _ in range(2))
    assert first == second
    assert first.certificate.ok


@pytest.mark.parametrize("seed", range(3))
def test_a_step_that_overflows_its_target_is_refused(seed):
    given_cluster = random_cluster(seed, hosts=5, vms=20, use=0.8)
    plan = plan_placement(given_cluster)
    assert plan.actions
    full = plan.actions[0].target
    hosts = tuple(replace(h, ram_mib=1) if h.name == full else h for h in given_cluster.hosts)
    assert not check_plan(replace(given_cluster, hosts=hosts), plan.actions).ok
