"""Details of one service or container: processes, listening ports, settings files and logs.

Effect: reads /proc, lists folders, asks clients. Nothing here is guessed: each path was seen.

Services are listed by `infra/supervisors.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from pulsus.core.types import JsonValue
from pulsus.infra.inventory import PROCESS, InventoryEntry
from pulsus.infra.local_command import output_text
from pulsus.infra.local_machine import LocalMachine
from pulsus.infra.processes import listening_ports, load_psutil

_PID: Final = re.compile(r"\bpid[ :=]+(\d+)")
_CONFIG: Final = ("/etc/{0}", "/etc/{0}.conf", "/etc/default/{0}", "/etc/{0}d.conf", "/etc/{0}rc")
_LOGS: Final = ("/var/log/{0}", "/var/log/{0}.log", "/var/log/{0}/current")
_MOST_PATHS: Final = 30


def service_pids(machine: LocalMachine, entry: InventoryEntry) -> tuple[int, ...]:
    """Return the processes of a service with their children; of a process, itself.

    Raises ExtraMissing.
    """
    psutil = load_psutil()
    first = set(_main_pids(machine, entry))
    found = set(first)
    for pid in first:
        try:
            found |= {child.pid for child in psutil.Process(pid).children(recursive=True)}
        except (psutil.Error, OSError):
            continue
    return tuple(sorted(found))


def _main_pids(machine: LocalMachine, entry: InventoryEntry) -> Iterator[int]:
    psutil, name = load_psutil(), entry.resource.name
    if entry.resource.kind == PROCESS:
        yield int(str(entry.details["pid"]))
    elif told := _PID.search(str(entry.details.get("state", ""))):
        yield int(told[1])
    elif entry.details.get("supervisor") == "systemd":
        argv = ("systemctl", "show", "--property=MainPID", "--value", f"{name}.service")
        result = machine.commands.run(argv)
        pid = output_text(result).strip() if result else ""
        if pid.isdigit() and pid != "0":
            yield int(pid)
    elif entry.status == "running":
        # Init scripts tell no number: the processes of that name are theirs.
        for process in psutil.process_iter(["name"]):
            if process.info["name"] in {name, f"{name}d"}:
                yield process.pid


def ports_of(pids: Iterable[int]) -> list[JsonValue]:
    """Return the TCP ports on which these processes listen. Raises ExtraMissing."""
    listening = listening_ports()
    ports = {port for pid in pids for port in listening.get(pid, ())}
    return [{"port": port, "protocol": "tcp"} for port in sorted(ports)]


def config_paths(name: str) -> list[JsonValue]:
    """Return the usual places of settings that exist for a service of that name."""
    return list(_existing(each.format(name) for each in _CONFIG))


def log_paths(name: str, pids: Iterable[int]) -> list[JsonValue]:
    """Return log files: the usual ones that exist, and those that its processes have open."""
    opened = (path for pid in pids for path in _open_files(pid) if _is_log(path))
    usual = _existing(each.format(name) for each in _LOGS)
    paths: list[JsonValue] = list(dict.fromkeys([*usual, *opened]))
    return paths[:_MOST_PATHS]


def container_facts(record: dict[str, Any]) -> dict[str, JsonValue]:
    """Return ports, bind mounts and the log path from a container engine's record."""
    mounts: list[JsonValue] = [
        {
            "source": str(each.get("Source", "")),
            "destination": str(each.get("Destination", "")),
            "read_only": not each.get("RW", True),
        }
        for each in record.get("Mounts") or []
        if each.get("Type") == "bind"
    ]
    published = (record.get("NetworkSettings") or {}).get("Ports") or {}
    ports: list[JsonValue] = [
        {
            "port": int(inner.partition("/")[0]),
            "protocol": inner.partition("/")[2],
            "published": [str(each.get("HostPort", "")) for each in outer or []],
        }
        for inner, outer in published.items()
    ]
    logs: list[JsonValue] = [str(record["LogPath"])] if record.get("LogPath") else []
    return {"ports": ports, "bind_mounts": mounts, "log_paths": logs}


def _existing(paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        try:
            if Path(path).exists():
                yield path
        except OSError:
            continue


def _open_files(pid: int) -> list[str]:
    psutil = load_psutil()
    try:
        return [each.path for each in psutil.Process(pid).open_files()]
    except (psutil.Error, OSError):
        return []  # of another user


def _is_log(path: str) -> bool:
    return path.endswith(".log") or path.startswith("/var/log/")
