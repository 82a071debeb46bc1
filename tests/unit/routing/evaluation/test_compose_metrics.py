"""Figures of composed plans, against figures worked out by hand."""

import pytest

from pulsus.routing.evaluation.compose_cases import ComposeCase
from pulsus.routing.evaluation.compose_metrics import measure

CHAIN = ComposeCase("one", ("a", "b", "c"), frozenset({(0, 1), (1, 2)}), line=1)
PAIR = ComposeCase("two", ("a", "b"), frozenset({(0, 1)}), line=2)


def test_f1_is_summed_over_all_rows():
    # Nodes: 2 of 3 found and 2 of 2, 5 wanted. Edges: 1 of 1 found and 1 of 1, 3 wanted.
    report = measure([CHAIN, PAIR], [(("a", "b"), {(0, 1)}), (("a", "b"), {(0, 1)})])
    assert report.value("node_f1") == pytest.approx(2 * 4 / (4 + 5))
    assert report.value("edge_f1") == pytest.approx(2 * 2 / (2 + 3))
    assert report.value("exact") == 0.5


def test_a_tool_that_occurs_twice_counts_twice():
    twice = ComposeCase("q", ("a", "a", "b"), frozenset({(0, 2), (1, 2)}))
    report = measure([twice], [(("a", "b"), {(0, 1)})])
    assert report.counts["nodes_right"] == 2
    assert report.counts["edges_right"] == 1
    assert report.value("exact") == 0


def test_the_same_tools_in_another_order_are_not_exact():
    report = measure([PAIR], [(("b", "a"), {(0, 1)})])
    assert report.value("node_f1") == 1
    assert [failure.what for failure in report.failures] == ["order"]


def test_a_wrong_edge_is_told_as_such():
    report = measure([CHAIN], [(("a", "b", "c"), {(0, 1)})])
    assert report.failures[0].what == "edges"
    assert report.failures[0].expected_edges == (("a", "b"), ("b", "c"))


def test_edges_of_plans_without_edges_are_not_measured():
    report = measure([ComposeCase("q", ("a",), frozenset())], [(("a",), set())])
    assert report.value("edge_f1") is None


def test_intervals_hold_the_value_and_repeat():
    cases, answers = [CHAIN, PAIR] * 10, [(("a", "b"), {(0, 1)})] * 20
    first, second = measure(cases, answers), measure(cases, answers)
    assert first == second
    for figure in first.figures:
        assert figure.low is not None
        assert figure.high is not None
        assert figure.value is not None
        assert figure.low <= figure.value <= figure.high
        assert figure.low < figure.high
