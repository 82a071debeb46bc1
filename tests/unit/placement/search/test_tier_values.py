"""Bounds that need no search never promise more than is possible."""

import random

import pytest

from pulsus.placement.cluster import Cluster, ClusterHost, ClusterVm
from pulsus.placement.placement_rules import PlacementRules
from pulsus.placement.search.tier_values import TierValues, fewest_unplaced
from tests.placements import cluster
from tests.placements import fewest_unplaced as by_trying


def bound(given):
    return fewest_unplaced(PlacementRules(given), list(range(len(given.vms))))


@pytest.mark.parametrize("seed", range(40))
def test_the_bound_is_never_above_the_true_number(seed):
    draw = random.Random(seed)
    hosts = tuple(ClusterHost(f"h{n}", draw.choice((50, 100)), 10**6) for n in range(2))
    vms = tuple(ClusterVm(n, draw.randint(10, 60), 1) for n in range(5))
    given = Cluster(hosts, vms)
    assert bound(given) <= by_trying(given)


@pytest.mark.parametrize(
    ("rams", "fewest"),
    [
        ([60, 60, 60], 1),  # two hosts of 100 take one of 60 each, although 20 would remain
        ([100, 100], 0),
        ([150], 1),
        ([50] * 5, 1),
        ([], 0),
    ],
)
def test_vms_that_cannot_fit_together_are_counted(rams, fewest):
    vms = [{"vmid": n, "ram_mib": ram} for n, ram in enumerate(rams, start=1)]
    assert bound(cluster([("a", 100, {}), ("b", 100, {})], vms)) == fewest


def test_a_bound_behind_a_tier_that_is_not_proven_is_dropped():
    tiers = TierValues(PlacementRules(cluster([("a", 100, {})], [{"vmid": 1, "ram_mib": 1}])))
    assert tiers.proven([0, 0, 5, 60], [0, 1, 5, 60]) == [0, 0, 0, 0]
    assert tiers.proven([0, 0, 5, 60], [0, 0, 5, 61]) == [0, 0, 5, 60]


def test_an_unplaced_vm_lowers_the_bound_of_the_moves():
    given = cluster(
        [("a", 100, {"drain": True}), ("b", 100, {})],
        [{"vmid": n, "ram_mib": 60, "host": "a"} for n in (1, 2)],
    )
    tiers = TierValues(PlacementRules(given))
    assert tiers.bounds([1, 0, 1, 60]) == [1, 0, 1, 60]
    assert tiers.bounds([0, 0, 2, 120]) == [1, 0, 2, 120]
