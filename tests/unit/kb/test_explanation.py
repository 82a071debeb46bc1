"""Proofs: every fact with source and age, and the reason why there is no answer."""

import pytest

from pulsus.kb.explanation import explain_goal
from pulsus.kb.query_limits import QueryLimits
from tests.knowledge import NOW, SQUARE, ago, base_of, links, nodes

LIMITS = QueryLimits()


def test_a_path_rests_on_its_nodes_their_health_and_its_links():
    found = explain_goal("can_reach(pve1, pve2)", base_of(SQUARE), NOW, LIMITS)
    (proven,) = found.answers
    assert [note.text for note in proven.facts] == [
        "node pve1 in rack r1 is online (source0, 30 s old)",
        "health of pve1 is nominal (source0, 30 s old)",
        "link pve1 – pve2 costs 1 (source0, 30 s old)",
        "node pve2 in rack r1 is online (source0, 30 s old)",
        "health of pve2 is nominal (source0, 30 s old)",
    ]
    assert {note.state for note in proven.facts} == {"fresh"}


def test_an_unknown_health_shows_the_fact_that_is_too_old():
    base = base_of({"nodes": nodes("a", observed_at=ago(720))})
    (proven,) = explain_goal("node_health(a, S)", base, NOW, LIMITS).answers
    assert proven.bindings == {"S": "unknown"}
    assert proven.facts[-1].text == (
        "health of a is nominal (source0, 12 min old, expired after 5 min: not used)"
    )


OLD_LINK = [{"a": "a", "b": "b", "cost": 1, "observed_at": ago(7200)}]


@pytest.mark.parametrize(
    ("document", "goal", "reason"),
    [
        (SQUARE, "can_reach(pve1, pve3)", "the health of pve3 is degraded, so no path may use it"),
        (SQUARE, "node_health(pve11, S)", "no fresh fact knows pve11; the nearest name is pve1"),
        (SQUARE, "live_link(pve1, pve4, C)", "no fresh link leads from pve1 to pve4"),
        ({"nodes": nodes("a") + nodes("b", status="offline")}, "can_reach(a, b)", "b is offline"),
        (
            {"nodes": nodes("a", "b"), "links": OLD_LINK},
            "can_reach(a, b)",
            "a – b is not used: the link has expired",
        ),
        (
            {
                "nodes": [*nodes("a", "c"), {"name": "b"}],
                "links": links(("a", "b", 1), ("b", "c", 1)),
            },
            "can_reach(a, c)",
            "a – b is not used: the health of b is unknown, so no path may use it",
        ),
        ({"vms": [{"vmid": 7}]}, "current_vm_host(7, H)", "VM 7 does not run"),
        (
            {"observed_at": ago(90_000), "nodes": nodes("a")},
            "known_node(a)",
            "every fact that a exists is too old, or from the future",
        ),
        (SQUARE, "node_metric(pve1, cpu, V)", "no fresh fact fits the goal"),
    ],
)
def test_a_goal_without_an_answer_has_a_reason(document, goal, reason):
    found = explain_goal(goal, base_of(document), NOW, LIMITS)
    assert found.answers == ()
    assert reason in found.reasons


def test_an_expired_figure_is_shown_with_its_age():
    metric = {"node": "a", "metric": "cpu", "value": 5, "at": ago(3600 * 3)}
    found = explain_goal(
        "node_metric(a, cpu, V)", base_of({"nodes": nodes("a"), "metrics": [metric]}), NOW, LIMITS
    )
    assert "cpu of a is 5 (source0, 3 h old, expired after 5 min: not used)" in [
        note.text for note in found.considered
    ]
