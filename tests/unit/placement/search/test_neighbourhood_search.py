"""A search of some hosts at a time places what greedy left, and its steps can be executed."""

import itertools

import pytest

from pulsus.placement.move_order import order_moves, to_actions
from pulsus.placement.placement_rules import PlacementRules, misplaced
from pulsus.placement.plan_checker import check_plan
from tests.benchmarks.placement_problems import DrainProblem, drain_cluster
from tests.placements import cluster

pytest.importorskip("ortools")
from pulsus.placement.search.greedy_start import greedy_start
from pulsus.placement.search.neighbourhood_model import NeighbourhoodModel
from pulsus.placement.search.neighbourhood_search import NeighbourhoodSearch, SearchBudget
from pulsus.placement.search.tier_values import TierValues

SPLIT = [("a", 100, {"drain": True}), ("b", 100, {}), ("c", 100, {})]
FULL = [
    {"vmid": 1, "ram_mib": 60, "host": "a"},
    {"vmid": 2, "ram_mib": 50, "host": "b"},
    {"vmid": 3, "ram_mib": 30, "host": "c"},
    {"vmid": 4, "ram_mib": 20, "host": "c"},
]


def searched(given, work=2.0, left=lambda: 60.0, seed=0):
    rules = PlacementRules(given)
    ordered = order_moves(rules, greedy_start(rules).where)
    search = NeighbourhoodSearch(TierValues(rules), ordered, SearchBudget(seed, work, left))
    search.run()
    return search


def test_others_make_room_for_a_vm_that_fits_nowhere_at_first():
    given = cluster(SPLIT, FULL)
    search = searched(given)
    assert not misplaced(search.state)
    assert TierValues(search.rules).of(search.state) == [0, 0, 2, 80]
    assert check_plan(given, to_actions(search.rules, tuple(search.steps)), ()).ok


def test_members_of_a_group_are_kept_apart_from_those_outside_the_neighbourhood():
    vms = [{**FULL[0], "ha_group": "web"}, *FULL[1:], {"vmid": 5, "ram_mib": 1, "host": "d"}]
    vms[4]["ha_group"] = "web"
    hosts = [(n, r, {"rack": "r1" if n in "bd" else "r2", **x}) for n, r, x in SPLIT]
    hosts.append(("d", 10, {"rack": "r1"}))
    given = cluster(hosts, vms, use_rack_constraints=True)
    search = searched(given)
    assert search.state.where[0] == 2
    assert check_plan(given, to_actions(search.rules, tuple(search.steps)), ()).ok


def test_a_move_that_nothing_needs_is_taken_back():
    given = cluster(SPLIT[1:], [{"vmid": 1, "ram_mib": 10, "host": "b"}])
    rules = PlacementRules(given)
    ordered = order_moves(rules, [1])
    search = NeighbourhoodSearch(TierValues(rules), ordered, SearchBudget(0, 1.0, lambda: 9.0))
    search.run()
    assert search.state.where == [0]


@pytest.mark.parametrize(("work", "left"), [(0.0, 9.0), (1.0, 0.0)])
def test_without_work_or_time_the_greedy_placement_stays(work, left):
    search = searched(cluster(SPLIT, FULL), work, lambda: left)
    assert misplaced(search.state) == {0}
    assert search.ended_by_clock == (left == 0)


@pytest.mark.seconds
def test_the_clock_does_not_change_what_a_limit_of_work_finds():
    given = drain_cluster(DrainProblem(20, 200, 0.95), 2)
    quick, ticks = searched(given, work=0.5), itertools.count(1000, -1)
    slow = searched(given, work=0.5, left=lambda: next(ticks))
    assert quick.steps == slow.steps
    assert quick.spent == slow.spent


def test_one_that_waits_keeps_the_others_of_its_group_away():
    """Two members run on a drained host of rack r1; the one that stays bars r1 for the other."""
    hosts = [
        ("a", 100, {"rack": "r1", "drain": True}),
        ("b", 50, {"rack": "r1"}),
        ("c", 10, {"rack": "r2"}),
    ]
    vms = [{"vmid": n, "ram_mib": 40, "host": "a", "ha_group": "web"} for n in (1, 2)]
    rules = PlacementRules(cluster(hosts, vms, use_rack_constraints=True))
    state = greedy_start(rules)
    found, _ = NeighbourhoodModel(state, [1, 2], [0, 1]).improve(0, 1.0, 9.0)
    assert found == {}
