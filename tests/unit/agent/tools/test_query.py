"""`pulsus_query` and `pulsus_discovery`."""

from tests.agent_calls import NOW, call, code, data


def test_the_host_is_found_by_each_of_its_names_and_is_marked_as_explicit(tools):
    host = tools.system.host
    for name in (host.id, host.name, "localhost"):
        outcome = call(tools, "pulsus_query", {"action": "get", "target_host": name})
        shown = data(outcome)
        assert (shown["type"], shown["id"], shown["status"]) == ("host", host.id, "running")
        assert 0 <= shown["memory"]["percent"] <= 100
        assert outcome.found == (host,)
        assert outcome.single
        assert outcome.read == (host.id,)


def test_every_result_says_where_and_when_it_was_observed(tools):
    outcome = call(tools, "pulsus_query", {"action": "health"})
    meta = outcome.response.meta
    assert meta["host"] == tools.system.host.name
    assert meta["execution_context"] == "local"
    assert meta["observed_at"] == NOW.isoformat(timespec="seconds")


def test_an_unknown_resource_is_not_found_and_registers_nothing(tools):
    outcome = call(tools, "pulsus_query", {"action": "get", "target_host": "no-such-thing"})
    assert code(outcome) == "NOT_FOUND"
    assert outcome.found == ()
    assert outcome.read == ()


def test_a_listing_registers_resources_without_marking_or_verifying_one(tools):
    outcome = call(tools, "pulsus_query", {"action": "list", "kind": "host"})
    assert data(outcome)["total"]["hosts"] == 1
    assert outcome.found == (tools.system.host,)
    assert not outcome.single
    assert outcome.read == ()


def test_a_search_finds_the_host_by_a_part_of_its_name(tools):
    name = tools.system.host.name
    outcome = call(tools, "pulsus_query", {"action": "search", "query": name, "kind": "host"})
    assert [each["name"] for each in data(outcome)["matches"]] == [name]


def test_kinds_without_an_inventory_are_unavailable(tools):
    needs = tools.by_name["pulsus_query"].needs({"action": "list", "kind": "vm"})
    assert "'vm'" in needs.unavailable


def test_the_topology_counts_what_it_lists(tools):
    shown = data(call(tools, "pulsus_query", {"action": "topology"}))
    services = shown["nodes"][0]["services"]
    assert shown["summary"]["total_nodes"] == 1
    assert shown["summary"]["total_services"] == len(services)


def test_discovery_of_one_resource_is_explicit(tools):
    host = tools.system.host
    args = {"action": "get", "target_resource_id": host.id}
    outcome = call(tools, "pulsus_discovery", args)
    assert data(outcome)["resource_id"] == host.id
    assert outcome.found == (host,)
    assert outcome.single


def test_discovery_of_a_process_names_its_ports(tools):
    import os
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        args = {"action": "get", "target_host": str(os.getpid())}
        shown = data(call(tools, "pulsus_discovery", args))
        assert {"port": server.getsockname()[1], "protocol": "tcp"} in shown["ports"]
