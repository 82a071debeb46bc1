"""The processes of this machine that matter: those that listen on a port, and the ten largest.

psutil belongs to the extra `agent` and is imported late. Effect: reads /proc.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Final

from pulsus.errors import ExtraMissing
from pulsus.fast_dataclass import dataclass

_LARGEST: Final = 10
_MOST: Final = 40


@dataclass(frozen=True, slots=True)
class ProcessState:
    """One process. `started` is in seconds since 1970, `ports` are those on which it listens.

    `command` is its command line, which may hold secrets.
    """

    pid: int
    name: str
    user: str
    command: str
    memory_bytes: int
    started: int
    ports: tuple[int, ...]


def load_psutil() -> ModuleType:
    """Return psutil. Raises ExtraMissing with the command that installs it."""
    try:
        import psutil
    except ImportError as failure:
        raise ExtraMissing.of(
            "reading the figures of this machine", ["psutil"], "agent"
        ) from failure
    return psutil


def own_addresses() -> tuple[str, ...]:
    """Return the IP addresses of all interfaces of this machine. Raises ExtraMissing."""
    found = load_psutil().net_if_addrs().values()
    inet = {"AF_INET", "AF_INET6"}
    return tuple(
        one.address.partition("%")[0] for each in found for one in each if one.family.name in inet
    )


def important_processes() -> tuple[ProcessState, ...]:
    """Return the processes that listen on a port and the ten largest, at most 40.

    Raises ExtraMissing.
    """
    psutil = load_psutil()
    listening = listening_ports()
    wanted = ["pid", "name", "username", "memory_info", "create_time"]
    alive = [each.info | {"process": each} for each in psutil.process_iter(wanted)]
    alive = [each for each in alive if each["memory_info"] and each["memory_info"].rss]
    alive.sort(key=lambda each: each["memory_info"].rss, reverse=True)
    chosen = alive[:_LARGEST] + [e for e in alive[_LARGEST:] if e["pid"] in listening]
    return tuple(
        ProcessState(
            pid=each["pid"],
            name=each["name"] or "?",
            user=each["username"] or "?",
            command=_command_line(each["process"]),
            memory_bytes=each["memory_info"].rss,
            started=int(each["create_time"] or 0),
            ports=tuple(sorted(listening.get(each["pid"], ()))),
        )
        for each in chosen[:_MOST]
    )


def listening_ports() -> Mapping[int, set[int]]:
    """Return the TCP ports on which each process listens, as far as this user may see them.

    Raises ExtraMissing.
    """
    psutil = load_psutil()
    found: dict[int, set[int]] = {}
    try:
        connections = psutil.net_connections(kind="tcp")
    except (psutil.Error, OSError):
        return found  # macOS tells only root
    for each in connections:
        if each.status == psutil.CONN_LISTEN and each.pid is not None:
            found.setdefault(each.pid, set()).add(each.laddr.port)
    return found


def _command_line(process: object) -> str:
    psutil = load_psutil()
    try:
        return " ".join(process.cmdline())[:500]  # type: ignore[attr-defined]
    except (psutil.Error, OSError):
        return ""
