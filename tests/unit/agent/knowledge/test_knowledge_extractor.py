"""Facts from answers of tools: which answers become facts, and what their text is."""

import pytest

from pulsus.agent.knowledge.extractors.all_extractors import EXTRACTORS
from pulsus.agent.knowledge.fact_keys import predict_fact_keys
from pulsus.agent.knowledge.knowledge_extractor import (
    empty_result_summary,
    extract_facts,
    facts_of_response,
)
from pulsus.agent.tool_protocol import ProposedCall
from pulsus.core.types import JsonValue
from pulsus.gates.tool_response import tool_blocked, tool_failed, tool_success

GET: dict[str, JsonValue] = {"action": "get", "target_resource_id": "service:web1:nginx"}


def facts_of(response, tool="pulsus_query", args=GET):
    call = ProposedCall("c1", tool, args)
    return facts_of_response(call, response, now=5.0, turn=2, result_chars=40)


def test_a_fact_records_where_it_comes_from():
    data: JsonValue = {
        "type": "service",
        "name": "nginx",
        "status": "running",
        "id": "nginx",
        "host": "web1",
    }
    status, cached = facts_of(tool_success(data))
    assert (status.key, cached.key) == (
        "service:web1:nginx:status",
        "query:get:service:web1:nginx:cached",
    )
    assert status.value == "running, nginx, host=web1"
    assert (status.observed_at, status.turn, status.call_id) == (5.0, 2, "c1")
    assert status.subjects == ("service:web1:nginx",)
    assert status.result_chars == 40


def test_a_missing_resource_is_not_asked_for_twice():
    (marker,) = facts_of(tool_failed("NOT_FOUND", "no such resource"))
    assert (marker.key, marker.value) == ("query:get:service:web1:nginx:error", "not_found")


def test_an_empty_result_leaves_a_marker_with_its_words():
    args = {"action": "search", "query": "mail"}
    (marker,) = facts_of(tool_success({"query": "mail", "matches": [], "total": 0}), args=args)
    assert marker.key == "search:mail:summary"
    assert marker.value == "matches: 0 items, total=0, query=mail"


@pytest.mark.parametrize(
    "response",
    [
        tool_failed("EXECUTION_FAILED", "timed out", retryable=True),
        tool_failed("EXECUTION_CONTEXT_UNAVAILABLE", "no backend"),
        tool_blocked("STRICT_RESOLUTION", "not discovered"),
        tool_blocked("FSM_BLOCKED", "verify first"),
    ],
)
def test_a_call_that_read_nothing_leaves_no_fact(response):
    assert facts_of(response) == ()


def test_an_unknown_tool_or_action_gives_no_fact():
    assert extract_facts("other", {"action": "get"}, {"a": 1}) == ()
    assert extract_facts("pulsus_query", {"action": "mystery"}, {"a": 1}) == ()
    assert predict_fact_keys("pulsus_control", {"type": "service", "action": "restart"}) == ()


