"""`pulsus_control` and its alias."""

import time
from dataclasses import replace

import pytest

from tests.agent_calls import call, code, data


def command(tools, text, consent="yes", name="pulsus_control", **options):
    args = {"command": text} | ({"type": "command"} if name == "pulsus_control" else {})
    return call(tools, name, args, consent=consent, on=[tools.system.host], **options)


@pytest.mark.parametrize("name", ["pulsus_control", "pulsus_run_command"])
def test_an_approved_command_runs_exactly_as_it_was_approved(tools, tmp_path, name):
    text = f'printf "%s" "a  b" > {tmp_path}/out && echo done'
    outcome = command(tools, text, name=name)
    assert data(outcome)["output"] == "done\n"
    assert (tmp_path / "out").read_text(encoding="utf-8") == "a  b"
    assert outcome.wrote == (tools.system.host.id,)
    assert outcome.read == ()


@pytest.mark.parametrize("name", ["pulsus_control", "pulsus_run_command"])
@pytest.mark.parametrize("consent", [None, "dry_run"])
def test_a_command_that_nobody_confirmed_does_not_run(tools, tmp_path, name, consent):
    outcome = command(tools, f"touch {tmp_path}/mark", consent=consent, name=name)
    assert code(outcome) == "APPROVAL_REQUIRED"
    assert not (tmp_path / "mark").exists()
    assert outcome.wrote == ()


def test_what_the_policy_blocks_does_not_run_even_if_approved(tools):
    assert code(command(tools, "rm -rf --no-preserve-root /")) == "POLICY_BLOCKED"


def test_a_failed_command_counts_as_a_write(tools):
    outcome = command(tools, "echo partly >&2; exit 3")
    assert code(outcome) == "EXECUTION_FAILED"
    assert outcome.response.data["exit_code"] == 3
    assert outcome.wrote == (tools.system.host.id,)


def test_a_command_gets_no_secret_of_the_environment(tools, monkeypatch):
    environ = {**tools.system.environ, "DEPLOY_TOKEN": "abcdefgh12345678"}
    system = replace(tools.system, environ=environ)
    from pulsus.agent.tool_protocol import CallContext
    from pulsus.agent.tools.control_tool import ControlTool
    from pulsus.execution.cancellation import Cancellation

    context = CallContext((system.host,), Cancellation(), 5.0, "yes")
    outcome = ControlTool(system).run({"type": "command", "command": "env"}, context)
    context.cancellation.close()
    assert "DEPLOY_TOKEN" not in data(outcome)["output"]


def test_a_command_ends_with_its_time(tools):
    outcome = command(tools, "sleep 20", seconds=0.3)
    assert code(outcome) == "EXECUTION_FAILED"
    assert outcome.response.error.retryable


def test_a_service_beside_its_host_is_needed_by_its_id(tools):
    host = tools.system.host
    args = {"type": "service", "action": "restart", "service": "web", "target_host": host.name}
    needs = tools.by_name["pulsus_control"].needs(args)
    assert needs.targets == (f"service:{host.host}:web",)
    assert needs.action == "restart"


def test_a_service_that_is_gone_is_not_found(tools):
    gone = replace(tools.system.host, kind="service", uid="gone-service", name="gone-service")
    args = {"type": "service", "action": "restart"}
    outcome = call(tools, "pulsus_control", args, consent="yes", on=[gone])
    assert code(outcome) == "NOT_FOUND"
    assert outcome.wrote == ()


def test_a_type_that_does_not_fit_its_target_is_refused(tools):
    args = {"type": "guest", "action": "stop"}
    outcome = call(tools, "pulsus_control", args, consent="yes", on=[tools.system.host])
    assert code(outcome) == "INVALID_INPUT"


def test_virtual_machines_have_no_backend(tools):
    args = {"type": "guest", "action": "stop", "target_resource_id": "vm:pve:101"}
    assert tools.by_name["pulsus_control"].needs(args).unavailable


@pytest.mark.seconds
def test_what_an_approved_command_starts_goes_on_and_its_output_is_not_waited_for(tools, tmp_path):
    text = f"(sleep 4; touch {tmp_path}/late) & echo started"
    assert data(command(tools, text))["output"] == "started\n"
    assert not (tmp_path / "late").exists()
    limit = time.monotonic() + 20
    while not (tmp_path / "late").exists():
        assert time.monotonic() < limit
        time.sleep(0.05)


def test_what_a_command_started_ends_with_it_if_it_is_too_slow(tools, tmp_path):
    text = f"(sleep 1; touch {tmp_path}/late) & sleep 20"
    assert code(command(tools, text, seconds=0.2)) == "EXECUTION_FAILED"
    time.sleep(1.2)
    assert not (tmp_path / "late").exists()
