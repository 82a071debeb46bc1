"""A plan that is malformed is refused as a whole, and nothing in it is corrected."""

import pytest

from pulsus.core.types import JsonValue
from pulsus.errors import PlanInvalid
from pulsus.infra.migrations.migration_plan import parse_actions
from pulsus.placement.cluster import PlacementAction

GOOD: dict[str, JsonValue] = {"action": "migrate", "vmid": 101, "source": "pve1", "target": "pve2"}


def test_actions_are_typed_values_in_their_order():
    start: JsonValue = {"action": "start", "vmid": 102, "source": None, "target": "pve3"}
    assert parse_actions([GOOD, start]) == (
        PlacementAction("migrate", 101, "pve2", "pve1"),
        PlacementAction("start", 102, "pve3"),
    )


@pytest.mark.parametrize("plan", [None, [], {}, "migrate", 7, [[]], ["migrate 101"]])
def test_an_empty_or_malformed_plan_is_refused(plan):
    with pytest.raises(PlanInvalid):
        parse_actions(plan)


@pytest.mark.parametrize(
    "wrong",
    [
        {"action": "destroy"},
        {"action": "Migrate"},
        {"vmid": "101"},
        {"vmid": True},
        {"vmid": 99},
        {"vmid": -101},
        {"vmid": 101.0},
        {"target": "--help"},
        {"target": "-pve2"},
        {"target": "pve2; reboot"},
        {"target": "PVE2"},
        {"target": "pve2\n"},
        {"target": ""},
        {"target": None},
        {"target": "pve1"},
        {"target": "p" * 64},
        {"source": ""},
        {"source": None},
        {"source": "pvе1"},
        {"unknown": 1},
    ],
)
def test_a_value_that_does_not_fit_is_refused_and_never_corrected(wrong):
    with pytest.raises(PlanInvalid, match="action 2"):
        parse_actions([GOOD, GOOD | wrong])


def test_a_start_that_names_a_source_is_refused():
    with pytest.raises(PlanInvalid):
        parse_actions([GOOD | {"action": "start"}])


def test_a_plan_without_end_is_refused():
    with pytest.raises(PlanInvalid, match="10001 actions"):
        parse_actions([GOOD] * 10_001)
