"""Facts of `pulsus_metrics`. Results are objects or lists:

performance   {resource_id, period, points [{timestamp, cpu, memory, disk}]}, in percent, or
              {resource_id, period, summary {resource: {avg_cpu, max_cpu, avg_memory, max_memory,
              trend}}}
baselines     {baselines {resource: {metric: {mean, stddev?, samples?}}}} or {resource: {…}}
temperatures  [{hostname, cpu_temps {sensor: degrees}, disk_temps {device: degrees}}]
disks         {disks [{host, device, model, health}]}
processes     {processes [{pid, name, cpu_percent, memory_percent}], total}
network       {interfaces [{name, rx_bytes_per_second, tx_bytes_per_second}]}
disk_io       {devices [{name, read_bytes_per_second, write_bytes_per_second}]}
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
    host_of,
    joined,
    listed,
    marker_and_rows,
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

_HEALTHY: Final = {"passed", "ok", "healthy", "good"}


def _performance_keys(args: CallArgs) -> tuple[str, ...]:
    asked = resource_of(args) or host_of(args)
    return (fact_key("metrics", asked),) if asked else ()


def _performance(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    points = rows_of(data, "points") if isinstance(data, Mapping) else []
    about = resource_of(args) or host_of(args) or text_of(data, "resource_id")
    if points and about:
        yield fact_key("metrics", about), _points_value(points, data)
    for name, row in object_of(data, "summary").items():
        if isinstance(row, Mapping):
            yield fact_key("metrics", text_of(row, "resource_id") or name), _summary_value(row)


def _points_value(points: list[Mapping[str, Any]], data: JsonValue) -> str:
    parts = []
    for name, short in (("cpu", "cpu"), ("memory", "mem"), ("disk", "disk")):
        measured = [number_of(point, name) for point in points]
        numbers = [number for number in measured if number is not None]
        # A disk that is always at 0 was not measured.
        if numbers and (name != "disk" or max(numbers) > 0):
            parts.append(percent(f"avg_{short}", sum(numbers) / len(numbers)))
            parts.append(percent(f"max_{short}", max(numbers)))
    parts.append(named("period", text_of(data, "period")))
    return joined(*parts, f"{len(points)} points")


def _summary_value(row: Mapping[str, Any]) -> str:
    return joined(
        percent("avg_cpu", number_of(row, "avg_cpu")),
        percent("max_cpu", number_of(row, "max_cpu")),
        percent("avg_mem", number_of(row, "avg_memory")),
        percent("max_mem", number_of(row, "max_memory")),
        percent("avg_disk", number_of(row, "avg_disk")),
        percent("max_disk", number_of(row, "max_disk")),
        named("trend", text_of(row, "trend")),
    )


def _baselines(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    found = object_of(data, "baselines") or object_of(data)
    about = {name: row for name, row in found.items() if isinstance(row, Mapping)}
    if not about:
        return
    yield "baselines:queried", f"{len(about)} resources"
    for name, row in about.items():
        measured = {metric: _mean(value) for metric, value in row.items()}
        means = (f"{metric}={mean:.1f}" for metric, mean in measured.items() if mean is not None)
        yield fact_key("baselines", name), listed(means)


def _mean(value: object) -> float | None:
    plain = number_of({"value": value}, "value")
    return plain if plain is not None else number_of(value, "mean")


def _temperatures(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    if not has_list(data, "hosts", "temperatures"):
        return
    hosts = rows_of(data, "hosts", "temperatures")
    rows = ((text_of(host, "hostname", "host", "name"), _hottest(host)) for host in hosts)
    yield from marker_and_rows("temperatures", f"{len(hosts)} hosts", rows)


def _hottest(host: Mapping[str, Any]) -> str:
    parts = []
    for name, noun in (("cpu_temps", "cpu"), ("disk_temps", "disk"), ("sensors", "sensor")):
        sensors = object_of(host, name)
        degrees = [number for sensor in sensors if (number := number_of(sensors, sensor))]
        parts.append(f"max_{noun}={max(degrees):.0f}°C" if degrees else "")
    return joined(*parts) or "no reading"


def _disks(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    if not has_list(data, "disks"):
        return
    disks = rows_of(data, "disks")
    if not disks:
        yield "physical_disks:queried", "0 disks"
        return
    bad = [disk for disk in disks if text_of(disk, "health").lower() not in _HEALTHY]
    if bad:
        names = (
            " ".join(filter(None, (text_of(disk, part) for part in ("host", "device", "model"))))
            for disk in bad
        )
        value = with_list(f"{len(disks)} disks, {_failures(bad)}", names)
    else:
        health = text_of(disks[0], "health").upper()
        value = f"{len(disks)} disks total, all {health}"
    yield "physical_disks:queried", "summary extracted"
    yield "physical_disks:summary", value


def _failures(bad: list[Mapping[str, Any]]) -> str:
    words = [text_of(disk, "health").upper() or "UNKNOWN" for disk in bad]
    return ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))


def _busiest(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
    rows = rows_of(data, "processes")
    if rows:
        names = (
            f"{text_of(row, 'name')} {number_of(row, 'cpu_percent') or 0:.1f}% cpu" for row in rows
        )
        count = count_of(data, rows)
        yield (
            fact_key("processes", host_of(args) or "all"),
            with_list(counted(count, "process", "processes"), names),
        )


def _rates(
    scope: str, rows: str, into: str, out: str
) -> Callable[[CallArgs, JsonValue], Iterator[KeyedValue]]:
    def facts(args: CallArgs, data: JsonValue) -> Iterator[KeyedValue]:
        found = rows_of(data, rows)
        if found:
            names = (
                f"{text_of(row, 'name')} {_rate(row, into)} {_rate(row, out)} B/s" for row in found
            )
            yield fact_key(scope, host_of(args) or "all"), listed(names)

    return facts


def _rate(row: Mapping[str, Any], name: str) -> str:
    return f"{name}={number_of(row, f'{name}_bytes_per_second') or 0:.0f}"


def _scoped_key(scope: str) -> Callable[[CallArgs], tuple[str, ...]]:
    return lambda args: (fact_key(scope, host_of(args) or "all"),)


EXTRACTORS: Final = {
    "performance": FactExtractor(_performance, _performance_keys),
    "baselines": FactExtractor(_baselines, fixed_keys("baselines:queried")),
    "temperatures": FactExtractor(_temperatures, fixed_keys("temperatures:queried")),
    "disks": FactExtractor(_disks, fixed_keys("physical_disks:queried")),
    "processes": FactExtractor(_busiest, _scoped_key("processes")),
    "network": FactExtractor(_rates("network", "interfaces", "rx", "tx"), _scoped_key("network")),
    "disk_io": FactExtractor(_rates("diskio", "devices", "read", "write"), _scoped_key("diskio")),
}
