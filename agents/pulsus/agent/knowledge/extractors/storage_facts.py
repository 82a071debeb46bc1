"""Facts of `pulsus_storage`. Results are objects or lists:

filesystems     {filesystems [{mountpoint, type, total_bytes, used_bytes, usage_percent}]}
disks           as `pulsus_metrics` disks: {disks [{host, device, model, health}]}
pools           {pools [{name, node, type, status, usage_percent}]}
backups         {pbs [], pve [], pbs_servers [{name, status, datastores [{name, usage_percent}]}]}
backup_tasks    {tasks [{vmid, node, status, error?}], total}
snapshots       {snapshots [{name, vmid}], total}
pbs_jobs        {instance, jobs [{id, status, error?}], total}
raid            {hosts [{hostname, arrays [{device, state, failed_devices}]}]}
ceph            [{name, health, details {osd_count, osds_up, osds_down, monitors, usage_percent}}]
ceph_details    {hosts [{hostname, health {status}, osd_map {num_osds, num_up, num_down},
                pg_map {usage_percent}, pools []}]}
replication     [{guest_id, guest_name, status, error}]
resource_disks  {resources [{vmid, name, disks [{mountpoint, usage_percent}]}], total}
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from pulsus.agent.knowledge.extractors.fact_extractor import (
    CallArgs,
    FactExtractor,
    KeyedValue,
    count_of,
    fixed_keys,
    has_list,
    joined,
    marker_and_rows,
    named,
    number_of,
    object_of,
    rows_of,
    text_of,
    with_list,
)
from pulsus.agent.knowledge.extractors.metrics_facts import EXTRACTORS as METRICS
from pulsus.agent.knowledge.session_fact import fact_key
from pulsus.core.text.plurals import counted
from pulsus.core.types import JsonValue

_FULL: Final = 80.0
"""Percent of a disk from which it is named: the level at which monitors usually warn."""
_GOOD: Final = {"", "ok", "success", "successful", "running", "completed", "clean", "active"}


def _used(number: float | None) -> str:
    return "" if number is None else f"{number:.0f}% used"


def _pools(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    if not has_list(data, "pools", "storage"):
        return
    pools = rows_of(data, "pools", "storage")
    yield "storage_pools:queried", f"{len(pools)} pools"
    for pool in pools:
        value = joined(
            text_of(pool, "type"),
            text_of(pool, "status", "health"),
            _used(number_of(pool, "usage_percent")),
        )
        place = filter(None, (text_of(pool, "node"), text_of(pool, "name", "id")))
        yield fact_key("storage", *place), value


def _filesystems(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    rows = rows_of(data, "filesystems")
    if not has_list(data, "filesystems"):
        return
    shown = sorted(rows, key=lambda row: -(number_of(row, "usage_percent") or 0))
    names = (
        f"{text_of(row, 'mountpoint')} {_used(number_of(row, 'usage_percent'))}" for row in shown
    )
    yield "storage:filesystems", with_list(counted(len(rows), "filesystem"), names)


def _backups(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    kinds = ("pbs", "pve", "pbs_servers")
    if not any(has_list(data, kind) for kind in kinds):
        return
    pbs, pve, servers = (rows_of(object_of(data), kind) for kind in kinds)
    yield (
        "backups:queried",
        f"{len(pbs)} PBS backups, {len(pve)} PVE backups, {len(servers)} PBS servers",
    )
    for server in servers:
        stores = (
            joined(text_of(store, "name"), _used(number_of(store, "usage_percent")))
            for store in rows_of(object_of(server), "datastores")
        )
        yield (
            fact_key("backup_server", text_of(server, "name")),
            with_list(text_of(server, "status"), stores),
        )


def _results(
    marker: str, *lists: str, noun: str, summary: bool = True
) -> Callable[[CallArgs, JsonValue], Iterator[KeyedValue]]:
    """Return an extractor of jobs or tasks, of which those that failed are named."""

    def facts(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
        if not has_list(data, *lists):
            return
        rows = rows_of(data, *lists)
        counted = f"{count_of(data, rows)} {noun}"
        yield fact_key(marker, "queried"), counted
        if rows and summary:
            failed = [row for row in rows if _has_failed(row)]
            value = (
                with_list(f"{counted}, {len(failed)} with errors", map(_failure, failed))
                if failed
                else f"{counted}, all ok"
            )
            yield fact_key(marker, "summary"), joined(value, named("instance", _instance(data)))

    return facts


def _instance(data: JsonValue) -> str:
    return text_of(data, "instance") if isinstance(data, Mapping) else ""


def _has_failed(row: Mapping[str, Any]) -> bool:
    return bool(text_of(row, "error")) or text_of(row, "status", "state").lower() not in _GOOD


def _failure(row: Mapping[str, Any]) -> str:
    name = text_of(row, "guest_name", "name", "vmid", "guest_id", "id")
    reason = text_of(row, "error") or text_of(row, "status", "state")
    return f"{name} ({reason})"


def _raid(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    if not has_list(data, "hosts"):
        return
    hosts = rows_of(data, "hosts")
    rows = []
    for host in hosts:
        arrays = rows_of(object_of(host), "arrays")
        bad = [array for array in arrays if _is_degraded(array)]
        names = (f"{text_of(array, 'device')} {text_of(array, 'state')}" for array in bad)
        text = f"{len(arrays)} arrays, " + (f"{len(bad)} degraded/failed" if bad else "all ok")
        rows.append((text_of(host, "hostname", "host"), with_list(text, names)))
    yield from marker_and_rows("raid", f"{len(hosts)} hosts", rows)


def _is_degraded(array: Mapping[str, Any]) -> bool:
    failed = number_of(array, "failed_devices") or 0
    words = text_of(array, "state").lower().replace("-", " ")
    return failed > 0 or any(bad in words for bad in ("degraded", "fail", "inactive", "recover"))


def _ceph(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    if not has_list(data, "clusters"):
        return
    clusters = rows_of(data, "clusters")
    rows = []
    for cluster in clusters:
        details = object_of(cluster, "details")
        value = joined(
            text_of(cluster, "health"),
            _counted(details, "osd_count", "OSDs"),
            _counted(details, "osds_up", "up"),
            _counted(details, "osds_down", "down"),
            _counted(details, "monitors", "monitors"),
            _used(number_of(details, "usage_percent")),
        )
        rows.append((text_of(cluster, "name", "id"), value))
    yield from marker_and_rows("ceph", f"{len(clusters)} clusters", rows)


def _ceph_details(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    if not has_list(data, "hosts"):
        return
    hosts = rows_of(data, "hosts")
    rows = []
    for host in hosts:
        osds, pools = object_of(host, "osd_map"), host.get("pools")
        value = joined(
            text_of(object_of(host, "health"), "status"),
            _counted(osds, "num_osds", "OSDs"),
            _counted(osds, "num_up", "up"),
            _counted(osds, "num_down", "down"),
            _used(number_of(host, "pg_map", "usage_percent")),
            f"{len(pools)} pools" if isinstance(pools, list) else "",
        )
        rows.append((text_of(host, "hostname", "host"), value))
    yield from marker_and_rows("ceph_details", f"{len(hosts)} hosts", rows)


def _counted(value: Mapping[str, Any], name: str, noun: str) -> str:
    number = number_of(value, name)
    return "" if number is None else f"{int(number)} {noun}"


def _resource_disks(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    if not has_list(data, "resources"):
        return
    resources = rows_of(data, "resources")
    counted = f"{count_of(data, resources)} resources"
    yield "resource_disks:queried", counted
    if not resources:
        return
    full = [
        f"{text_of(each, 'name', 'vmid')} {text_of(disk, 'mountpoint', 'device')} {used:.0f}%"
        for each in resources
        for disk in rows_of(object_of(each), "disks")
        if (used := number_of(disk, "usage_percent")) is not None and used >= _FULL
    ]
    use = f"{len(full)} disks above" if full else "all disks below"
    yield "resource_disks:summary", with_list(f"{counted}, {use} {_FULL:.0f}%", full)


EXTRACTORS: Final = {
    "pools": FactExtractor(_pools, fixed_keys("storage_pools:queried")),
    "filesystems": FactExtractor(_filesystems, fixed_keys("storage:filesystems")),
    "disks": METRICS["disks"],
    "disk_health": METRICS["disks"],
    "backups": FactExtractor(_backups, fixed_keys("backups:queried")),
    "backup_tasks": FactExtractor(
        _results("backup_tasks", "tasks", noun="tasks"), fixed_keys("backup_tasks:queried")
    ),
    "snapshots": FactExtractor(
        _results("snapshots", "snapshots", noun="snapshots", summary=False),
        fixed_keys("snapshots:queried"),
    ),
    "pbs_jobs": FactExtractor(
        _results("pbs_jobs", "jobs", noun="jobs"), fixed_keys("pbs_jobs:queried")
    ),
    "raid": FactExtractor(_raid, fixed_keys("raid:queried")),
    "ceph": FactExtractor(_ceph, fixed_keys("ceph:queried")),
    "ceph_details": FactExtractor(_ceph_details, fixed_keys("ceph_details:queried")),
    "replication": FactExtractor(
        _results("replication", "jobs", "replication", noun="jobs"),
        fixed_keys("replication:queried"),
    ),
    "resource_disks": FactExtractor(_resource_disks, fixed_keys("resource_disks:queried")),
}
