"""Answers to goals: fresh facts only, in a fixed order, within limits."""

from datetime import timedelta

import pytest

from pulsus.errors import GoalInvalid, GoalRefused, KnowledgeTimeout
from pulsus.kb.fact_base import FactBase
from pulsus.kb.goal_engine import answer, answer_call
from pulsus.kb.query_limits import QueryLimits
from tests.knowledge import NOW, SQUARE, ago, base_of, facts_of, links, nodes

CLUSTER = {
    **SQUARE,
    "alerts": [
        {"node": "pve1", "condition": "disk_full", "at": ago(299)},
        {"node": "pve1", "condition": "cpu_high", "at": ago(10)},
        {"node": "pve2", "condition": "old", "at": ago(300)},
    ],
    "vms": [{"vmid": 101, "host": "pve1"}, {"vmid": 102, "host": None}],
    "metrics": [
        {"node": "pve1", "metric": "cpu", "value": 93.5, "at": ago(10)},
        {"node": "pve2", "metric": "cpu", "value": 1, "at": ago(301)},
    ],
}
BASE = base_of(CLUSTER)


def ask(goal, base=BASE, now=NOW, **limits):
    return [dict(each) for each in answer(goal, base, now, QueryLimits(**limits)).answers]


@pytest.mark.parametrize(
    ("goal", "answers"),
    [
        ("known_node(N)", [{"N": f"pve{n}"} for n in (1, 2, 3, 4)]),
        ("proxmox_topology:known_node(pve1)", [{}]),
        ("node_health(pve3, S)", [{"S": "degraded"}]),
        ("live_state:node_health(N, nominal)", [{"N": f"pve{n}"} for n in (1, 2, 4)]),
        ("cluster_aggregator:query_single_node_health(pve1, H)", [{"H": "nominal"}]),
        ("live_link(pve1, B, C)", [{"B": "pve2", "C": 1}]),
        ("live_link(pve2, pve1, C)", [{"C": 1}]),
        ("live_link(A, A, C)", []),
        ("can_reach(pve1, pve4)", [{}]),
        ("can_reach(pve1, pve3)", []),
        ("can_reach(X, pve4)", [{"X": "pve1"}, {"X": "pve2"}, {"X": "pve4"}]),
        ("live_shortest_path(pve1, pve4, P)", [{"P": ("pve1", "pve2", "pve4")}]),
        ("live_shortest_path(pve1, pve1, P)", [{"P": ("pve1",)}]),
        ("active_alerts(pve1, L)", [{"L": ("cpu_high", "disk_full")}]),
        ("active_alerts(pve2, L)", [{"L": ()}]),
        ("current_vm_host(101, H)", [{"H": "pve1"}]),
        ("current_vm_host(102, H)", []),
        ("current_vm_host(V, pve1)", [{"V": 101}]),
        ("live_state:node_metric(N, cpu, V)", [{"N": "pve1", "V": 93.5}]),
        ("node_health(_, S)", [{"S": "nominal"}, {"S": "degraded"}]),
        ("known_node(_)", [{}]),
    ],
)
def test_a_goal_has_its_answers(goal, answers):
    assert ask(goal) == answers


def test_an_old_health_is_unknown_and_breaks_links_but_the_node_stays_known():
    rows = nodes("a", "b")
    rows[1] |= {"observed_at": ago(400)}
    base = base_of({"nodes": rows, "links": links(("a", "b", 1))})
    assert ask("node_health(b, S)", base) == [{"S": "unknown"}]
    assert ask("live_link(a, b, C)", base) == []
    assert ask("can_reach(a, b)", base) == []


def test_an_old_link_is_not_used():
    rows = [{"a": "a", "b": "b", "cost": 1, "observed_at": ago(50), "ttl_seconds": 60}]
    base = base_of({"nodes": nodes("a", "b"), "links": rows})
    assert ask("can_reach(a, b)", base) == [{}]
    assert ask("can_reach(a, b)", base, NOW + timedelta(seconds=9)) == [{}]
    assert ask("can_reach(a, b)", base, NOW + timedelta(seconds=10)) == []
    assert ask("can_reach(a, b)", base, NOW) == [{}]  # the kept topology is not that of later


def test_the_newest_fresh_fact_counts_and_an_older_one_only_after_it_expired():
    lasting = {"nodes": nodes("a")}
    measured = {
        "observed_at": ago(20),
        "ttl_seconds": 60,
        "nodes": [{"name": "a", "health": "critical"}],
    }
    base = base_of(lasting, measured)
    assert ask("node_health(a, S)", base) == [{"S": "critical"}]
    assert ask("can_reach(a, a)", base) == []
    later = NOW + timedelta(seconds=60)
    assert ask("node_health(a, S)", base, later) == [{"S": "nominal"}]
    assert ask("can_reach(a, a)", base, later) == [{}]


def test_a_fact_from_the_future_is_not_used_but_a_clock_may_differ_a_little():
    ahead = {"nodes": [{"name": "a", "health": "nominal", "observed_at": ago(-61)}]}
    assert ask("node_health(a, S)", base_of(ahead)) == [{"S": "unknown"}]
    assert ask("node_health(a, S)", base_of(ahead), NOW + timedelta(seconds=1)) == [
        {"S": "nominal"}
    ]


