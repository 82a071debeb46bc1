"""Facts of `pulsus_kubernetes`. Results are objects:

clusters     {clusters [{name, status, node_count, ready_nodes, pod_count}], total}
nodes        {cluster, nodes [{name, ready}], total}
pods         {cluster, pods [{name, namespace, phase, restarts}], total}
deployments  {cluster, deployments [{name, namespace, desired_replicas, ready_replicas}], total}
services     {cluster, services [{name, namespace, type?}], total}
events       {cluster, events [{reason, message, type}], total}
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
    named,
    number_of,
    rows_of,
    tally,
    text_of,
    with_list,
)
from pulsus.agent.knowledge.session_fact import fact_key
from pulsus.core.text.plurals import counted
from pulsus.core.types import JsonValue

_MANY_RESTARTS: Final = 5
"""More restarts than a rollout or a moved node explains."""


def _clusters(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    if not has_list(data, "clusters"):
        return
    clusters = rows_of(data, "clusters")
    rows = (
        (
            text_of(cluster, "name", "id"),
            joined(
                text_of(cluster, "status"),
                _counted(cluster, "node_count", "nodes"),
                _counted(cluster, "ready_nodes", "ready"),
                _counted(cluster, "pod_count", "pods"),
            ),
        )
        for cluster in clusters
    )
    counted = f"{count_of(data, clusters)} clusters"
    yield "k8s-clusters:queried", counted
    yield from ((fact_key("k8s-cluster", name), value) for name, value in rows if name)


def _counted(row: Mapping[str, Any], name: str, noun: str) -> str:
    number = number_of(row, name)
    return "" if number is None else f"{int(number)} {noun}"


def _nodes(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    if not has_list(data, "nodes"):
        return
    rows = rows_of(data, "nodes")
    lost = [row for row in rows if row.get("ready") is not True]
    value = joined(
        _cluster(data),
        counted(count_of(data, rows), "node"),
        f"{len(rows) - len(lost)} ready",
        f"{len(lost)} not ready" if lost else "",
    )
    yield "k8s-nodes:queried", with_list(value, (text_of(row, "name") for row in lost))


def _pods(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    if not has_list(data, "pods"):
        return
    rows = rows_of(data, "pods")
    restarted = [row for row in rows if (number_of(row, "restarts") or 0) > _MANY_RESTARTS]
    bad = [row for row in rows if row in restarted or text_of(row, "phase") not in _SOUND_PHASES]
    value = joined(
        _cluster(data),
        f"{count_of(data, rows)} pods",
        tally(rows, "phase", "status") if rows else "",
        f"{len(restarted)} high-restart" if restarted else "",
    )
    yield "k8s-pods:queried", with_list(value, map(_qualified, bad))


_SOUND_PHASES: Final = {"Running", "Succeeded", "Completed"}


def _deployments(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    if not has_list(data, "deployments"):
        return
    rows = rows_of(data, "deployments")
    short = [
        row
        for row in rows
        if (number_of(row, "ready_replicas") or 0) < (number_of(row, "desired_replicas") or 0)
    ]
    value = joined(
        _cluster(data),
        f"{count_of(data, rows)} deployments",
        f"{len(rows) - len(short)} healthy",
        f"{len(short)} degraded" if short else "",
    )
    yield "k8s-deployments:queried", with_list(value, map(_qualified, short))


def _services(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    if has_list(data, "services"):
        rows = rows_of(data, "services")
        value = joined(_cluster(data), counted(count_of(data, rows), "service"))
        yield "k8s-services:queried", with_list(value, map(_qualified, rows))


def _events(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    if has_list(data, "events"):
        rows = rows_of(data, "events")
        value = joined(
            _cluster(data),
            f"{count_of(data, rows)} events",
            tally(rows, "reason") if rows else "",
        )
        yield "k8s-events:queried", value


def _qualified(row: Mapping[str, Any]) -> str:
    return "/".join(filter(None, (text_of(row, "namespace"), text_of(row, "name"))))


def _cluster(data: JsonValue) -> str:
    return named("cluster", text_of(data, "cluster"))


EXTRACTORS: Final = {
    "clusters": FactExtractor(_clusters, fixed_keys("k8s-clusters:queried")),
    "nodes": FactExtractor(_nodes, fixed_keys("k8s-nodes:queried")),
    "pods": FactExtractor(_pods, fixed_keys("k8s-pods:queried")),
    "deployments": FactExtractor(_deployments, fixed_keys("k8s-deployments:queried")),
    "services": FactExtractor(_services, fixed_keys("k8s-services:queried")),
    "events": FactExtractor(_events, fixed_keys("k8s-events:queried")),
}
