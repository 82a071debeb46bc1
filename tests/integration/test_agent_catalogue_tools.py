"""Tools of the catalogue, called by the agent: real runs in the confined worker."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from pulsus.agent.tools.all_tools import AgentTools
from pulsus.agent.tools.catalogue.catalogue_tool import CatalogueTool, agent_names
from pulsus.agent.tools.catalogue.contract_schema import contract_schema
from pulsus.core.storage.records.promotion_target import Target
from pulsus.core.types import DeclaredCall
from pulsus.execution.tool_process import RunResult
from pulsus.execution.unread_source import source_failure
from pulsus.gates.built_in_tools import built_in_tools
from tests.agent_calls import call, code, data, tools_in
from tests.integration.test_run_verified import FACTS, READER, WRITER
from tests.project import make
from tests.promotions import promoted
from tests.shipped import TOOLS

MARK = Target("system", "change", "leave_mark")


@pytest.fixture(scope="module")
def tools(tmp_path_factory):
    """A project with a write, `leave_mark`, and the read that verifies it."""
    project = make(tmp_path_factory.mktemp("agent") / "project", warm=False)
    promoted(project, READER, target=FACTS)
    promoted(project, WRITER, target=MARK)
    return tools_in(project)


def leave_mark(tools, consent, **args):
    return call(tools, "leave_mark", args, consent=consent, on=[tools.system.host], seconds=60.0)


def test_every_schema_is_valid_and_has_every_input_of_the_contract():
    for tool in TOOLS:
        schema = contract_schema(tool)
        Draft202012Validator.check_schema(schema)
        assert set(schema["properties"]) == {arg.name for arg in tool.args}
        assert set(schema["required"]) == {arg.name for arg in tool.args if arg.required}


def test_every_tool_has_a_name_of_its_own():
    names = agent_names(list(TOOLS), frozenset(built_in_tools()))
    assert len(set(names.values())) == len(TOOLS)
    assert not set(names.values()) & set(built_in_tools())


def test_a_tool_whose_name_is_taken_is_called_by_its_id():
    first = TOOLS[0]
    names = agent_names([first], frozenset({first.name}))
    assert names == {first.id: first.id.replace("/", "_")}


def test_the_route_names_tools_as_the_agent_calls_them(tools):
    outcome = call(tools, "pulsus_route", {"request": "count the words of the text"})
    shown = data(outcome)
    assert shown["tools"][0]["tool"] == "count_words"
    assert shown["tools"][0]["tool"] in tools.by_name
    assert outcome.read == ()


@pytest.mark.seconds
def test_a_read_runs_confined_and_counts_as_a_read_of_the_host(tools, tmp_path):
    (tmp_path / "m").write_text("hello", encoding="utf-8")
    outcome = call(tools, "mark_facts", {"path": f"{tmp_path}/m"}, seconds=60.0)
    assert data(outcome)["text"] == "hello"
    assert outcome.read == (tools.system.host.id,)
    assert outcome.wrote == ()
    assert outcome.response.meta["tool_id"] == "system/check/mark_facts"


@pytest.mark.seconds
def test_a_confirmed_write_runs_and_its_verify_call_confirms_it(tools, tmp_path):
    path = f"{tmp_path}/m"
    outcome = leave_mark(tools, "yes", path=path, text="a")
    assert data(outcome)["bytes"] == 1
    assert outcome.wrote == (tools.system.host.id,)
    assert outcome.read == ()
    wanted = {"tool_id": "system/check/mark_facts", "inputs": {"path": path}}
    assert outcome.response.meta["verify_with"] == wanted
    tool = tools.by_name["leave_mark"]
    args = {"path": path, "text": "a"}
    assert tool.verify(args, outcome.response.data).ok
    (tmp_path / "m").write_text("other", encoding="utf-8")
    assert not tool.verify(args, outcome.response.data).ok


@pytest.mark.seconds
@pytest.mark.parametrize("consent", [None, "dry_run"])
def test_a_write_that_nobody_confirmed_does_not_run(tools, tmp_path, consent):
    outcome = leave_mark(tools, consent, path=f"{tmp_path}/m")
    assert code(outcome) == "APPROVAL_REQUIRED"
    assert not (tmp_path / "m").exists()
    assert outcome.wrote == ()


@pytest.mark.seconds
def test_a_dry_run_needs_no_consent_and_writes_nothing(tools, tmp_path):
    outcome = leave_mark(tools, None, path=f"{tmp_path}/m", dry_run=True)
    assert data(outcome)["bytes"] == 4
    assert outcome.wrote == ()
    assert not (tmp_path / "m").exists()


def changed(tools, **fields):
    """Return the tools with another contract of `leave_mark`."""
    tool = tools.by_name["leave_mark"]
    spec = replace(tool.tool, **fields)
    other = CatalogueTool(tool.project, tool.system, spec, tool.name)
    return AgentTools(tools.table, {**tools.by_name, "leave_mark": other}, tools.system)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"target": ()}, "Target:"),
        ({"verify": None}, "Verify:"),
        ({"verify": DeclaredCall("system/check/mark_facts")}, "Verify: that uses"),
    ],
    ids=["no target", "no verify", "an unrelated verify"],
)
def test_a_write_without_target_or_verify_is_refused_with_the_reason(
    tools, tmp_path, fields, named
):
    other = changed(tools, **fields)
    assert named in other.by_name["leave_mark"].needs({"path": "/x"}).not_allowed
    outcome = leave_mark(other, "yes", path=f"{tmp_path}/m")
    assert code(outcome) == "ACTION_NOT_ALLOWED"
    assert named in outcome.response.error.message
    assert not (tmp_path / "m").exists()


def test_a_tool_that_changed_after_the_session_began_does_not_run(tools, tmp_path):
    outcome = leave_mark(changed(tools, sha256="0" * 64), "yes", path=f"{tmp_path}/m")
    assert code(outcome) == "POLICY_BLOCKED"
    assert not (tmp_path / "m").exists()


@pytest.mark.seconds
def test_a_tool_for_approvers_needs_one_who_types_its_target(tools, tmp_path):
    source = WRITER.replace(b"Kind: write", b"Kind: write\n\nApproval: approver")
    project = tools.by_name["leave_mark"].project.project
    target = Target("system", "change", "strict_mark")
    promoted(project, source, target=target)
    strict = tools_in(project)
    args = {"path": f"{tmp_path}/m"}
    on = [strict.system.host]
    refused = call(strict, "strict_mark", args, consent="yes", on=on, seconds=60.0)
    assert code(refused) == "APPROVAL_REQUIRED"
    assert not (tmp_path / "m").exists()
    assert call(strict, "strict_mark", args, consent="typed", on=on, seconds=60.0).response.ok


def test_a_write_needs_the_host_and_names_its_paths(tools):
    needs = tools.by_name["leave_mark"].needs({"path": "/srv/x", "text": "a"})
    assert needs.targets == (tools.system.host.id,)
    assert needs.paths == ("/srv/x",)
    assert needs.written == {"path": "/srv/x", "text": "a"}
    assert needs.checks_routing


def test_a_restart_of_the_catalogue_needs_the_service(tools):
    tool = tools.by_name["leave_mark"]
    spec = next(each for each in TOOLS if each.id == "services/control/restart_service")
    needs = CatalogueTool(tool.project, tool.system, spec, spec.name).needs({"name": "web"})
    assert needs.targets == (f"service:{tools.system.host.host}:web",)


def test_a_container_is_not_reached_by_a_tool_of_the_host(tools, tmp_path):
    host = tools.system.host
    inside = replace(host, kind="docker_container", uid="abc", name="web", parent=host.id)
    args = {"path": f"{tmp_path}/m"}
    outcome = call(tools, "leave_mark", args, consent="yes", on=[inside])
    assert code(outcome) == "EXECUTION_CONTEXT_UNAVAILABLE"
    assert not (tmp_path / "m").exists()


def test_the_agent_is_told_which_input_takes_a_saved_copy_of_an_unreadable_source(tools):
    shown = next(each for each in TOOLS if each.id == "system/kernel/oom_kills")
    tool = CatalogueTool(tools.by_name["mark_facts"].project, tools.system, shown, shown.name)
    result: dict[str, Any] = {"rows": [], "total": 0, "error": "dmesg is not installed"}
    done = RunResult(result, "", "", 1, failure=source_failure(shown, result, {}))
    context: Any = SimpleNamespace(resources=())
    error = tool._outcome(done, {}, context).response.error
    assert error is not None
    hint = str(error.details["recovery_hint"])
    assert hint.startswith("Give path=…: A saved kernel log")
    again = tool._outcome(done, {"path": "/x"}, context).response.error
    assert again is not None
    assert "recovery_hint" not in again.details
