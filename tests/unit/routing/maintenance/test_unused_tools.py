"""Tools that no route used are found, and no tool is called unused without proof."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from pulsus.core.memory.past_routes import PastRoute
from pulsus.routing.maintenance.unused_tools import find_unused, last_used
from tests.ranking import tool

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def test_no_record_of_use_does_not_make_every_tool_unused():
    assert list(find_unused([tool("a/b/c")], {}, {}, now=NOW, days=None)) == []


def test_an_unused_tool_is_noted_if_others_are_used():
    found = list(
        find_unused([tool("a/b/c"), tool("a/b/d")], {"a/b/c": NOW}, {}, now=NOW, days=None)
    )
    assert [(f.code, f.level, f.tools) for f in found] == [("UNUSED", "info", ("a/b/d",))]


def test_a_tool_last_used_before_the_given_days_is_reported_with_the_date():
    used = {"a/b/old": NOW - timedelta(days=40), "a/b/new": NOW - timedelta(days=3)}
    tools = [tool("a/b/old"), tool("a/b/new"), tool("a/b/never")]
    found = list(find_unused(tools, used, {}, now=NOW, days=30))
    assert [(f.tools[0], f.level) for f in found] == [
        ("a/b/old", "warning"),
        ("a/b/never", "warning"),
    ]
    assert "2026-01-20" in found[0].reason


@pytest.mark.parametrize(("outcome", "counts"), [("accepted", True), ("rejected", False)])
def test_only_accepted_routes_count_as_use(outcome, counts):
    past = [PastRoute(NOW, "run-1", None, "do it", ("a/b/c",), outcome)]
    assert last_used(past, {}) == ({"a/b/c": NOW} if counts else {})


def test_feedback_that_was_taken_back_is_no_use():
    given = PastRoute(NOW, "run-1", None, "do it", ("a/b/c",), "accepted", is_feedback=True)
    assert last_used([given], {}) == {"a/b/c": NOW}
    assert last_used([given, replace(given, tools=())], {}) == {}


def test_a_tool_younger_than_the_given_days_is_not_called_unused():
    made = {"a/b/c": NOW - timedelta(days=2)}
    assert list(find_unused([tool("a/b/c")], {}, made, now=NOW, days=30)) == []


def test_a_few_routes_on_record_do_not_make_the_other_tools_unused():
    tools = [tool(f"a/b/c{n}") for n in range(10)]
    assert list(find_unused(tools, {"a/b/c1": NOW}, {}, now=NOW, days=None)) == []
    used = {f"a/b/c{n}": NOW for n in range(8)}
    found = list(find_unused(tools, used, {}, now=NOW, days=None))
    assert [f.tools for f in found] == [("a/b/c8",), ("a/b/c9",)]
