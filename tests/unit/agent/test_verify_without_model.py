"""A write is verified by the runtime if the model no longer can (architecture §7)."""

import pytest

from pulsus.agent.loop.call_draft import CallDraft
from pulsus.agent.tool_protocol import CallOutcome, ProposedCall
from pulsus.agent.verify_without_model import ContractVerifier
from pulsus.gates.built_in_tools import built_in_tools
from pulsus.gates.tool_response import tool_failed, tool_success
from tests import project as projects
from tests.agent_calls import tools_in


@pytest.fixture(scope="module")
def tools(tmp_path_factory):
    """The tools of a session in a project of their own."""
    return tools_in(projects.make(tmp_path_factory.mktemp("agent") / "project", warm=False))


class Reader:
    """`pulsus_read` on a machine whose systemctl gives this answer. It notes what it was asked."""

    def __init__(self, response):
        self.response, self.asked = response, []
        self.descriptor = built_in_tools()["pulsus_read"]

    def needs(self, args):
        raise AssertionError("the runtime has chosen the read")

    def run(self, args, context):
        self.asked.append((args["command"], context.resources, context.consent))
        return CallOutcome(self.response)


def verify(tools, command, response, name="pulsus_run_command"):
    args = {"command": command} | ({"type": "command"} if name == "pulsus_control" else {})
    tool, host = tools.by_name[name], tools.system.host
    draft = CallDraft(ProposedCall("1", name, args), tool, "write", tool.needs(args), (host,))
    reader = Reader(response)
    verifier = ContractVerifier({**tools.by_name, "pulsus_read": reader}, lambda _: None)
    return verifier.verify(draft), reader.asked


@pytest.mark.parametrize("name", ["pulsus_control", "pulsus_run_command"])
def test_a_command_on_one_service_is_verified_by_the_state_of_the_service(tools, name):
    shown = tool_success({"output": "active\n", "exit_code": 0})
    response, asked = verify(tools, "sudo systemctl restart nginx", shown, name)
    assert response.ok
    assert asked == [("systemctl is-active 'nginx'", (tools.system.host,), None)]


@pytest.mark.parametrize(
    ("command", "output"),
    [
        pytest.param("systemctl start nginx", "failed\n", id="it did not start"),
        pytest.param("systemctl stop nginx", "active\n", id="it did not stop"),
        pytest.param("systemctl start nginx", "", id="no answer"),
    ],
)
def test_a_service_in_the_wrong_state_does_not_verify_its_command(tools, command, output):
    response, asked = verify(tools, command, tool_success({"output": output, "exit_code": 3}))
    assert not response.ok
    assert asked


def test_a_read_that_failed_verifies_nothing(tools):
    failed = tool_failed("EXECUTION_FAILED", "systemctl cannot be started")
    response, _ = verify(tools, "systemctl start nginx", failed)
    assert not response.ok


@pytest.mark.parametrize("command", ["rm x", "systemctl stop nginx; rm x", "systemctl stop a b"])
def test_a_command_with_an_open_result_is_not_verified_by_a_guess(tools, command):
    response, asked = verify(tools, command, tool_success({"output": "active\n"}))
    assert not response.ok
    assert asked == []