@pytest.mark.parametrize(
    ("tool", "args", "data", "facts"),
    [
        (
            "pulsus_read",
            {"action": "exec", "target_host": "web1", "command": "docker inspect web"},
            [{"State": {"Status": "exited", "OOMKilled": True, "ExitCode": 137}}],
            [("exec:web1:docker inspect web", "status=exited, oom_killed=true, exit_code=137")],
        ),
        (
            "pulsus_read",
            {"action": "exec", "target_host": "web1", "command": "docker inspect web"},
            {"success": True, "exit_code": 0, "output": '[{"State": {"Status": "running"}}]'},
            [("exec:web1:docker inspect web", "exit=0, status=running")],
        ),
        (
            "pulsus_read",
            {"action": "exec", "target_host": "web1", "command": "df"},
            {"success": False, "exit_code": 1, "output": "", "error": "no space"},
            [("exec:web1:df", "exit=1, error=no space")],
        ),
        (
            "pulsus_read",
            {"action": "tail", "target_host": "web1", "path": "/var/log/a"},
            {"path": "/var/log/a", "lines": ["one", "two"]},
            [("tail:web1:/var/log/a", "2 lines, last: two")],
        ),
        (
            "pulsus_read",
            {"action": "logs", "target_host": "web1", "unit": "nginx"},
            {"unit": "nginx", "entries": [{"message": "started"}], "total": 1},
            [("logs:web1:nginx", "1 entries, last: started")],
        ),
        (
            "pulsus_read",
            {"action": "find", "target_host": "web1", "path": "/etc", "pattern": "*.conf"},
            {"matches": ["/etc/a.conf", {"path": "/etc/b.conf"}], "total": 9},
            [("find:web1:/etc:*.conf", "9 paths: /etc/a.conf, /etc/b.conf")],
        ),
        (
            "pulsus_read",
            {"action": "file", "target_host": "web1", "path": "/etc/hostname"},
            {"path": "/etc/hostname", "content": "web1\n", "size_bytes": 5},
            [("file:web1:/etc/hostname", "5 bytes, web1")],
        ),
        (
            "pulsus_storage",
            {"type": "filesystems", "target_host": "web1"},
            {"filesystems": [{"mountpoint": "/", "usage_percent": 91.4}]},
            [("storage:filesystems", "1 filesystem: / 91% used")],
        ),
        (
            "pulsus_storage",
            {"type": "pools"},
            {"pools": [{"name": "tank", "node": "n1", "status": "ONLINE", "usage_percent": 7}]},
            [("storage_pools:queried", "1 pools"), ("storage:n1:tank", "ONLINE, 7% used")],
        ),
        (
            "pulsus_alerts",
            {"action": "list"},
            {
                "alerts": [
                    {
                        "resource_name": "web1",
                        "type": "cpu",
                        "severity": "warning",
                        "value": 90,
                        "threshold": 80,
                    }
                ]
            },
            [
                ("alerts:overview", "1 alerts, 1 warning"),
                ("alert:web1:cpu", "warning, value=90.0, threshold=80.0"),
            ],
        ),
        (
            "pulsus_docker",
            {"action": "list", "target_host": "web1"},
            {"host": "web1", "containers": [{"name": "a", "state": "running"}], "total": 1},
            [("docker_containers:queried", "host=web1, 1 container, 1 running: a")],
        ),
        (
            "pulsus_metrics",
            {"type": "processes", "target_host": "web1"},
            {"processes": [{"name": "java", "cpu_percent": 88.25}], "total": 204},
            [("processes:web1", "204 processes: java 88.2% cpu")],
        ),
        (
            "pulsus_discovery",
            {"action": "get", "target_resource_id": "service:web1:nginx"},
            {"service_type": "nginx", "ports": [80, {"port": 443}], "config_paths": ["/etc/nginx"]},
            [
                (
                    "discovery:service:web1:nginx",
                    "service=nginx, ports=[80,443], config=[/etc/nginx]",
                )
            ],
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_results_of_our_tools_become_facts(tool, args, data, facts):
    assert list(extract_facts(tool, args, data)) == facts


HOSTILE: list[JsonValue] = [
    None, "", "text", 0, True, [], {}, [1, None, "x"], [[]], {"a": []}, {"error": "x"},
    {"matches": "x"}, {"matches": [None]}, {"hosts": [{"arrays": 3}]}, {"summary": {"x": 1}},
    {"summary": {"x": {"avg_cpu": "high"}}}, {"points": [{"cpu": "x"}]}, {"total": "many"},
    {"disks": [{}]}, {"details": 1}, {"status": []}, {"jobs": [{}], "total": -4},
]  # fmt: skip


@pytest.mark.parametrize("data", HOSTILE, ids=repr)
def test_a_result_of_another_shape_raises_no_error(data):
    for tool, actions in EXTRACTORS.items():
        for action in actions:
            args = {"action": action, "target_resource_id": "r", "command": "c", "path": "/p"}
            facts = extract_facts(tool, {**args, "query": "q"}, data)
            assert all(isinstance(part, str) for fact in facts for part in fact)
    assert empty_result_summary(data)


def test_a_name_that_a_policy_hides_is_not_kept():
    match: JsonValue = {
        "name": "payroll-db",
        "status": "running",
        "policy": {"routing": {"redact": ["hostname"]}},
    }
    ((_, value),) = extract_facts(
        "pulsus_query", {"action": "search", "query": "db"}, {"matches": [match]}
    )
    assert value == "1 result: a resource (running)"
