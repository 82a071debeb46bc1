"""Plans for drain problems of growing size: what is placed, how far it is proven, and how long it
took. A plan whose check fails is a failure. Nothing here asserts a time.

On a busy machine PLACEMENT_CLOCK says which clock has the limit of 10 s: `processor`, or `still`
for none, so that only the limit of work ends a search. Without it that is the wall clock.
"""

import json
import os
import time
from dataclasses import replace

import pytest

from pulsus.placement.cluster import Cluster
from pulsus.placement.plan_checker import check_plan
from tests.benchmarks.placement_problems import DrainProblem, displaced, drain_cluster

pytest.importorskip("ortools")
from pulsus.placement.placement_planner import PlanRequest, plan_placement

pytestmark = [pytest.mark.bench, pytest.mark.timeout(1200)]

SEEDS = range(1, 6)
CLOCKS = {"wall": time.monotonic, "processor": time.process_time, "still": lambda: 0.0}
CLOCK = CLOCKS[os.environ.get("PLACEMENT_CLOCK", "wall")]
PROBLEMS = {
    "14/100 at 85 %": DrainProblem(14, 100, 0.85),
    "14/100 at 95 %": DrainProblem(14, 100, 0.95),
    "14/100 at 97 %": DrainProblem(14, 100, 0.97),
    "100/2000 at 95 %": DrainProblem(100, 2000, 0.95),
    "100/2000 at 95 %, uneven": DrainProblem(100, 2000, 0.95, balanced=False),
    "500/10000 at 85 %": DrainProblem(500, 10_000, 0.85),
    "500/10000 at 95 %": DrainProblem(500, 10_000, 0.95),
    "500/10000 at 95 %, uneven": DrainProblem(500, 10_000, 0.95, balanced=False),
}


def shown(capsys, **figures):
    with capsys.disabled():
        print(json.dumps(figures))


@pytest.fixture(scope="module", autouse=True)
def imported():
    """Import the solver before the first timing."""
    plan_placement(drain_cluster(DrainProblem(3, 9, 0.6), 1))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_bench_placement_drain(name, seed, capsys):
    cluster = drain_cluster(PROBLEMS[name], seed)
    began, cpu = time.perf_counter(), time.process_time()
    plan = plan_placement(cluster, PlanRequest(seed=seed, clock=CLOCK))
    seconds, used = time.perf_counter() - began, time.process_time() - cpu
    assert check_plan(cluster, plan.actions, {vm.vmid for vm in plan.unplaced}).ok
    shown(
        capsys,
        placement=name,
        seed=seed,
        displaced=displaced(cluster),
        status=plan.status,
        gap=plan.gap,
        objective=dict(plan.objective),
        bounds=dict(plan.bounds),
        ended_by_clock=plan.ended_by_clock,
        seconds=round(seconds, 2),
        cpu_seconds=round(used, 2),
        load=round(os.getloadavg()[0], 1),
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_bench_placement_core(seed, capsys):
    """A pinned virtual machine is larger than its host leaves room for: why is there no plan?"""
    cluster = overpinned(drain_cluster(DrainProblem(14, 100, 0.9), seed))
    began, cpu = time.perf_counter(), time.process_time()
    plan = plan_placement(cluster, PlanRequest(seed=seed, clock=CLOCK))
    seconds, used = time.perf_counter() - began, time.process_time() - cpu
    assert plan.status == "infeasible"
    shown(
        capsys,
        placement="core at 14/100",
        seed=seed,
        minimal=plan.core_is_minimal,
        constraints=len(plan.core),
        seconds=round(seconds, 2),
        cpu_seconds=round(used, 2),
    )


def overpinned(cluster: Cluster) -> Cluster:
    """Return the cluster with so many VMs pinned to one host that they cannot all run there."""
    host = next(each for each in cluster.hosts if not each.drain)
    room, pinned = host.ram_mib, set()
    for vm in sorted(cluster.vms, key=lambda vm: -vm.ram_mib):
        if room >= 0:
            pinned.add(vm.vmid)
            room -= vm.ram_mib
    return replace(
        cluster,
        vms=tuple(
            replace(vm, pinned=host.name if vm.vmid in pinned else "", ha_group="")
            for vm in cluster.vms
        ),
    )
