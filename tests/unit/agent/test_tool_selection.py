"""The tools that a model is offered: by state, control level and the words of the request."""

from dataclasses import replace

import pytest

from pulsus.agent.tool_selection import project_tool, refers_back, select_tools
from pulsus.gates.built_in_tools import built_in_tools
from pulsus.gates.tool_descriptors import DescriptorTable, ToolDescriptor
from tests.agent_runs import WEB, fresh_state

PLAIN = {"type": "object", "properties": {}}
DISK = ToolDescriptor("disk_usage", "Show disks.", PLAIN, kind="read")
RESTART = ToolDescriptor("restart_service", "Restart.", PLAIN, kind="write")
STATUS = ToolDescriptor("service_status", "Show a service.", PLAIN, kind="read")
TABLE = DescriptorTable(built_in_tools().values(), [DISK, RESTART, STATUS])
VERIFYING = {"restart_service": "service_status"}


def select(request, ranked=(), suggests=False):
    return select_tools(TABLE, request, ranked, most=2, suggests=suggests, verifying=VERIFYING)


def names(tools):
    return {tool.name for tool in tools}


def reading_state():
    return fresh_state(WEB)


def verifying_state():
    state = reading_state()
    workflow = state.gates.workflow.begin_write("restart_service", [WEB.id]).after_write(ended=1.0)
    return replace(state, gates=replace(state.gates, workflow=workflow))


@pytest.mark.parametrize(
    ("request_text", "tool"),
    [
        ("how full are the disks", "pulsus_storage"),
        ("what eats the memory", "pulsus_metrics"),
        ("which containers are there", "pulsus_docker"),
        ("any warnings?", "pulsus_alerts"),
        ("which ports are open", "pulsus_discovery"),
        ("restart nginx", "pulsus_control"),
        ("append a line to the file", "pulsus_file_edit"),
        ("use pulsus_run_command for this", "pulsus_run_command"),
    ],
)
def test_the_words_of_a_request_list_the_built_in_tools_for_it(request_text, tool):
    assert tool in select(request_text).listed


def test_query_read_and_route_are_listed_for_any_request():
    listed = set(select("say something").listed)
    assert listed == {"pulsus_query", "pulsus_read", "pulsus_route"}


def test_the_router_adds_a_handful_of_catalogue_tools():
    listed = select("disks", ["disk_usage", "service_status", "restart_service"]).listed
    assert {"disk_usage", "service_status"} <= set(listed)
    assert "restart_service" not in listed


def test_a_question_in_read_only_lists_no_way_to_write():
    shown = select("list the files", ["restart_service"], suggests=True).at_start()
    assert names(shown) == {"pulsus_query", "pulsus_read", "pulsus_route"}


def test_a_wanted_change_in_read_only_can_be_proposed_so_that_it_is_suggested():
    assert "pulsus_control" in names(select("restart nginx", suggests=True).at_start())


@pytest.mark.parametrize("state", [fresh_state(), verifying_state()], ids=["nothing found", "open"])
def test_a_state_that_refuses_writes_is_offered_none(state):
    shown = select("restart nginx and edit its file", ["restart_service"]).in_state(state)
    assert not names(shown) & {"pulsus_control", "restart_service"}
    (edit,) = (tool for tool in shown if tool.name == "pulsus_file_edit")
    assert edit.parameters["properties"]["action"]["enum"] == ["read"]
    assert "content" not in edit.parameters["properties"]


def test_writes_are_offered_once_something_was_found():
    shown = select("restart nginx", ["restart_service"]).in_state(reading_state())
    assert {"pulsus_control", "restart_service"} <= names(shown)


def test_the_tool_that_verifies_an_open_write_is_listed():
    selection = select("restart nginx", ["restart_service"])
    assert "service_status" in names(selection.in_state(verifying_state()))
    assert "service_status" not in names(selection.in_state(reading_state()))


def test_a_tool_that_the_router_found_in_the_run_can_be_called():
    selection = select("say something")
    assert "disk_usage" in names(selection.in_state(reading_state(), {"disk_usage"}))


def test_a_projected_tool_still_classifies_what_it_left_out_as_a_write():
    docker = built_in_tools()["pulsus_docker"]
    shown = project_tool(docker, {"resolve", "read"})
    assert shown is not None
    assert "operation" not in shown.parameters["properties"]
    assert shown.kind_of({"action": "control", "target_resource_id": "x"}) == "write"
    assert shown.kind_of({"action": "list"}) == "read"


