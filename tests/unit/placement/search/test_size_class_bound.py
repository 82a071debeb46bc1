"""Bounds by sizes: never above what the best placement moves, and close to it in full clusters."""

import itertools
import random
from time import process_time

import pytest

from pulsus.placement.cluster import Cluster, ClusterHost, ClusterVm
from pulsus.placement.placement_rules import PlacementRules, PlacementState, misplaced
from pulsus.placement.search.tier_values import TierValues
from tests.benchmarks.placement_problems import DrainProblem, drain_cluster

pytest.importorskip("ortools")
from pulsus.placement.placement_planner import PlanRequest, plan_placement
from pulsus.placement.search.size_class_bound import SizeClassBound

WORK = (1.0, 20.0)


def bounds(rules, moves=None):
    bound = SizeClassBound(rules, 0)
    fewest = bound.fewest_moves(*WORK)
    return fewest, bound.least_mib(fewest if moves is None else moves, *WORK)


def best_values(rules):
    """Return moves and MiB of the best placement that leaves none unplaced, by trying all."""
    tiers, best = TierValues(rules), None
    hosts = range(len(rules.cluster.hosts))
    for where in itertools.product(hosts, repeat=len(rules.at)):
        state = PlacementState(rules, list(where))
        if not misplaced(state):
            values = tiers.of(state)[-2:]
            best = values if best is None else min(best, values)
    return best


def small_cluster(seed):
    draw = random.Random(seed)
    hosts = tuple(ClusterHost(n, draw.randrange(8, 14), 99, drain=n == "c") for n in "abc")
    vms = []
    for vmid in range(1, 7):
        host = draw.choice("abc")
        pin = host if draw.random() < 0.15 else ""
        group = draw.choice(("", "", "g"))
        vms.append(ClusterVm(vmid, draw.choice((1, 2, 4)), 1, host, group, 0, pin))
    return Cluster(hosts, tuple(vms))


def test_no_bound_is_above_the_best_placement():
    compared = 0
    for seed in range(60):
        rules = PlacementRules(small_cluster(seed))
        best = best_values(rules)
        if best is not None:
            fewest, mib = bounds(rules, moves=best[0])
            assert (fewest <= best[0], mib <= best[1]) == (True, True), seed
            compared += 1
    assert compared > 20


def test_a_pin_to_a_full_host_gives_no_bound_that_is_wrong():
    hosts = (ClusterHost("a", 4, 9), ClusterHost("b", 4, 9))
    vms = (ClusterVm(1, 3, 1, "a"), ClusterVm(2, 3, 1, "b", pinned="a"))
    assert bounds(PlacementRules(Cluster(hosts, vms))) == (2, 6)
    over = (ClusterVm(1, 3, 1, "a", pinned="a"), ClusterVm(2, 3, 1, "b", pinned="a"))
    fewest, _ = bounds(PlacementRules(Cluster(hosts, over)))
    assert fewest <= 1


@pytest.mark.seconds
def test_a_full_cluster_is_proven_that_the_sum_of_all_hosts_does_not_prove():
    cluster = drain_cluster(DrainProblem(10, 60, 0.97), 1)
    # A clock of the process: a busy machine does not shorten the search.
    rules, plan = PlacementRules(cluster), plan_placement(cluster, PlanRequest(clock=process_time))
    assert plan.status == "optimal"
    moves, mib = plan.objective["moves"], plan.objective["moved_mib"]
    assert (plan.bounds["moves"], plan.bounds["moved_mib"]) == (moves, mib)
    simple = TierValues(rules).bounds([0, 0, 0, 0, int(moves), int(mib)])
    assert simple[-2] < bounds(rules)[0] <= moves
