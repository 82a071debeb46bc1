"""The context of a prompt: what was asked, within a size, and from fresh facts only."""

import pytest

from pulsus.errors import KnowledgeTimeout
from pulsus.kb.goal_engine import answer
from pulsus.kb.query_limits import QueryDeadline, QueryLimits
from pulsus.kb.rag_context import HEADING, rag_context
from tests.knowledge import NOW, SQUARE, ago, base_of, nodes

CLUSTER = {
    **SQUARE,
    "alerts": [
        {"node": "pve3", "condition": "disk_full", "at": ago(20)},
        {"node": "pve3", "condition": "old", "at": ago(400)},
    ],
    "vms": [{"vmid": 101, "host": "pve1"}],
    "metrics": [{"node": "pve1", "metric": "cpu", "value": 93.5, "at": ago(5)}],
}


def context(target, document=CLUSTER):
    view = base_of(document).at(NOW)
    return rag_context(view, target, QueryDeadline(QueryLimits()))


def test_the_context_of_the_cluster_has_health_alerts_and_topology():
    text = context("all")
    assert text.startswith(f"{HEADING}\nState of all at 2026-03-01T12:00:00Z.")
    for line in (
        "- 1 of 4 nodes degraded",
        "- 3 of 4 nodes nominal",
        "- pve3: degraded",
        "- pve3: disk_full, 20 s ago",
        "- 3 live nodes, 2 live links",
        "- 1 virtual machine running",
        "- rack r1: 3 nodes",
    ):
        assert line in text.splitlines()
    assert "old" not in text


def test_the_context_of_a_node_has_its_own_facts_only():
    text = context("pve1")
    for line in (
        "- pve1: nominal, seen 30 s ago",
        "- online, rack r1",
        "- cpu: 93.5",
        "- pve2 at cost 1",
        "- VM 101",
    ):
        assert line in text.splitlines()
    assert "pve4" not in text


def test_a_large_cluster_still_gives_a_short_context():
    rows = [{"name": f"n{n}", "rack": f"r{n}", "health": "critical"} for n in range(5000)]
    alerts = [{"node": f"n{n}", "condition": "c", "at": ago(1)} for n in range(5000)]
    text = context("all", {"nodes": rows, "alerts": alerts})
    assert len(text) < 2000
    assert "- and 4989 more" in text


def test_a_context_ends_when_its_time_is_over():
    ticks = iter(range(0, 1000, 10))
    with pytest.raises(KnowledgeTimeout):
        rag_context(
            base_of(CLUSTER).at(NOW), "all", QueryDeadline(QueryLimits(clock=lambda: next(ticks)))
        )


def test_the_predicate_gives_the_same_text():
    found = answer("rag_context:gather_rag_context(pve1, C)", base_of(CLUSTER), NOW)
    assert found.answers == ({"C": context("pve1")},)
    unknown = answer("gather_rag_context(pve9, C)", base_of({"nodes": nodes("a")}), NOW)
    assert (unknown.answers, unknown.unknown) == ((), ("pve9",))
