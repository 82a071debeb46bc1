"""Unreachable tools, and tools that take the requests of others, are found."""

import pytest

from pulsus.core.rankers.lexical_ranker import Ranker
from pulsus.routing.evaluation.dataset import GoldenRow
from pulsus.routing.maintenance.ranking_conflicts import (
    MOST,
    golden_texts,
    intent_collisions,
    probe_tools,
    reachability_findings,
    request_texts,
)
from pulsus.routing.maintenance.shared_intents import find_shared_intents
from tests.ranking import CATALOGUE, tool


def found(tools, golden=None):
    index = Ranker.build(tools)

    def first(text, wanted):
        ranked = index.rank(text, limit=1)
        return ranked[0].tool.id if ranked else None

    return list(reachability_findings(list(probe_tools(tools, first, golden or {}))))


def codes(tools, golden=None):
    return {(f.code, f.tools[0]) for f in found(tools, golden) if f.level != "info"}


def test_tools_that_differ_are_no_findings():
    assert codes(CATALOGUE) == set()


def test_two_tools_of_one_summary_are_near_duplicates_reported_once():
    twins = (
        tool("a/disks/show_usage", "Show how full each disk is.", kind="read"),
        tool("b/disks/tell_fill", "Show how full each disk is.", kind="read"),
    )
    near = [f for f in found((*twins, *CATALOGUE[3:6])) if f.code == "NEAR_DUPLICATE"]
    assert [set(f.tools) for f in near] == [{twins[0].id, twins[1].id}]
    assert "Show how full each disk is." in near[0].evidence


def test_a_tool_whose_words_are_all_taken_cannot_be_reached():
    strong = tool("a/b/list_ports", "List ports.", kind="read", intents=("ports", "list"))
    weak = tool("a/b/ports", "List ports.", kind="read", path=strong.path.with_name("zz.py"))

    def first(text, wanted):
        return strong.id

    told = list(reachability_findings(list(probe_tools([strong, weak], first, {}))))
    assert {(f.code, f.tools) for f in told} == {
        ("UNREACHABLE", (weak.id, strong.id)),
        ("NEAR_DUPLICATE", (weak.id, strong.id)),
    }


def test_a_tool_without_a_word_of_its_own_is_found_by_nothing_but_its_name():
    assert ("NAME_ONLY", "a/b/xyzzy") in codes((tool("a/b/xyzzy"), *CATALOGUE))


@pytest.mark.parametrize(("lost", "level"), [(1, "info"), (3, "warning")])
def test_one_request_lost_is_a_note_and_many_are_a_warning(lost, level):
    one, two = tool("a/b/one", "Do one."), tool("a/b/two", "Do two.")
    golden = {one.id: tuple(f"request {n}" for n in range(10))}

    def first(text, wanted):
        taken = text in {f"request {n}" for n in range(lost)}
        return two.id if taken else wanted

    (told,) = reachability_findings(list(probe_tools([one, two], first, golden)))
    assert (told.code, told.level) == ("TAKES_REQUESTS", level)
    assert f"takes {lost} of its 10 requests" in told.reason


@pytest.mark.parametrize("again", [(), ("Please ONE!",)])
def test_one_request_lost_is_no_evidence_that_two_tools_are_duplicates(again):
    one, two = tool("a/b/one", "Do one."), tool("a/b/two", "Do two.")
    golden = {one.id: ("one please", *again)}

    def first(text, wanted):
        return two.id if text in golden[one.id] else wanted

    (told,) = reachability_findings(list(probe_tools([one, two], first, golden)))
    assert (told.code, told.level) == ("TAKES_REQUESTS", "info")
    assert "not evidence yet" in told.reason


def test_two_requests_of_different_words_are_evidence_of_duplicates():
    one, two = tool("a/b/one", "Do one."), tool("a/b/two", "Do two.")
    golden = {one.id: ("first wish", "second wish")}

    def first(text, wanted):
        return two.id if "wish" in text else wanted

    (told,) = reachability_findings(list(probe_tools([one, two], first, golden)))
    assert (told.code, told.level) == ("NEAR_DUPLICATE", "warning")


def collided(one, two, winner):
    return list(
        intent_collisions(find_shared_intents([one, two]), lambda text, wanted: winner or wanted)
    )


def test_a_shared_intent_is_reported_for_the_tool_that_loses():
    one = tool("a/b/one", intents=("open ports",))
    two = tool("a/b/two", intents=("open ports",))
    (found,) = collided(one, two, two.id)
    assert (found.code, found.level) == ("INTENT_COLLISION", "warning")
    assert found.tools == (one.id, two.id)
    assert found.reason == "a/b/two claims the same and comes first: 'open ports'"
    (other,) = collided(one, two, one.id)
    assert other.tools == (two.id, one.id)


def test_an_intent_that_each_tool_wins_as_it_writes_it_is_no_finding():
    one = tool("a/b/one", intents=("open ports",))
    two = tool("a/b/two", intents=("ports opened",))
    assert collided(one, two, None) == []
    assert collided(one, two, "a/b/third") == []


def test_golden_requests_judge_a_tool_rather_than_its_own_words():
    one, two = tool("a/b/one", "Do one."), tool("a/b/two", "Do two.")

    def first(text, wanted):
        return two.id if text == "Do one." else wanted

    assert (
        list(reachability_findings(list(probe_tools([one, two], first, {one.id: ("please",)}))))
        == []
    )


def test_golden_rows_without_exactly_one_tool_do_not_count():
    rows = (
        GoldenRow("q1", ("a/b/c",), "select"),
        GoldenRow("q2", ("a/b/c", "a/b/d"), "compose"),
        GoldenRow("q3", (), "generate"),
        GoldenRow("q4", ("a/b/c", "a/b/d"), None, any_of=True),
    )
    assert golden_texts(rows) == {"a/b/c": ("q1",)}


def test_a_long_manifest_does_not_make_the_check_slow():
    one = tool("a/b/c", "Sum.", intents=tuple(f"intent {n}" for n in range(100)))
    assert len(request_texts(one)) == MOST
    assert request_texts(one)[:2] == ("c", "Sum.")