def test_an_offline_node_is_on_no_path():
    base = base_of(
        {"nodes": nodes("a") + nodes("b", status="offline"), "links": links(("a", "b", 1))}
    )
    assert ask("live_link(a, b, C)", base) == []


def test_degraded_nodes_count_only_where_the_setting_says_so():
    assert ask("live_link(pve1, B, _)") == [{"B": "pve2"}]
    assert ask("live_link(pve1, B, _)", use_degraded=True) == [{"B": "pve2"}, {"B": "pve3"}]
    assert ask("live_link(pve1, B, _)") == [{"B": "pve2"}]


def test_a_directed_link_leads_one_way():
    rows = [{"a": "a", "b": "b", "cost": 1, "directed": True}]
    base = base_of({"nodes": nodes("a", "b"), "links": rows})
    assert ask("can_reach(a, b)", base) == [{}]
    assert ask("can_reach(b, a)", base) == []
    assert ask("can_reach(X, b)", base) == [{"X": "a"}, {"X": "b"}]


def test_the_cheaper_of_two_links_counts():
    rows = [
        {"a": "a", "b": "b", "cost": 5},
        {"a": "a", "b": "b", "cost": 2, "directed": True},
    ]
    base = base_of({"nodes": nodes("a", "b"), "links": rows})
    assert ask("live_link(a, b, C)", base) == [{"C": 2}]
    assert ask("live_link(b, a, C)", base) == [{"C": 5}]


def test_more_answers_than_allowed_are_cut_and_said():
    found = answer("known_node(N)", BASE, NOW, QueryLimits(max_answers=3))
    assert (len(found.answers), found.truncated) == (3, True)
    found = answer("known_node(N)", BASE, NOW, QueryLimits(max_answers=4))
    assert (len(found.answers), found.truncated) == (4, False)


def test_a_query_ends_when_its_time_is_over():
    ticks = iter(range(1000))
    with pytest.raises(KnowledgeTimeout, match=r"longer than 5 s"):
        answer("can_reach(A, B)", BASE, NOW, QueryLimits(clock=lambda: next(ticks)))


def test_an_unknown_name_is_reported_and_never_has_an_unknown_health():
    found = answer("node_health(pve9, S)", BASE, NOW)
    assert (found.answers, found.unknown) == ((), ("pve9",))
    assert answer("current_vm_host(999, H)", BASE, NOW).unknown == ("999",)


@pytest.mark.parametrize(
    "goal",
    [
        "shell(ls)",
        "assertz(x)",
        "node_health(pve1)",
        "node_health(pve1, S, T)",
        "rag_context:node_health(pve1, S)",
        "halt(1)",
        "call(x)",
    ],
)
def test_a_predicate_that_is_not_listed_is_refused(goal):
    with pytest.raises(GoalRefused) as caught:
        answer(goal, BASE, NOW)
    assert "node_health" in caught.value.hint


@pytest.mark.parametrize(
    "goal",
    [
        "node_health(101, S)",
        "current_vm_host('101', H)",
        "current_vm_host(1.5, H)",
        "active_alerts(pve1, cpu_high)",
        "live_link(pve1, pve2, cheap)",
        "query_single_node_health(N, S)",
        "gather_rag_context(N, C)",
        "gather_rag_context(all, c)",
    ],
)
def test_a_value_of_the_wrong_type_is_an_error_and_not_an_empty_answer(goal):
    with pytest.raises(GoalInvalid):
        answer(goal, BASE, NOW)


def test_a_call_takes_values_that_are_never_parsed():
    found = answer_call("node_health", ["pve1", None], BASE, NOW)
    assert found.answers == ({"Status": "nominal"},)
    hostile = "pve1, S), halt(1"
    assert answer_call("node_health", [hostile, None], BASE, NOW).unknown == (hostile,)
    with pytest.raises(GoalRefused):
        answer_call("halt", [], BASE, NOW)


def test_the_planner_gets_capacities_groups_and_hosts_with_their_types():
    document = {
        "nodes": nodes("b", "a", rack="r1", ram_mib=1024, cpu_mc=4000),
        "vms": [
            {"vmid": 3, "host": "a", "ram_mib": 5, "cpu_mc": 6, "ha_group": "db", "priority": 2},
            {"vmid": 1, "ha_group": "db", "pinned": True},
            {"vmid": 2, "host": "b", "observed_at": ago(9000)},
        ],
    }
    view = FactBase(facts_of(document)).at(NOW)
    assert [(n.name, n.ram_mib, n.cpu_mc, n.rack) for n in view.hosts()] == [
        ("a", 1024, 4000, "r1"),
        ("b", 1024, 4000, "r1"),
    ]
    assert [(v.vmid, v.host, v.ram_mib, v.priority, v.pinned) for v in view.vms()] == [
        (1, None, None, 0, True),
        (3, "a", 5, 2, False),
    ]
    assert view.ha_groups() == {"db": (1, 3)}
    assert view.racks() == {"r1": ("a", "b")}
    assert (view.current_host(3), view.current_host(2), view.current_host(9)) == ("a", None, None)
