"""Steps become fewer, and loads more even, only where every step still keeps to the rules."""

import pytest

from pulsus.placement.move_order import order_moves, to_actions
from pulsus.placement.placement_rules import PlacementRules
from pulsus.placement.plan_checker import check_plan
from pulsus.placement.search.greedy_start import greedy_start
from pulsus.placement.search.step_search import StepSearch
from pulsus.placement.search.tier_values import TierValues
from tests.benchmarks.placement_problems import DrainProblem, drain_cluster
from tests.placements import cluster

HOSTS: list[tuple[str, int, dict]] = [("a", 100, {}), ("b", 100, {}), ("c", 100, {})]


def search(given, steps, left=1.0):
    return StepSearch(PlacementRules(given), steps, lambda: left)


def test_a_hop_that_is_not_needed_is_taken_out():
    found = search(cluster(HOSTS, [{"vmid": 1, "ram_mib": 60, "host": "a"}]), [(0, 1), (0, 2)])
    found.shorten()
    assert found.steps == [(0, 2)]


def test_a_move_there_and_back_is_taken_out():
    found = search(cluster(HOSTS, [{"vmid": 1, "ram_mib": 60, "host": "a"}]), [(0, 1), (0, 0)])
    found.shorten()
    assert found.steps == []


def test_a_hop_that_breaks_a_cycle_stays():
    vms = [{"vmid": n, "ram_mib": 60, "host": host} for n, host in ((1, "a"), (2, "b"))]
    given = cluster(HOSTS, vms)
    steps = list(order_moves(PlacementRules(given), [1, 0]).steps)
    found = search(given, steps)
    found.shorten()
    assert found.steps == steps
    assert len(steps) == 3


def test_a_moved_vm_goes_to_the_emptiest_host_and_none_moves_in_addition():
    vms = [
        {"vmid": 1, "ram_mib": 30, "host": "a"},
        {"vmid": 2, "ram_mib": 60, "host": "b"},
        {"vmid": 3, "ram_mib": 10, "host": "c"},
    ]
    found = search(cluster([("a", 100, {"drain": True}), *HOSTS[1:]], vms), [(0, 1)])
    found.even_out()
    assert found.steps == [(0, 2)]
    assert found.state.imbalance() == pytest.approx(0.2)


def test_an_even_target_that_breaks_an_ha_group_is_not_taken():
    vms = [
        {"vmid": 1, "ram_mib": 30, "host": "a", "ha_group": "web"},
        {"vmid": 2, "ram_mib": 60, "host": "b"},
        {"vmid": 3, "ram_mib": 10, "host": "c", "ha_group": "web"},
    ]
    found = search(cluster([("a", 100, {"drain": True}), *HOSTS[1:]], vms), [(0, 1)])
    found.even_out()
    assert found.steps == [(0, 1)]


@pytest.mark.parametrize("seed", range(6))
def test_what_it_finds_passes_the_check_with_the_same_values(seed):
    given = drain_cluster(DrainProblem(12, 120, 0.8, grouped=0.5), seed)
    rules = PlacementRules(given)
    ordered = order_moves(rules, greedy_start(rules).where)
    assert not ordered.stuck
    found = StepSearch(rules, list(ordered.steps), lambda: 1.0)
    before, uneven = TierValues(rules).of(found.state), found.state.imbalance()
    found.even_out()
    assert found.state.imbalance() <= uneven
    assert TierValues(rules).of(found.state) == before
    assert check_plan(given, to_actions(rules, tuple(found.steps)), ()).ok


def test_without_time_nothing_is_tried():
    given = cluster(HOSTS, [{"vmid": 1, "ram_mib": 60, "host": "a"}])
    found = search(given, [(0, 1), (0, 2)], left=0.0)
    found.shorten()
    found.even_out()
    assert found.steps == [(0, 1), (0, 2)]
