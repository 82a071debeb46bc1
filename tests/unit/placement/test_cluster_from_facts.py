"""A cluster comes from fresh facts only, and what they do not say stops the planning."""

import pytest

from pulsus.errors import FactsIncomplete
from pulsus.kb.fact_base import FactBase
from pulsus.placement.cluster import PlacementAction
from pulsus.placement.cluster_from_facts import (
    cluster_of_facts,
    narrow_cluster,
    notes_on_omitted_nodes,
)
from pulsus.placement.plan_checker import check_plan
from tests.clusters import SICK, changed, view_of
from tests.knowledge import NOW, ago, facts_of


def usable(cluster):
    return [host.name for host in cluster.hosts if host.usable]


def test_a_host_that_is_not_live_takes_no_vm():
    assert usable(cluster_of_facts(view_of())) == ["pve1", "pve2"]
    assert usable(cluster_of_facts(view_of(use_degraded=True))) == ["pve1", "pve2", "pve3"]
    late = changed("nodes", "name", "pve2", observed_at=ago(301))
    assert usable(cluster_of_facts(view_of(late))) == ["pve1"]


def test_this_machine_is_no_host_unless_a_vm_is_on_it():
    own = {"nodes": [{"name": "laptop", "health": "nominal", "ram_mib": 8192, "cpu_mc": 4000}]}
    both = FactBase([*facts_of(SICK), *facts_of(own, "local")]).at(NOW)
    assert "laptop" not in [host.name for host in cluster_of_facts(both).hosts]


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (changed("nodes", "name", "pve3", ram_mib=None), "the node pve3"),
        (changed("vms", "vmid", 102, cpu_mc=None), "VM 102"),
    ],
)
def test_a_figure_that_the_facts_lack_is_named_and_never_guessed(document, said):
    with pytest.raises(FactsIncomplete, match=said):
        cluster_of_facts(view_of(document))


def test_a_vm_on_a_node_that_no_fresh_fact_knows_stops_the_planning():
    facts = [each for each in facts_of(SICK) if each.kind != "node" or each.name != "pve3"]
    with pytest.raises(FactsIncomplete, match="pve3"):
        cluster_of_facts(FactBase(facts).at(NOW))


def test_each_node_that_is_left_out_is_named_with_its_reason_but_not_this_machine():
    own = {"nodes": [{"name": "laptop", "health": "nominal"}]}
    more = [{"name": f"n{n:02}", "health": "nominal"} for n in range(12)]
    document = SICK | {"nodes": [*SICK["nodes"], *more]}
    view = FactBase([*facts_of(document), *facts_of(own, "local")]).at(NOW)
    (note,) = notes_on_omitted_nodes(view, "facts.yaml")
    assert note == (
        "n00, n01, n02, n03, n04, n05, n06, n07, n08, n09 and 2 more take no part in the plan: the "
        "facts have no ram_mib and no cpu_mc, so add ram_mib and cpu_mc to facts.yaml"
    )
    assert list(notes_on_omitted_nodes(view_of())) == []


def test_racks_that_are_to_be_kept_have_to_be_known():
    document = changed("nodes", "name", "pve1", rack=None)
    for racks in (False, True):
        with pytest.raises(FactsIncomplete, match="rack of the node pve1"):
            cluster_of_facts(view_of(document), require_racks=racks)
    without = view_of(document)._replace(use_racks=False)
    assert not cluster_of_facts(without).use_rack_constraints


def test_racks_of_the_facts_count_as_soon_as_one_is_named_and_a_group_needs_them():
    assert cluster_of_facts(view_of()).use_rack_constraints
    assert not cluster_of_facts(view_of()._replace(use_racks=False)).use_rack_constraints
    alone = SICK | {"vms": SICK["vms"][1:]}
    assert not cluster_of_facts(view_of(alone)).use_rack_constraints
    unnamed = SICK | {"nodes": [{k: v for k, v in n.items() if k != "rack"} for n in SICK["nodes"]]}
    assert not cluster_of_facts(view_of(unnamed)).use_rack_constraints
    with pytest.raises(FactsIncomplete, match="rack of the node pve1"):
        cluster_of_facts(view_of(unnamed), require_racks=True)


def test_a_group_that_stays_together_in_a_rack_does_not_stop_the_move_of_another_vm():
    one_rack = changed("nodes", "name", "pve2", rack="r1")
    vms = [
        *SICK["vms"],
        {"vmid": 104, "host": "pve1", "ram_mib": 1, "cpu_mc": 1, "ha_group": "web"},
        {"vmid": 105, "host": "pve2", "ram_mib": 1, "cpu_mc": 1, "ha_group": "web"},
    ]
    whole = cluster_of_facts(view_of(one_rack | {"vms": vms}, use_degraded=True))
    part = narrow_cluster(whole, {"pve1", "pve2", "pve3"}, {103})
    assert {vm.ha_group for vm in part.vms} == {""}


def test_in_a_part_the_other_vms_stay_and_take_their_room():
    whole = cluster_of_facts(view_of())
    part = narrow_cluster(whole, {"pve1"}, {103})
    assert [host.name for host in part.hosts] == ["pve1", "pve3"]
    assert {vm.vmid: vm.pinned for vm in part.vms} == {103: "", 102: "pve1"}
    moved = [PlacementAction("migrate", 103, "pve1", "pve3")]
    assert check_plan(part, moved).ok
    assert check_plan(whole, moved).ok
