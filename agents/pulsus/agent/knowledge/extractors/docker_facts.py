"""Facts of `pulsus_docker`. Results are objects:

list      {host, containers [{name, state, image?}], total}
inspect   {name, host?, state {status, exit_code?, oom_killed?}, image?, restarts?}
stats     {containers [{name, cpu_percent, memory_percent}]}
services  {host, services [{name, desired_tasks, running_tasks}], total}
tasks     {host, tasks [{service?, current_state}], total}
updates   {updates [{container, image?, update_available?}], total}; check_updates is the same
swarm     {host, status {node_role, local_state, control_available, cluster_name?}}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pulsus.agent.knowledge.extractors.fact_extractor import (
    CallArgs,
    FactExtractor,
    KeyedValue,
    count_of,
    fixed_keys,
    has_list,
    host_of,
    joined,
    named,
    number_of,
    object_of,
    rows_of,
    tally,
    text_of,
    with_list,
)
from pulsus.agent.knowledge.session_fact import fact_key
from pulsus.core.text.plurals import counted
from pulsus.core.types import JsonValue


def _containers(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    if not has_list(data, "containers"):
        return
    rows = rows_of(data, "containers")
    states = tally(rows, "state", "status") if rows else ""
    names = (text_of(row, "name") for row in rows)
    value = joined(_host(data), counted(count_of(data, rows), "container"), states)
    yield "docker_containers:queried", with_list(value, names)


def _inspect_keys(args: CallArgs) -> tuple[str, ...]:
    asked = text_of(args, "target_resource_id", "target_host", "container")
    return (fact_key("docker_container", asked),) if asked else ()


def _inspect(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    state = object_of(data, "state")
    if not state and not text_of(data, "state"):
        return
    value = joined(
        text_of(data, "name"),
        named("status", text_of(data, "state") or text_of(state, "status")),
        named("exit_code", state.get("exit_code")),
        named("oom_killed", state.get("oom_killed")),
        named("restarts", text_of(data, "restarts")),
        named("image", text_of(data, "image")),
    )
    yield from ((key, value) for key in _inspect_keys(args))


def _stats(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    rows = rows_of(data, "containers")
    if rows:
        used = (
            f"{text_of(row, 'name')} cpu={number_of(row, 'cpu_percent') or 0:.1f}%"
            f" mem={number_of(row, 'memory_percent') or 0:.1f}%"
            for row in rows
        )
        yield "docker_stats:queried", with_list(f"{len(rows)} containers", used)


def _services(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    if not has_list(data, "services"):
        return
    rows = rows_of(data, "services")
    if not rows:
        yield "docker_services:queried", "0 services"
        return
    short = [row for row in rows if _is_short(row)]
    names = (
        f"{text_of(row, 'name')} {int(number_of(row, 'running_tasks') or 0)}"
        f"/{int(number_of(row, 'desired_tasks') or 0)}"
        for row in short or rows
    )
    health = f"{len(short)} degraded" if short else "all healthy"
    value = joined(_host(data), counted(count_of(data, rows), "service"), health)
    yield "docker_services:summary", with_list(value, names)


def _is_short(row: Mapping[str, Any]) -> bool:
    return (number_of(row, "running_tasks") or 0) < (number_of(row, "desired_tasks") or 0)


def _tasks(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    if has_list(data, "tasks"):
        rows = rows_of(data, "tasks")
        states = tally(rows, "current_state", "state") if rows else ""
        value = joined(_host(data), f"{count_of(data, rows)} tasks", states)
        yield "docker_tasks:queried", value if rows else "0 tasks"


def _updates(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    if not has_list(data, "updates", "containers"):
        return
    rows = rows_of(data, "updates", "containers")
    due = [row for row in rows if row.get("update_available", True) is True]
    names = (text_of(row, "container", "container_name", "name") for row in due)
    value = with_list(f"{len(due)} updates available", names)
    yield "docker_updates:queried", joined(value, named("host", text_of(data, "host")))


def _swarm(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    status = object_of(data, "status")
    if status:
        value = joined(
            named("role", text_of(status, "node_role")),
            named("state", text_of(status, "local_state")),
            _host(data) or named("host", host_of(args)),
            named("control", status.get("control_available")),
            named("cluster", text_of(status, "cluster_name")),
        )
        yield "docker_swarm:status", value


def _host(data: JsonValue) -> str:
    return named("host", text_of(data, "host"))


EXTRACTORS: Final = {
    "list": FactExtractor(_containers, fixed_keys("docker_containers:queried")),
    "inspect": FactExtractor(_inspect, _inspect_keys),
    "stats": FactExtractor(_stats, fixed_keys("docker_stats:queried")),
    "services": FactExtractor(
        _services, fixed_keys("docker_services:queried", "docker_services:summary")
    ),
    "tasks": FactExtractor(_tasks, fixed_keys("docker_tasks:queried")),
    "updates": FactExtractor(_updates, fixed_keys("docker_updates:queried")),
    "check_updates": FactExtractor(_updates, fixed_keys("docker_updates:queried")),
    "swarm": FactExtractor(_swarm, fixed_keys("docker_swarm:status")),
}
