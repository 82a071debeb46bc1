"""A proposal rests on facts: a name or a figure that differs is refused, with both values."""

import pytest

from pulsus.agent.tools.cluster.schedule_ha_proposal import ScheduleHaProposalTool
from tests.agent_calls import call, data, tools_in
from tests.clusters import SICK, changed, view_of
from tests.project import make

pytest.importorskip("ortools")


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return make(tmp_path_factory.mktemp("propose") / "project", warm=False)


@pytest.fixture(scope="module")
def tools(project):
    return tools_with(project, SICK)


def tools_with(project, document):
    made = tools_in(project)
    own = made.by_name["schedule_ha_proposal"]
    made.by_name["schedule_ha_proposal"] = ScheduleHaProposalTool(
        lambda: view_of(document), own.report
    )
    return made


def propose(tools, **args):
    return call(tools, "schedule_ha_proposal", args)


def refused(tools, **args):
    error = propose(tools, **args).response.error
    assert error is not None
    assert error.blocked
    return error


def test_a_sick_node_is_emptied_in_steps_that_keep_the_rules(tools):
    found = data(propose(tools))
    assert (found["status"], found["certificate"]) == ("optimal", {"steps_checked": 2, "ok": True})
    moves = {each["vmid"]: (each["source"], each["target"]) for each in found["actions"]}
    assert moves[101] == ("pve3", "pve2")
    assert moves[103][0] == "pve3"
    assert moves[103][1] in ("pve1", "pve2")
    assert found["hosts_that_take_no_vm"] == ["pve3"]


def test_only_named_vms_move_and_only_to_named_hosts(tools):
    found = data(propose(tools, hosts=[{"name": "pve1"}], vms=[{"vmid": 103}]))
    assert [(each["vmid"], each["target"]) for each in found["actions"]] == [(103, "pve1")]


def test_a_plan_for_a_part_that_breaks_a_rule_of_the_whole_is_not_handed_out(tools):
    outcome = propose(tools, hosts=[{"name": "pve1"}], vms=[{"vmid": 101}])
    assert outcome.response.data is None
    assert "VM 102 of the HA group 'db' is on pve1 too" in outcome.response.error.message


def test_a_vm_that_fits_nowhere_is_unplaced_with_its_reasons(project):
    large = changed("vms", "vmid", 103, ram_mib=17000)
    found = data(propose(tools_with(project, large), vms=[{"vmid": 103}]))
    assert found["actions"] == []
    assert found["core"] or found["unplaced"][0]["reasons"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({"hosts": [{"name": "pve1", "ram_mib": 32768}]}, "16384 in the facts, not 32768"),
        ({"vms": [{"vmid": 101, "ha_group": "web"}]}, "'db' in the facts, not 'web'"),
        ({"vms": [{"vmid": 101, "cpu_mc": 1}]}, "1000 in the facts, not 1"),
        ({"hosts": [{"name": "pve1), assertz(foo"}]}, "is no name of a node"),
        ({"hosts": [{"name": "pve1"}, {"name": "pve1"}]}, "given twice"),
    ],
)
def test_a_name_or_figure_that_is_wrong_is_invalid_input_with_both_values(tools, args, said):
    error = refused(tools, **args)
    assert error.code == "INVALID_INPUT"
    assert said in error.message


def test_the_figures_of_the_facts_may_be_named_too(tools):
    rows = [{key: vm[key] for key in vm if key != "host"} for vm in SICK["vms"]]
    assert propose(tools, vms=rows).response.ok


def test_an_unknown_host_or_vm_is_not_found_and_similar_ones_are_offered(tools):
    error = refused(tools, hosts=[{"name": "pve33"}])
    assert (error.code, "pve3" in error.details["suggestions"]) == ("NOT_FOUND", True)
    assert refused(tools, vms=[{"vmid": 999}]).code == "NOT_FOUND"
