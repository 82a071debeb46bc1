"""A plan holds against the facts of now, or its fault is named with the step."""

import pytest

from pulsus.errors import PlanInvalid
from pulsus.infra.migrations.check_migrations import check_actions, check_migrations
from tests.clusters import SICK, changed, view_of


def move(vmid, target, source=None):
    found = {"action": "migrate", "vmid": vmid, "target": target}
    return found if source is None else found | {"source": source}


def test_a_source_that_was_left_out_is_the_host_that_the_vm_is_on_by_then():
    check = check_migrations([move(103, "pve1"), move(103, "pve2")], view_of())
    assert check.ok
    assert [each.source for each in check.actions] == ["pve3", "pve1"]


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ([move(101, "pve1")], "HA group 'db'"),
        ([move(103, "pve1", "pve2")], "is on pve3, not on pve2"),
        ([move(102, "pve3")], "pve3 is degraded"),
        ([{"action": "start", "vmid": 103, "target": "pve1"}], "runs on pve3 already"),
    ],
)
def test_a_step_that_breaks_a_rule_is_named(plan, said):
    check = check_migrations(plan, view_of())
    assert not check.ok
    assert said in " ".join(check.violations)


def test_a_step_into_the_rack_of_another_member_is_refused_on_approval_too():
    document = changed("nodes", "name", "pve2", rack="r1")
    held = check_migrations([move(101, "pve2")], view_of())
    assert held.ok
    # Two live racks have room for both members apart.
    nodes = [*document["nodes"], document["nodes"][0] | {"name": "pve4", "rack": "r4"}]
    later = view_of(document | {"nodes": nodes})
    assert "is in rack r1 too" in check_actions(held.actions, later).violations[0]
    assert check_migrations([move(101, "pve4")], later).ok
    assert check_actions(held.actions, later._replace(use_racks=False)).ok


def test_unknown_vms_and_nodes_are_named():
    check = check_migrations([move(999, "pve1"), move(103, "pve9")], view_of())
    assert check.unknown == ("VM 999", "node pve9")


@pytest.mark.parametrize("plan", [[], None, "migrate", [{"action": "destroy", "vmid": 101}]])
def test_an_empty_or_malformed_plan_is_no_plan(plan):
    with pytest.raises(PlanInvalid):
        check_migrations(plan, view_of())


def test_a_plan_that_held_is_refused_after_the_facts_moved():
    held = check_migrations([move(103, "pve1")], view_of())
    assert held.ok
    for later in (
        changed("vms", "vmid", 103, host="pve2"),
        changed("nodes", "name", "pve1", health="critical"),
        changed("vms", "vmid", 102, ram_mib=15000),
        SICK | {"vms": SICK["vms"][:2]},
    ):
        assert not check_actions(held.actions, view_of(later)).ok
