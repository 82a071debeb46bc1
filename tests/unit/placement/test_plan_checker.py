"""The checker refuses each kind of wrong step."""

import pytest

from pulsus.placement.cluster import PlacementAction
from pulsus.placement.plan_checker import check_plan
from tests.placements import cluster

GIVEN = cluster(
    [("a", 100, {}), ("b", 100, {}), ("c", 100, {"drain": True}), ("d", 9, {"status": "offline"})],
    [
        {"vmid": 1, "ram_mib": 60, "host": "a", "ha_group": "web"},
        {"vmid": 2, "ram_mib": 60, "host": "b", "pinned": True},
        {"vmid": 3, "ram_mib": 10, "host": "b", "ha_group": "web"},
        {"vmid": 4, "ram_mib": 10},
    ],
)


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        (PlacementAction("migrate", 9, "a"), "there is no VM 9"),
        (PlacementAction("migrate", 1, "x"), "there is no host 'x'"),
        (PlacementAction("migrate", 1, "b"), "b would hold 130 MiB of RAM; its limit is 100"),
        (PlacementAction("migrate", 1, "c"), "c is drained"),
        (PlacementAction("start", 4, "d"), "d is offline"),
        (PlacementAction("migrate", 2, "a"), "VM 2 is pinned to b, not to a"),
        (PlacementAction("migrate", 3, "a"), "VM 1 of the HA group 'web' is on a too"),
        (PlacementAction("migrate", 4, "a"), "VM 4 does not run, so it cannot migrate"),
        (PlacementAction("start", 1, "a"), "VM 1 runs on a already"),
        (PlacementAction("migrate", 3, "a", "a"), "VM 3 is on b, not on a"),
    ],
)
def test_a_wrong_step_is_refused_with_its_reason(action, reason):
    found = check_plan(GIVEN, [action])
    assert reason in [each.reason for each in found.violations]


def test_a_vm_that_the_plan_forgets_is_refused():
    assert [v.reason for v in check_plan(GIVEN, [], ()).violations] == [
        "VM 4 does not run, and the plan does not say why"
    ]
    assert check_plan(GIVEN, [], {4}).ok
