"""The answer to the one question decides the route, and a miss shows the nearest tools."""

import json
from pathlib import Path
from typing import Any

import pytest

from pulsus import bootstrap
from pulsus.errors import LowConfidence
from pulsus.routing.delivery.route_run import RouteOptions
from tests.project import pulsus_here

pytestmark = pytest.mark.seconds

ROOT = Path(__file__).parents[2]

VAGUE = (
    "sockets",
    "logs",
    "files",
    "users",
    "show usage",
    "errors",
    "what is slow",
    "status",
    "is the server healthy",
    "space",
)
"""Requests that are about more than one shipped tool."""


class Answering:
    """A person who gives one answer, and remembers the question."""

    def __init__(self, answer):
        self.answer = answer
        self.question = None

    def clarify(self, question, understands):
        self.question = question
        return self.answer


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    logs = tmp_path_factory.mktemp("logs")
    return bootstrap.build(ROOT, {"cache_enabled": False, "log_dir": str(logs)})


def route(app, request, answer):
    """Return the outcome of a route that only inspects, and the question that was asked."""
    person = Answering(answer)
    return app.router(person).route(request, RouteOptions(plan=True)), person.question


@pytest.mark.seconds
@pytest.mark.parametrize("request_text", VAGUE)
def test_every_answer_to_the_question_selects_its_tool(app, request_text):
    before, asked = route(app, request_text, None)
    assert asked is not None
    for number, option in enumerate(asked.options, start=1):
        outcome, _ = route(app, request_text, str(number))
        assert [tool.id for tool in outcome.decision.selected] == [option]
        assert (outcome.candidates[0].tool.id, outcome.candidates[0].p) == (option, 1.0)
        assert outcome.intent.confidence == 1.0
        assert option == f"{outcome.intent.domain or 'shared'}/{outcome.intent.action}/" + (
            outcome.decision.selected[0].name
        )
    assert before.clarification.answer is None


def test_a_domain_as_answer_ranks_inside_its_folders(app):
    outcome, _ = route(app, "logs", "web")
    assert [tool.id for tool in outcome.decision.selected] == ["web/logs/access_log_summary"]
    assert {r.tool.domain for r in outcome.candidates} == {"web"}
    assert sum(r.p for r in outcome.candidates) == pytest.approx(1.0)


def test_the_answer_none_of_these_ends_without_a_tool(app):
    outcome, _ = route(app, "errors", "0")
    assert outcome.decision.selected == ()
    assert outcome.exit_status == 5


def test_the_question_names_tools_and_says_what_they_do(app):
    _, asked = route(app, "sockets", None)
    assert asked.default == asked.options[0] == "process/files/open_files"
    assert "network/ports/listening_ports" in asked.options
    summaries = {tool.id: tool.summary for tool in app.catalogue.tools}
    assert asked.labels[0].startswith(summaries[asked.options[0]][:20])


def test_a_clear_request_asks_nothing(app):
    assert route(app, "how much memory and swap is free", None)[1] is None


@pytest.mark.parametrize("flags", [(), ("--plan",), ("--non-interactive",)])
def test_a_miss_shows_the_three_nearest_tools_and_names_the_model_last(flags, tmp_path):
    env = {"PULSUS_LOG_DIR": str(tmp_path / "logs")}
    done = pulsus_here(ROOT, "route", "order a pizza", *flags, env=env)
    assert done.code == 5
    shown = done.out + done.err
    near = shown[shown.index("nearest tools:") :].splitlines()[1:4]
    assert near[0].split()[1] == "shared/sort/top_rows"
    assert near[0].endswith("Sort the rows of a result by a field and keep the first N.")
    assert all("/" in line and "p=0." in line for line in near)
    assert done.err.index("nearest tools is right") < done.err.index("set model.base_url")
    assert done.err.index("set model.base_url") < done.err.index("--scaffold")


def test_explain_shows_the_nearest_tools_of_a_miss():
    shown = pulsus_here(ROOT, "explain", "order a pizza").out
    assert "Sort the rows of a result by a field and keep the first N." in shown


def test_json_has_the_summary_of_every_candidate(tmp_path):
    env = {"PULSUS_LOG_DIR": str(tmp_path / "logs")}
    done = pulsus_here(ROOT, "route", "order a pizza", "--output", "json", env=env)
    best = done.json["candidates"][0]
    assert best["summary"] == "Sort the rows of a result by a field and keep the first N."
    assert best["p_before_answer"] is None


@pytest.mark.parametrize(
    ("request_text", "tool"),
    [
        ("open ports", "network/ports/listening_ports"),
        ("who can log in", "system/users/local_users"),
        ("who can login", "system/users/local_users"),
        ("chekc port 22", "network/ports/check_port"),
        ("listning ports", "network/ports/listening_ports"),
        ("top", "process/usage/top_processes"),
        ("netstat", "network/ports/listening_ports"),
        ("port 22 on bastion", "network/ports/check_port"),
        ("is port 22 open on web01", "network/ports/check_port"),
    ],
)
def test_a_short_or_misspelt_request_selects_its_tool(app, request_text, tool):
    outcome, _ = route(app, request_text, None)
    assert [found.id for found in outcome.decision.selected] == [tool]


@pytest.mark.parametrize(
    ("request_text", "first"),
    [
        ("memroy", "memory/usage/memory_summary"),
    ],
)
def test_a_short_request_that_stays_unclear_asks_for_the_right_tool_first(app, request_text, first):
    _, asked = route(app, request_text, None)
    assert asked.options[0] == first


class Unclear(Answering):
    """A person whose answers are not understood."""

    def clarify(self, question, understands):
        self.question = question
        raise LowConfidence("no answer was understood")


def test_a_question_whose_answers_were_not_understood_is_in_the_trace(tmp_path):
    app: Any = bootstrap.build(ROOT, {"cache_enabled": False, "log_dir": str(tmp_path)})
    person = Unclear(None)
    with pytest.raises(LowConfidence):
        app.router(person).route("show usage", RouteOptions(plan=True))
    (trace,) = tmp_path.glob("runs/*/steps.log")
    events = [json.loads(line) for line in trace.read_text("utf-8").splitlines()]
    (asked,) = [each for each in events if each["phase"] == "clarify"]
    assert person.question is not None
    assert asked["question"] == person.question.in_one_line
    assert asked["understood"] is False
