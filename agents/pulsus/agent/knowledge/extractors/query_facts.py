"""Facts of `pulsus_query`. Results are objects:

get       {type, name, status, node?, host?, id, vmid?, cpu {percent}, memory {percent},
          disk {percent}}, or {error, resource_id}
search    {query, matches [{name, status, type, ai_safe_summary?, policy?}], total}
list      {nodes [{name, status}], vms [{name, status}], containers [{name, status}],
          docker_hosts [{hostname, container_count}], services [{name, status}],
          total {kind: count}}
topology  {summary {total_nodes, total_vms, running_vms, total_system_containers,
          running_containers, total_docker_hosts}, proxmox {nodes [{name, status}]}}
health    {connections [{instance_id, connected, error?}]}
config    {guest_type, vmid, name, node, cores?, memory_mb?, onboot?, mounts? []}
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
    joined,
    listed,
    named,
    number_of,
    object_of,
    percent,
    resource_of,
    rows_of,
    text_of,
    with_list,
)
from pulsus.agent.knowledge.session_fact import fact_key
from pulsus.core.text.plurals import counted
from pulsus.core.types import JsonValue


def _get_keys(args: CallArgs) -> tuple[str, ...]:
    asked = resource_of(args)
    return tuple(fact_key("query", "get", asked, end) for end in ("cached", "error") if asked)


def _get(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    asked = resource_of(args)
    error = text_of(data, "error")
    if error:
        about = asked or text_of(data, "resource_id")
        if about:
            yield fact_key("query", "get", about, "error"), error
        return
    kind, uid = text_of(data, "type"), text_of(data, "vmid", "id", "name")
    if not kind or not uid:
        return
    value = joined(
        text_of(data, "status"),
        text_of(data, "name"),
        percent("cpu", number_of(data, "cpu", "percent")),
        percent("mem", number_of(data, "memory", "percent")),
        percent("disk", number_of(data, "disk", "percent")),
        named("host", text_of(data, "node", "host")),
    )
    scope = text_of(data, "node", "host")
    yield fact_key(*filter(None, (kind, scope, uid, "status"))), value
    if asked:
        yield fact_key("query", "get", asked, "cached"), value


def _search_keys(args: CallArgs) -> tuple[str, ...]:
    words = text_of(args, "query")
    return (fact_key("search", words, "summary"),) if words else ()


def _search(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    matches = rows_of(data, "matches")
    words = text_of(args, "query") or text_of(data, "query")
    if matches and words:
        found = (f"{_shown_name(match)} ({text_of(match, 'status')})" for match in matches)
        value = with_list(counted(count_of(data, matches), "result"), found)
        yield fact_key("search", words, "summary"), value


def _shown_name(match: Mapping[str, Any]) -> str:
    """Return the name, or the summary that stands for it where a policy hides the name."""
    hidden = bool(object_of(match, "policy", "routing").get("redact"))
    safe = text_of(match, "ai_safe_summary")
    return (safe or "a resource") if hidden else text_of(match, "name", "id")


def _list(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    totals = object_of(data, "total")
    if not totals and not any(has_list(data, kind) for kind in ("nodes", "vms", "containers")):
        return
    parts = []
    for kind, noun in (
        *(("nodes", "nodes"), ("vms", "VMs"), ("containers", "containers")),
        *(("services", "services"), ("docker_hosts", "docker hosts")),
    ):
        rows = rows_of(object_of(data), kind)
        count = count_of(totals, rows, kind)
        if not count and kind not in totals:
            continue
        text = f"{count} {noun}"
        if kind == "docker_hosts":
            containers = sum(int(number_of(row, "container_count") or 0) for row in rows)
            text += f" ({containers} containers)"
        elif kind != "nodes":
            text += f" ({sum(_is_running(row) for row in rows)} running)"
        parts.append(text)
    yield "inventory:summary", joined(*parts)


def _is_running(row: Mapping[str, Any]) -> bool:
    return text_of(row, "status", "state").lower() in {"running", "active"}


def _topology(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    summary = object_of(data, "summary")
    if not summary:
        return
    nodes = rows_of(object_of(data, "proxmox"), "nodes") or rows_of(object_of(data), "nodes")
    online = listed(f"{text_of(node, 'name')}={text_of(node, 'status')}" for node in nodes)
    yield (
        "topology:summary",
        joined(
            _number(summary, "total_nodes", "nodes") + (f" ({online})" if online else ""),
            _number(summary, "total_vms", "VMs", running="running_vms"),
            _number(summary, "total_system_containers", "containers", running="running_containers"),
            _number(summary, "total_docker_hosts", "docker hosts"),
        ),
    )


def _number(summary: Mapping[str, Any], name: str, noun: str, running: str = "") -> str:
    count, up = number_of(summary, name), number_of(summary, running)
    if count is None:
        return ""
    return f"{int(count)} {noun}" + (f" ({int(up)} running)" if up is not None else "")


def _health(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    rows = rows_of(data, "connections")
    if not has_list(data, "connections"):
        return
    lost = [row for row in rows if row.get("connected") is not True]
    text = f"{len(rows)} connections, {len(rows) - len(lost)} connected"
    text += f", {len(lost)} disconnected" if lost else ""
    names = (text_of(row, "instance_id", "name") for row in lost)
    yield "health:connections", with_list(text, names)


def _config_keys(args: CallArgs) -> tuple[str, ...]:
    asked, node = resource_of(args), text_of(args, "node")
    if not asked:
        return ()
    return (fact_key("config", node, asked) if node else fact_key("config", asked, "cached"),)


def _config(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    uid = text_of(data, "vmid", "id")
    if not uid:
        return
    value = joined(
        text_of(data, "guest_type", "type"),
        text_of(data, "name", "hostname"),
        named("cores", text_of(data, "cores")),
        named("memory_mb", text_of(data, "memory_mb", "memory")),
        named("onboot", object_of(data).get("onboot")),
    )
    node = text_of(args, "node") or text_of(data, "node", "host")
    plain = fact_key(*filter(None, ("config", node, uid)))
    yield from ((key, value) for key in dict.fromkeys((plain, *_config_keys(args))))


EXTRACTORS: Final = {
    "get": FactExtractor(_get, _get_keys),
    "search": FactExtractor(_search, _search_keys),
    "list": FactExtractor(_list, fixed_keys("inventory:summary")),
    "topology": FactExtractor(_topology, fixed_keys("topology:summary")),
    "health": FactExtractor(_health, fixed_keys("health:connections")),
    "config": FactExtractor(_config, _config_keys),
}
