"""A plan that holds suspends the agent; any other does not, and nothing is ever executed."""

import pytest

from pulsus.agent.tool_protocol import Suspension
from pulsus.agent.tools.cluster.execute_migration import ExecuteMigrationTool
from pulsus.errors import TooManyApprovals
from tests.agent_calls import call, tools_in
from tests.clusters import view_of
from tests.project import make

HOLDS = [{"action": "migrate", "vmid": 103, "source": "pve3", "target": "pve1"}]


class Cards:
    """Keeps what was proposed. `full` makes it refuse."""

    def __init__(self):
        self.proposed, self.full = [], False

    def __call__(self, actions, reason):
        if self.full:
            raise TooManyApprovals("100 requests for approval are waiting")
        self.proposed.append((actions, reason))
        return Suspension("apr-1", len(actions), "it waits")


@pytest.fixture
def cards():
    return Cards()


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return make(tmp_path_factory.mktemp("migrate") / "project", warm=False)


@pytest.fixture
def tools(project, cards):
    made = tools_in(project)
    own = made.by_name["execute_migration"]
    made.by_name["execute_migration"] = ExecuteMigrationTool(view_of, own.report, cards)
    return made


def execute(tools, plan, reason="pve3 has ECC errors"):
    return call(tools, "execute_migration", {"plan": plan, "reason": reason})


def test_a_plan_that_holds_becomes_a_request_with_its_reason(tools, cards):
    outcome = execute(tools, HOLDS)
    assert outcome.suspended == Suspension("apr-1", 1, "it waits")
    assert outcome.response.data == {"approval_id": "apr-1", "plan": HOLDS, "executed": 0}
    ((actions, reason),) = cards.proposed
    assert (actions[0].vmid, reason) == (103, "pve3 has ECC errors")
    assert outcome.wrote == ()


@pytest.mark.parametrize(
    ("plan", "code"),
    [
        ([], "INVALID_INPUT"),
        ("migrate 103", "INVALID_INPUT"),
        ([{"action": "destroy", "vmid": 103, "target": "pve1"}], "INVALID_INPUT"),
        ([HOLDS[0] | {"target": "--help"}], "INVALID_INPUT"),
        ([HOLDS[0] | {"source": "pve2"}], "INVALID_INPUT"),
        ([HOLDS[0] | {"vmid": 101}], "INVALID_INPUT"),
        ([HOLDS[0] | {"vmid": 999}], "NOT_FOUND"),
        ([HOLDS[0] | {"target": "pve9"}], "NOT_FOUND"),
    ],
)
def test_no_other_plan_suspends_the_agent(tools, cards, plan, code):
    outcome = execute(tools, plan)
    error = outcome.response.error
    assert error is not None
    assert (outcome.suspended, error.code, error.blocked) == (None, code, True)
    assert cards.proposed == []


def test_without_a_server_the_plan_waits_for_an_approval_that_cannot_be_given_here(project):
    made = tools_in(project)
    own = made.by_name["execute_migration"]
    made.by_name["execute_migration"] = ExecuteMigrationTool(view_of, own.report)
    outcome = execute(made, HOLDS)
    assert outcome.suspended is None
    assert outcome.response.error.code == "APPROVAL_REQUIRED"
    assert "pulsus serve" in outcome.response.error.message


def test_a_full_list_of_cards_is_a_failure_and_does_not_suspend(tools, cards):
    cards.full = True
    outcome = execute(tools, HOLDS)
    assert (outcome.suspended, outcome.response.error.code) == (None, "EXECUTION_FAILED")


def test_it_proposes_and_acts_on_no_resource(tools):
    needs = tools.by_name["execute_migration"].needs({})
    assert needs.only_proposes
    assert needs.targets == ()
