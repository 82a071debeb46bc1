"""Moves come in an order that can be executed."""

from pulsus.placement.move_order import order_moves
from pulsus.placement.placement_rules import PlacementRules
from pulsus.placement.plan_checker import check_plan
from tests.placements import cluster

SWAP = [
    {"vmid": 1, "ram_mib": 60, "host": "a"},
    {"vmid": 2, "ram_mib": 60, "host": "b"},
]


def test_two_vms_that_swap_hosts_hop_over_a_third_host():
    given = cluster([("a", 100, {}), ("b", 100, {}), ("c", 100, {})], SWAP)
    ordered = order_moves(PlacementRules(given), [1, 0])
    assert len(ordered.actions) == 3
    assert not ordered.stuck
    assert check_plan(given, ordered.actions, ()).ok


def test_a_swap_without_room_for_a_hop_moves_nothing():
    given = cluster([("a", 100, {}), ("b", 100, {})], SWAP)
    ordered = order_moves(PlacementRules(given), [1, 0])
    assert ordered.actions == ()
    assert ordered.stuck == {0, 1}
