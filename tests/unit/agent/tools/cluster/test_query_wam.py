"""`query_wam`: typed answers, and a refusal for every goal or name that is not known."""

import pytest

from pulsus.agent.tools.cluster.query_wam import KnowledgeAnswer, QueryWamTool
from pulsus.kb.goal_engine import answer
from pulsus.kb.query_limits import QueryLimits
from tests.agent_calls import call, tools_in
from tests.knowledge import NOW, SQUARE, base_of
from tests.project import make

BASE = base_of(SQUARE)


@pytest.fixture(scope="module")
def tools(tmp_path_factory):
    made = tools_in(make(tmp_path_factory.mktemp("wam") / "project", warm=False))
    names = tuple(BASE.nodes)

    def ask(goal):
        return KnowledgeAnswer(answer(goal, BASE, NOW, QueryLimits()), names)

    own = made.by_name["query_wam"]
    made.by_name["query_wam"] = QueryWamTool(ask, own.report)
    return made


def response(tools, goal):
    return call(tools, "query_wam", {"goal": goal}).response


def test_the_answers_have_the_values_of_the_variables(tools):
    found = response(tools, "live_shortest_path(pve1, pve4, Path)")
    assert found.ok
    assert found.data == {
        "goal": "live_shortest_path(pve1, pve4, Path)",
        "answers": [{"Path": ["pve1", "pve2", "pve4"]}],
        "truncated": False,
    }
    assert response(tools, "can_reach(pve1, pve3)").data["answers"] == []


@pytest.mark.parametrize(
    "goal",
    [
        "node_health(pve1, S), assertz(x)",
        "shell(ls)",
        "node_health('pve1\\x29', S)",
        "node_health(pve1",
        "node_health(101, S)",
        "node_he\u0430lth(pve1, S)",
    ],
)
def test_a_goal_that_is_not_allowed_is_invalid_input(tools, goal):
    found = response(tools, goal)
    assert (found.ok, found.error.code) == (False, "INVALID_INPUT")


def test_an_unknown_name_is_not_found_and_similar_ones_are_offered(tools):
    found = response(tools, "node_health(pve11, S)")
    assert (found.ok, found.error.code) == (False, "NOT_FOUND")
    assert found.error.details["suggestions"][0] == "pve1"
    assert "unknown" not in found.error.message


def test_it_reads_and_acts_on_no_resource(tools):
    outcome = call(tools, "query_wam", {"goal": "known_node(N)"})
    assert (outcome.read, outcome.wrote, outcome.found) == ((), (), ())
    assert tools.by_name["query_wam"].needs({"goal": "x"}).targets == ()
