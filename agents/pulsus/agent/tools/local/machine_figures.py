"""Figures of this machine now: processor, memory, disks, network, temperatures, processes.

Their thresholds (disk full, memory, load) are in `infra/local_facts.py`.

Effect: reads /proc and /sys by psutil, which belongs to the extra `agent`. Sizes are bytes, rates
are bytes a second, shares are percent. Every function raises ExtraMissing without psutil.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from typing import Any, Final

from pulsus.core.types import JsonValue
from pulsus.infra.processes import load_psutil

_SAMPLE_SECONDS: Final = 0.4
"""Between two readings of a counter. Shorter ones show a single burst."""

_PSEUDO: Final = frozenset({"squashfs", "tmpfs", "devtmpfs", "overlay", "autofs", "nsfs"})


def performance() -> dict[str, JsonValue]:
    """Return the use of processor, memory, swap and root file system, and the load."""
    psutil = load_psutil()
    cpu = psutil.cpu_percent(interval=_SAMPLE_SECONDS)
    memory, swap = psutil.virtual_memory(), psutil.swap_memory()
    one, five, fifteen = os.getloadavg()
    disk = psutil.disk_usage("/")
    return {
        "cpu": {"percent": cpu, "cores": psutil.cpu_count() or 1},
        "memory": {
            "percent": memory.percent,
            "used_bytes": memory.used,
            "available_bytes": memory.available,
            "total_bytes": memory.total,
        },
        "swap": {"percent": swap.percent, "used_bytes": swap.used, "total_bytes": swap.total},
        "disk": {"path": "/", "percent": disk.percent, "free_bytes": disk.free},
        "load": {"1m": round(one, 2), "5m": round(five, 2), "15m": round(fifteen, 2)},
        "uptime_seconds": int(time.time() - psutil.boot_time()),
    }


def busiest_processes(sort: str, limit: int) -> list[JsonValue]:
    """Return the processes with the most use of `cpu` or `memory`."""
    psutil = load_psutil()
    processes = list(psutil.process_iter(["pid", "name", "username"]))
    for each in processes:
        _cpu_percent(each)  # the first reading only sets the start
    time.sleep(_SAMPLE_SECONDS)
    rows = [row for each in processes if (row := _process_row(each)) is not None]
    key = "memory_bytes" if sort == "memory" else "cpu_percent"
    rows.sort(key=lambda row: -float(str(row[key])))
    return list(rows[:limit])


def _cpu_percent(process: Any) -> float | None:
    psutil = load_psutil()
    try:
        return float(process.cpu_percent())
    except (psutil.Error, OSError):
        return None


def _process_row(process: Any) -> dict[str, JsonValue] | None:
    psutil = load_psutil()
    cpu = _cpu_percent(process)
    if cpu is None:
        return None
    try:
        memory, share = process.memory_info().rss, process.memory_percent()
        command = " ".join(process.cmdline())[:200]
    except (psutil.Error, OSError):
        return None
    return {
        "pid": process.pid,
        "name": process.info["name"],
        "user": process.info["username"],
        "cpu_percent": cpu,
        "memory_bytes": memory,
        "memory_percent": round(share, 1),
        "command": command,
    }


def process_figures(pids: Iterable[int]) -> list[JsonValue]:
    """Return the rows of these processes, as far as they are alive."""
    psutil = load_psutil()
    found = []
    for pid in pids:
        try:
            process = next(
                each for each in psutil.process_iter(["name", "username"]) if each.pid == pid
            )
        except StopIteration:
            continue
        _cpu_percent(process)
        found.append(process)
    time.sleep(_SAMPLE_SECONDS if found else 0)
    return [row for each in found if (row := _process_row(each)) is not None]


def network() -> list[JsonValue]:
    """Return the traffic of each interface: totals, rates and errors."""
    psutil = load_psutil()
    first = psutil.net_io_counters(pernic=True)
    time.sleep(_SAMPLE_SECONDS)
    second = psutil.net_io_counters(pernic=True)
    states = psutil.net_if_stats()
    return [
        {
            "name": name,
            "up": bool(states[name].isup) if name in states else None,
            "rx_bytes": now.bytes_recv,
            "tx_bytes": now.bytes_sent,
            "rx_bytes_per_second": _rate(first[name].bytes_recv, now.bytes_recv),
            "tx_bytes_per_second": _rate(first[name].bytes_sent, now.bytes_sent),
            "errors": now.errin + now.errout,
            "drops": now.dropin + now.dropout,
        }
        for name, now in sorted(second.items())
        if name in first
    ]


def disk_io() -> list[JsonValue]:
    """Return the traffic of each disk: totals and rates."""
    psutil = load_psutil()
    first = psutil.disk_io_counters(perdisk=True) or {}
    time.sleep(_SAMPLE_SECONDS)
    second = psutil.disk_io_counters(perdisk=True) or {}
    return [
        {
            "name": name,
            "read_bytes": now.read_bytes,
            "write_bytes": now.write_bytes,
            "read_bytes_per_second": _rate(first[name].read_bytes, now.read_bytes),
            "write_bytes_per_second": _rate(first[name].write_bytes, now.write_bytes),
        }
        for name, now in sorted(second.items())
        if name in first and not name.startswith(("loop", "ram"))
    ]


def temperatures() -> tuple[dict[str, JsonValue], dict[str, JsonValue]]:
    """Return the sensors of the processor and of disks in degrees Celsius, by their labels."""
    psutil = load_psutil()
    read = getattr(psutil, "sensors_temperatures", dict)  # not on every system
    cpu: dict[str, JsonValue] = {}
    disks: dict[str, JsonValue] = {}
    for chip, sensors in read().items():
        into = disks if chip in {"nvme", "drivetemp"} else cpu
        for at, sensor in enumerate(sensors):
            into[f"{chip} {sensor.label or at}"] = sensor.current
    return cpu, disks


def file_systems(path: str = "") -> list[dict[str, JsonValue]]:
    """Return the file systems on devices, or the one that holds `path`. Raises OSError."""
    psutil = load_psutil()
    parts = psutil.disk_partitions(all=True)
    if path:
        real = os.path.realpath(path)
        os.stat(real)  # noqa: PTH116 - a path that does not exist is on no file system
        fitting = [each for each in parts if _holds(each.mountpoint, real)]
        parts = sorted(fitting, key=lambda each: len(each.mountpoint))[-1:]
    else:
        parts = [each for each in parts if each.mountpoint == "/" or each.fstype not in _PSEUDO]
    rows = (_file_system_row(each) for each in parts)
    return [row for row in rows if row is not None]


def _holds(mount: str, path: str) -> bool:
    return mount == "/" or path == mount or path.startswith(f"{mount.rstrip('/')}/")


def _file_system_row(part: Any) -> dict[str, JsonValue] | None:
    try:
        space = os.statvfs(part.mountpoint)
    except OSError:
        return None
    size = space.f_blocks * space.f_frsize
    if not size:
        return None
    used = size - space.f_bfree * space.f_frsize
    free = space.f_bavail * space.f_frsize
    inodes = 100 * (1 - space.f_ffree / space.f_files) if space.f_files else None
    return {
        "mountpoint": part.mountpoint,
        "device": part.device,
        "type": part.fstype,
        "total_bytes": size,
        "used_bytes": used,
        "free_bytes": free,
        "usage_percent": round(100 * used / (used + free), 1) if used + free else 0.0,
        "inodes_percent": None if inodes is None else round(inodes, 1),
        "read_only": "ro" in part.opts.split(","),
    }


def _rate(before: int, after: int) -> int:
    return max(int((after - before) / _SAMPLE_SECONDS), 0)
