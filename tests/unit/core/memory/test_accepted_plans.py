"""The latest accepted plan for a request counts, until feedback ends it."""

from datetime import UTC, datetime, timedelta

from pulsus.core.memory.accepted_plans import MOST_PLANS, list_accepted_plans
from pulsus.core.memory.past_routes import PastRoute

NOW = datetime(2026, 3, 1, tzinfo=UTC)
TWO = ("a/b/one", "a/b/two")


def route(number, request="ready it", tools=TWO, outcome="accepted", **more):
    at = NOW + timedelta(hours=number)
    return PastRoute(at, f"run-{number}", None, request, tools, outcome, **more)


def kept(*routes):
    return [(plan.request, plan.tools) for plan in list_accepted_plans(routes)]


def test_the_latest_plan_for_a_request_counts():
    newer = ("a/b/two", "a/b/one")
    assert kept(route(1), route(2, tools=newer)) == [("ready it", newer)]


def test_a_run_that_only_answered_or_failed_makes_no_plan_and_ends_none():
    assert kept(route(1, outcome="ran"), route(2, outcome="failed")) == []
    assert kept(route(1), route(2, outcome="failed")) == [("ready it", TWO)]


def test_a_rejection_or_a_single_tool_ends_an_earlier_plan():
    assert kept(route(1), route(2, outcome="rejected")) == []
    assert kept(route(1), route(2, tools=("a/b/one",))) == []


def test_feedback_with_no_right_tool_ends_a_plan():
    said = route(2, tools=(), outcome="rejected", wrong=TWO, is_feedback=True)
    assert kept(route(1), said) == []


def test_feedback_on_the_same_words_with_another_value_ends_a_plan():
    first = route(1, request="ready app.yaml for the launch")
    said = {"tools": (), "outcome": "rejected", "wrong": TWO, "is_feedback": True}
    assert kept(first, route(2, request="ready db.yaml for the launch", **said)) == []
    assert kept(first, route(2, request="ready db.yaml for the night", **said)) != []


def test_feedback_that_was_taken_back_ends_no_plan():
    said = route(2, tools=(), outcome="rejected", wrong=TWO, is_feedback=True)
    undone = route(2, tools=(), is_feedback=True)
    assert kept(route(1), said, undone) == [("ready it", TWO)]
    assert kept(route(1), undone) == [("ready it", TWO)]


def test_old_plans_do_not_slow_every_request():
    many = [route(n, request=f"ready number{chr(97 + n % 26)}{n} now") for n in range(300)]
    found = kept(*many)
    assert len(found) == MOST_PLANS
    assert found[0][0] == many[-1].request
