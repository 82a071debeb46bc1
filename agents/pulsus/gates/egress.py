"""Egress: decide if a read may connect to the places that it names (`policy.egress`,
docs/command-safety.md).

Known are this machine, what `policy.egress_hosts` lists, the place that a client's own
configuration names, and the names that the request said. Everything else, and what is not known
before the command runs, needs approval. The names that a session has said are collected in
`agent/control/session_words.py`. Pure.

This is the network allowlist of the command gate; that of a dry run is in
`routing/delivery/network_allowlist.py`. The hosts of a command are found in
`commands/destinations/connections.py`, the ruling that follows is made in `command_policy.py`, and
an invalid entry of `policy.egress_hosts` is refused by `config/egress_hosts.py`. The hosts of a
running tool are checked in `execution/confinement/supervision/socket_broker.py`.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, Literal

from pulsus.commands.command_verdict import Destination
from pulsus.commands.program_tables.connects_declaration import CONFIGURED, INDEX

Egress = Literal["allow", "known", "approve", "block"]

_LOCAL: Final = frozenset({"localhost", "ip6-localhost", "ip6-loopback"})
_DOTTED: Final = re.compile(r"(?:0|[1-9]\d{0,2})(?:\.(?:0|[1-9]\d{0,2})){3}")
_PORT: Final = re.compile(r"(?P<host>\[[^\]]+\]|[^:]+):(?P<port>\d{1,5})")

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def find_unknown_destination(
    destinations: Iterable[Destination], egress: Egress, hosts: Sequence[str], known: Sequence[str]
) -> Destination | None:
    """Return the first of `destinations` that `egress` does not let a read connect to, or None.

    `hosts` are those of the settings, `known` those that the request named.
    """
    if egress == "allow":
        return None
    for each in destinations:
        if each.dynamic:
            return each
        if is_this_machine(each.host) or any(covers(entry, each) for entry in hosts):
            continue
        if egress != "known" or not _is_known_destination(each, known):
            return each
    return None


def _is_known_destination(destination: Destination, known: Sequence[str]) -> bool:
    configured = destination.host in {CONFIGURED, INDEX}
    # A request names hosts: patterns and networks are for the settings.
    named = (entry for entry in known if "*" not in entry and "/" not in entry)
    return configured or any(covers(entry, destination) for entry in named)


def is_this_machine(host: str) -> bool:
    """Return True if `host` is this machine, written so that every program reads it alike."""
    name = normalize_host(host)
    if name in _LOCAL:
        return True
    found = parse_address(name)
    return found is not None and (found.is_loopback or found.is_unspecified)


def covers(entry: str, destination: Destination) -> bool:
    """Return True if `entry` (a host, `host:port`, `*.domain` or a network) names that
    destination."""
    wanted = _parse_entry(entry)
    if wanted.port is not None and wanted.port != destination.port:
        return False
    host = normalize_host(destination.host)
    if wanted.network is not None:
        found = parse_address(host)
        return (
            found is not None
            and found.version == wanted.network.version
            and (found in wanted.network)
        )
    if wanted.host.startswith("*."):
        return host.endswith(wanted.host[1:]) and parse_address(host) is None
    # `@prod`, a context of kubectl, is what a request calls prod.
    return host in {wanted.host, f"@{wanted.host}"}


class _HostEntry:
    """One entry of a list, taken apart."""

    __slots__ = ("host", "network", "port")

    def __init__(self, host: str, port: int | None, network: _Network | None) -> None:
        self.host, self.port, self.network = host, port, network


@lru_cache(maxsize=1024)
def _parse_entry(text: str) -> _HostEntry:
    found = _PORT.fullmatch(text)
    host = normalize_host(found["host"] if found else text)
    network: _Network | None = None
    single = parse_address(host)
    try:
        if single is not None:
            network = ipaddress.ip_network(single)
        elif "/" in host:
            network = ipaddress.ip_network(host, strict=False)
    except ValueError:
        network = None
    return _HostEntry(host, int(found["port"]) if found else None, network)


@lru_cache(maxsize=4096)
def normalize_host(host: str) -> str:
    """Return `host` in lower case, in ASCII, without brackets and the last dot."""
    name = host.removeprefix("[").removesuffix("]").lower()
    if not name.isascii():
        try:
            name = name.encode("idna").decode("ascii")
        except UnicodeError:
            return host
    return name.removesuffix(".")


@lru_cache(maxsize=4096)
def parse_address(name: str) -> _Address | None:
    """Return the address that `name` is in its usual form. A mapped one as the IPv4 address it
    stands for.

    `0177.0.0.1`, `127.1` and `2130706433` do not count: programs read them in different ways.
    """
    try:
        found: _Address = ipaddress.ip_address(name)
    except ValueError:
        return None
    if isinstance(found, ipaddress.IPv4Address):
        return found if _DOTTED.fullmatch(name) else None
    if found.scope_id is not None:
        return None
    return found.ipv4_mapped or found


def describe_destination(destination: Destination) -> str:
    """Return the destination in words, for a reason."""
    if destination.dynamic:
        return f"{destination.program} connects to a place that is not known before it runs"
    if destination.host in {CONFIGURED, INDEX}:
        return f"{destination.program} connects to the place that its configuration names"
    port = f":{destination.port}" if destination.port is not None else ""
    if destination.host.startswith("@"):
        return f"{destination.program} uses {destination.host[1:]} of its configuration"
    host = f"[{destination.host}]" if port and ":" in destination.host else destination.host
    return f"{destination.program} connects to {host}{port}"
