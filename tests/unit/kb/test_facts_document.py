"""A facts document: every fault is refused with its place, the value and the fix."""

import pytest

from pulsus.errors import FactsInvalid
from tests.knowledge import ago, facts_of, links, nodes

TEXT = {"node": "a", "metric": "m", "value": "1", "at": ago(1)}
FAULTS = [
    ({"node": []}, "node", "'nodes'"),
    ({"nodes": [{}]}, "nodes[0].name", "add 'name'"),
    ({"nodes": [{"name": "all"}]}, "nodes[0].name", "rename"),
    ({"nodes": [{"name": "a", "helth": "nominal"}]}, "nodes[0].helth", "'health'"),
    ({"nodes": nodes("a", "a")}, "nodes[1]", "remove"),
    ({"links": links(("a", "a", 1))}, "links[0].b", "another"),
    ({"links": links(("a", "b", 1), ("b", "a", 2))}, "links[1]", "remove"),
    ({"alerts": [{"node": "a", "condition": "c"}]}, "alerts[0].at", "add 'at'"),
    ({"vms": [{"vmid": 1}, {"vmid": 1}]}, "vms[1]", "remove"),
    ({"metrics": [{"node": "a", "metric": "m", "value": 1}]}, "metrics[0].at", "add 'at'"),
]
WRONG_VALUES = [
    ([], "", "an object"),
    ({"nodes": {}}, "nodes", "a list"),
    ({"nodes": ["a"]}, "nodes[0]", "an object"),
    ({"nodes": [{"name": 5}]}, "nodes[0].name", "a name of at most 128 letters"),
    ({"nodes": [{"name": "a b"}]}, "nodes[0].name", "a name of at most 128 letters"),
    ({"nodes": [{"name": "p\u0430ve"}]}, "nodes[0].name", "a name of at most 128 letters"),
    ({"nodes": [{"name": "a", "health": "fine"}]}, "nodes[0].health", "one of nominal"),
    ({"nodes": [{"name": "a", "status": "up"}]}, "nodes[0].status", "one of online"),
    ({"nodes": [{"name": "a", "ram_mib": "5"}]}, "nodes[0].ram_mib", "a whole number from"),
    ({"nodes": [{"name": "a", "ram_mib": True}]}, "nodes[0].ram_mib", "a whole number from"),
    ({"nodes": [{"name": "a", "ram_mib": 0}]}, "nodes[0].ram_mib", "a whole number from"),
    (
        {"nodes": [{"name": "a", "observed_at": "2026-03-01T12:00"}]},
        "nodes[0].observed_at",
        "an ISO 8601 time with its zone",
    ),
    (
        {"nodes": [{"name": "a", "observed_at": "soon"}]},
        "nodes[0].observed_at",
        "an ISO 8601 time with its zone",
    ),
    ({"nodes": [{"name": "a", "ttl_seconds": 0}]}, "nodes[0].ttl_seconds", "a number from 1"),
    ({"links": links(("a", "b", 0))}, "links[0].cost", "a number from"),
    ({"links": links(("a", "b", float("nan")))}, "links[0].cost", "a number from"),
    ({"links": links(("a", "b", float("inf")))}, "links[0].cost", "a number from"),
    (
        {"links": [{"a": "a", "b": "b", "cost": 1, "directed": "yes"}]},
        "links[0].directed",
        "true or false",
    ),
    (
        {"alerts": [{"node": "a", "condition": "c", "at": 5}]},
        "alerts[0].at",
        "an ISO 8601 time with its zone",
    ),
    ({"vms": [{"vmid": "101"}]}, "vms[0].vmid", "a whole number from"),
    ({"vms": [{"vmid": 1, "priority": -1}]}, "vms[0].priority", "a whole number from"),
    ({"metrics": [TEXT]}, "metrics[0].value", "a number from"),
    ({"observed_at": None}, "observed_at", "an ISO 8601 time with its zone"),
]


@pytest.mark.parametrize(("document", "place", "fix"), FAULTS)
def test_a_fault_is_refused_with_place_and_fix(document, place, fix):
    with pytest.raises(FactsInvalid) as caught:
        facts_of(document)
    assert caught.value.details["place"] == place
    assert fix in caught.value.hint


@pytest.mark.parametrize(("document", "place", "allowed"), WRONG_VALUES)
def test_a_wrong_value_is_refused_with_its_place_and_what_it_must_be(document, place, allowed):
    with pytest.raises(FactsInvalid) as caught:
        facts_of(document)
    assert caught.value.details["place"] == place
    assert f", and must be {allowed}" in caught.value.message
    assert caught.value.hint == "correct that value"


def test_a_message_shows_no_more_than_the_start_of_a_long_value():
    with pytest.raises(FactsInvalid) as caught:
        facts_of({"nodes": [{"name": "x" * 10_000}]})
    assert len(caught.value.message) < 300


@pytest.mark.parametrize("key", ["\x1b[2J", "a\tb", "\u202e", "k" * 10_000])
def test_an_unknown_key_is_shown_escaped_and_cut(key):
    for document in ({key: 1}, {"nodes": [{"name": "a", key: 1}]}):
        with pytest.raises(FactsInvalid) as caught:
            facts_of(document)
        assert caught.value.message.replace("…", "").isprintable()
        assert caught.value.message.replace("…", "").isascii()
        assert len(caught.value.message) < 300


def test_a_document_without_a_time_holds_and_one_with_a_time_expires():
    (node, health) = facts_of({"nodes": nodes("a")})
    assert node.provenance.ttl_seconds is health.provenance.ttl_seconds is None
    (node, health) = facts_of({"observed_at": ago(5), "nodes": nodes("a")})
    assert (node.provenance.ttl_seconds, health.provenance.ttl_seconds) == (86_400, 300)
    (node, health) = facts_of({"nodes": nodes("a", observed_at=ago(5))})
    assert (node.provenance.ttl_seconds, health.provenance.ttl_seconds) == (None, 300)


def test_a_node_without_a_health_gives_no_health_fact():
    assert [fact.kind for fact in facts_of({"nodes": [{"name": "a"}]})] == ["node"]


def test_an_unknown_key_is_named_once():
    with pytest.raises(FactsInvalid, match=r"^hosts: there is no such key$"):
        facts_of({"hosts": []})
