"""Needs of the programs that tools declare: processes, raw sockets, local services, hosts. Pure.

`choose_network` decides if a run has no network, the declared hosts only, or an open one.
`execution/confinement/supervision/socket_broker.py` then refuses other hosts. The tables here are
about well-known programs: `ping` gets raw sockets, `docker` its socket (`docker.sock`). Any other
program gets what the contract of its tool declares.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pulsus.core.types import JsonValue, ToolSpec
from pulsus.execution.confinement import declared_effects
from pulsus.execution.confinement.syscall_filter import Network

# A Landlock domain hides all of other processes but their names.
_OTHER_PROCESSES = re.compile(r"/proc(?:/?\Z|/[*{\[0-9])")
# fmt: off
_LOOK_AT_PROCESSES = frozenset((
    "ps", "top", "htop", "pgrep", "pidof", "lsof", "fuser", "ss", "netstat", "pmap", "pstree",
    "pidstat", "iotop", "w", "lslocks",
))
_RAW = frozenset((
    "ping", "ping6", "traceroute", "tracepath", "mtr", "fping", "arping", "nmap",
))
_ONLY_FILES = frozenset((
    "fc-list", "cat", "cp", "mv", "ln", "mkdir", "tar", "gzip", "bzip2", "xz", "zstd", "zip",
    "unzip", "sort",
))
# fmt: on
"""Programs that write only to paths that their arguments name."""
_SYSTEMD = (
    "/run/systemd/private",
    "/run/dbus/system_bus_socket",
    "/var/run/dbus/system_bus_socket",
)
_DOCKER = ("/var/run/docker.sock", "/run/docker.sock")
_LOCAL: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("systemctl", "timedatectl", "hostnamectl", "loginctl", "localectl", "busctl",
         "networkctl", "systemd-analyze"),
        _SYSTEMD,
    ),
    "resolvectl": (*_SYSTEMD, "/run/systemd/resolve/io.systemd.Resolve"),
    "docker": _DOCKER,
    "podman": ("/run/podman/podman.sock",),
    "crictl": ("/run/containerd/containerd.sock", "/run/crio/crio.sock"),
    "chronyc": ("/run/chrony/chronyd.sock",),
}  # fmt: skip
"""Local sockets of programs. A tool that declares such a program may ask its server for everything
that the user may. The record names the sockets."""
_LOCAL_HOSTS = {"chronyc": ("127.0.0.1:323", "[::1]:323"), "ntpq": ("127.0.0.1:123", "[::1]:123")}


def is_about_processes(tools: Sequence[ToolSpec]) -> bool:
    """Return True if a tool looks at other processes: by a program, or below /proc."""
    if any(program_ in _LOOK_AT_PROCESSES for program_ in declared_commands(tools)):
        return True
    return any(_OTHER_PROCESSES.match(path) for tool in tools for path in declared_paths(tool))


def needs_raw_sockets(tools: Sequence[ToolSpec]) -> bool:
    """Return True if a program of a tool sends packets of its own making (`ping`)."""
    return any(program_ in _RAW for program_ in declared_commands(tools))


def choose_network(
    tools: Sequence[ToolSpec], inputs: Mapping[str, JsonValue], *, certain: bool
) -> tuple[Network, tuple[str, ...]]:
    """Return how far the network is open, and the hosts.

    Hosts of a step are certain only if they are constant.
    """
    hosts: list[str] = []
    names = declared_commands(tools)
    if needs_raw_sockets(tools):
        return "open", ()
    for number, tool in enumerate(tools):
        known = certain and number == 0
        found = declared_effects.declared_hosts(tool, inputs if known else {})
        words = not known and any(" " in host for host in _declared_hosts(tool))
        if found is None or words:
            return "open", ()
        hosts += found
    hosts += [each for name in names for each in _LOCAL_HOSTS.get(name, ())]
    declares = any(not host.startswith("unix:") for tool in tools for host in _declared_hosts(tool))
    return ("gate" if hosts or declares else "none"), tuple(dict.fromkeys(hosts))


def local_sockets(tools: Sequence[ToolSpec]) -> tuple[str, ...]:
    """Return the sockets of this machine that the tools name, or that their programs ask."""
    found = [each for name in declared_commands(tools) for each in _LOCAL.get(name, ())]
    found += [
        host.removeprefix("unix:")
        for tool in tools
        for host in _declared_hosts(tool)
        if host.startswith("unix:/") and "{" not in host and "*" not in host
    ]
    return tuple(dict.fromkeys(found))


def is_file_only(tool: ToolSpec) -> bool:
    """Return True if every program of the tool writes only to paths that its arguments name."""
    return set(declared_commands([tool])) <= _ONLY_FILES


def declared_commands(tools: Sequence[ToolSpec]) -> list[str]:
    """Return the programs that the tools declare, without folders and arguments."""
    items = [item for tool in tools if tool.effects for item in tool.effects.commands]
    return [words[0].rpartition("/")[2] for item in items if (words := item.split())]


def declared_paths(tool: ToolSpec) -> tuple[str, ...]:
    """Return the paths under `Effects:`, as written."""
    return tool.effects.paths if tool.effects else ()


def _declared_hosts(tool: ToolSpec) -> tuple[str, ...]:
    return tool.effects.hosts if tool.effects else ()
