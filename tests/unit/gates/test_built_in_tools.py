"""The built-in tools keep reads and writes apart, and their schemas accept what they describe."""

from __future__ import annotations

import jsonschema
import pytest

from pulsus.gates.built_in_tools import built_in_tools
from pulsus.gates.resources.resolved_resource import RESOURCE_KINDS
from pulsus.gates.tool_descriptors import DescriptorTable

TABLE = DescriptorTable(built_in_tools().values())
CALLS = [
    pytest.param("pulsus_query", {"action": "get"}, "resolve", id="query"),
    pytest.param("pulsus_query", {"action": "drop"}, "write", id="action that query lacks"),
    pytest.param("pulsus_query", {"action": ["get"]}, "write", id="action that is no text"),
    pytest.param("pulsus_discovery", {"action": "list"}, "resolve", id="discovery"),
    pytest.param("pulsus_read", {"action": "exec", "command": "grep x /log"}, "read", id="read"),
    pytest.param("pulsus_control", {"type": "command", "command": "ls"}, "write", id="control"),
    pytest.param("pulsus_control", {}, "write", id="control without a type"),
    pytest.param("pulsus_run_command", {"command": "ls"}, "write", id="run_command"),
    pytest.param("pulsus_file_edit", {"action": "read"}, "read", id="file_edit read"),
    pytest.param("pulsus_file_edit", {"action": "append"}, "write", id="file_edit append"),
    pytest.param("pulsus_file_edit", {}, "write", id="file_edit without an action"),
    pytest.param("pulsus_alerts", {"action": "findings"}, "read", id="alerts findings"),
    pytest.param("pulsus_alerts", {"action": "dismiss"}, "write", id="alerts dismiss"),
    pytest.param("pulsus_docker", {"action": "stats"}, "read", id="docker stats"),
    pytest.param("pulsus_docker", {"action": "update"}, "write", id="docker update"),
    pytest.param("pulsus_kubernetes", {"type": "pods"}, "read", id="kubernetes pods"),
    pytest.param("pulsus_kubernetes", {"action": "pods"}, "write", id="kubernetes other selector"),
    pytest.param("pulsus_kubernetes", {"type": "exec"}, "write", id="kubernetes exec"),
    pytest.param("pulsus_route", {"request": "renew a certificate"}, "read", id="route"),
    pytest.param("query_wam", {"goal": "node_health(pve1, S)"}, "read", id="goal"),
]


@pytest.mark.parametrize(("tool", "args", "kind"), CALLS)
def test_a_built_in_tool_does_not_change_its_kind(tool, args, kind):
    assert TABLE.kind_of(tool, args) == kind


@pytest.mark.parametrize("tool", list(TABLE), ids=lambda tool: tool.name)
def test_a_schema_is_valid_closed_and_typed(tool):
    jsonschema.Draft202012Validator.check_schema(tool.parameters)
    assert tool.parameters["additionalProperties"] is False
    assert all("type" in one for one in tool.parameters["properties"].values())


@pytest.mark.parametrize("tool", list(TABLE), ids=lambda tool: tool.name)
def test_needs_name_only_arguments_and_actions_that_exist(tool):
    properties = tool.parameters["properties"]
    actions = properties.get(tool.selector, {}).get("enum", [])
    assert set(tool.needs) <= {"*", *actions}
    named = {name for names in tool.needs.values() for one in names for name in one.split("|")}
    assert named <= set(properties)


@pytest.mark.parametrize("tool", list(TABLE), ids=lambda tool: tool.name)
def test_no_action_writes_without_a_target(tool):
    for action in tool.parameters["properties"].get(tool.selector, {}).get("enum", [""]):
        args = {tool.selector: action} if action else {}
        # A proposal acts on nothing; its plan names what a person may let it act on.
        target = "plan" if tool.name == "execute_migration" else "target_resource_id|target_host"
        if tool.kind_of(args) == "write":
            assert target in tool.missing_arguments(args)


def test_a_call_without_what_its_action_needs_is_found_incomplete():
    edit = built_in_tools()["pulsus_file_edit"]
    assert edit.missing_arguments({"action": "read"}) == ("path",)
    assert edit.missing_arguments({"action": "write", "path": "/a", "target_host": "web1"}) == (
        "content",
    )
    assert not edit.missing_arguments({"action": "read", "path": "/a"})


def test_a_query_takes_every_kind_that_a_resource_may_have():
    kinds = built_in_tools()["pulsus_query"].parameters["properties"]["kind"]["enum"]
    assert set(kinds) == RESOURCE_KINDS