@pytest.mark.parametrize(
    ("request_text", "changes"),
    [
        ("how much memory is free", False),
        ("is nginx running", False),
        ("which disks are full, and clean them", True),
        ("free some space", True),
        ("is nginx running? if not, restart it", True),
        ("is nginx running? restart it", True),
        ("show the disks, otherwise clean them", True),
        ("how do I restart nginx?", False),
        ("run the clean-up", True),
    ],
)
def test_a_question_is_not_taken_for_a_change(request_text, changes):
    assert select(request_text, suggests=True).wants_change is changes


@pytest.mark.parametrize(
    ("request_text", "ranked", "measures"),
    [
        ("how full are the disks", (), True),
        ("what does /etc/hosts say", (), True),
        ("is it up", ("service_status",), True),
        ("restart nginx", ("restart_service",), False),
        ("thank you", (), False),
    ],
)
def test_only_a_question_that_a_tool_can_read_has_to_look_first(request_text, ranked, measures):
    assert select(request_text, ranked, suggests=True).measures is measures


@pytest.mark.parametrize(
    ("request_text", "refers"),
    [("what does that mean", True), ("summarise them", True), ("how full are the disks", False)],
)
def test_a_follow_up_question_need_not_look_again(request_text, refers):
    assert refers_back(request_text) is refers


def test_the_same_tools_come_first_so_that_a_server_does_not_read_them_again():
    first = select("how full are the disks", ("disk_usage",)).listed
    second = select("any warnings?", ("service_status",)).listed
    assert first[:3] == second[:3] == ("pulsus_query", "pulsus_read", "pulsus_route")
    assert first[-1] == "disk_usage"


def _taking(name, description, **more):
    one = {"type": "string", "description": description, **more}
    schema = {"type": "object", "properties": {"path": one}, "required": ["path"]}
    return ToolDescriptor(name, "Show.", schema, kind="read")


COUNTS = _taking("error_counts", "The log file.")
SAVED = ToolDescriptor(
    "journal_tail",
    "Show.",
    {"type": "object", "properties": {"export": {"type": "string", "default": "/saved"}}},
    kind="read",
)
PATHS = DescriptorTable(built_in_tools().values(), [COUNTS, SAVED, DISK])


def select_path(request, *ranked, likely="", is_folder=False):
    return select_tools(
        PATHS,
        request,
        ranked,
        most=4,
        suggests=True,
        likely=likely,
        is_folder=lambda path: is_folder,
    )


def test_a_request_about_a_file_offers_no_tool_that_would_answer_about_something_else():
    listed = select_path("last line of /srv/a.log", "journal_tail", "error_counts").listed
    assert "error_counts" in listed
    assert "journal_tail" not in listed


def test_a_built_in_tool_that_takes_the_folder_stands_for_tools_that_take_none():
    listed = select_path("space left for /srv", "disk_usage", is_folder=True).listed
    assert "pulsus_storage" in listed
    assert "disk_usage" not in listed


def test_if_no_tool_takes_the_path_the_ranked_ones_stay():
    assert "disk_usage" in select_path("what is /srv", "disk_usage", is_folder=True).listed


def test_the_tool_that_the_router_is_sure_of_is_never_left_out():
    listed = select_path("how full was it in /srv/a.log", "disk_usage", likely="disk_usage").listed
    assert "disk_usage" in listed


def test_a_sure_tool_needs_no_further_ones_beside_it_unless_a_change_is_asked_for():
    asked = select_path("how full are the disks", "disk_usage", likely="disk_usage")
    assert "pulsus_storage" not in asked.listed
    both = select_path(
        "which containers are full, and restart them", "disk_usage", likely="disk_usage"
    )
    assert {"pulsus_docker", "pulsus_control"} <= set(both.listed)
    read = select_path("how full are the disks", "disk_usage", likely="pulsus_read")
    assert "pulsus_storage" in read.listed


def test_no_file_is_asked_for_by_a_request_that_names_none():
    (tail,) = (t for t in select_path("x", "journal_tail").at_start() if t.name == "journal_tail")
    assert tail.parameters["properties"] == {}
    named = select_path("x of /saved/a", "journal_tail").at_start()
    (tail,) = (t for t in named if t.name == "journal_tail")
    assert set(tail.parameters["properties"]) == {"export"}


@pytest.mark.parametrize(
    ("request_text", "kind", "offered"),
    [
        ("what runs here", "vm", False),
        ("what runs here", "service", True),
        ("list the VMs", "vm", True),
        ("which pods are there", "k8s_pod", True),
        ("which pods are there", "lxc", False),
    ],
)
def test_a_query_offers_the_kinds_of_resources_that_the_request_is_about(
    request_text, kind, offered
):
    (query,) = (t for t in select(request_text).at_start() if t.name == "pulsus_query")
    assert (kind in query.parameters["properties"]["kind"]["enum"]) is offered
