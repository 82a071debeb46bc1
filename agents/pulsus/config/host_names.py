"""Hosts and ports as settings allow them (`sandbox.network`, spec §8, §17). Pure.

Here an entry without a port, a pattern or localhost is refused. The allowlist of a dry run is made
in `routing/delivery/network_allowlist.py`, and enforced by `core/sandbox/network_relay.py`.
"""

from __future__ import annotations

import ipaddress

from pulsus.late_pattern import late_pattern

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_LABEL = late_pattern(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = late_pattern(r"(0x[0-9a-f]*|[0-9]+)\Z")
_PORT = late_pattern(r"[0-9]{1,5}")
_MOST_CHARS = 253


def canonical_host(entry: str) -> str:
    """Return `host:port` in the one form it is compared in: lower case, no last dot, ASCII.

    An IPv6 address stands in brackets. Raises ValueError saying what is wrong.
    """
    host, port = _split_entry(entry)
    if not (_PORT.fullmatch(port) and 1 <= int(port) <= 65535):
        raise ValueError(f"{entry!r} has no port from 1 to 65535: write HOST:PORT")
    literal = parse_address(host)
    if literal is not None:
        shown = f"[{literal}]" if literal.version == 6 else str(literal)
        return f"{shown}:{int(port)}"
    return f"{_canonical_name(host, entry)}:{int(port)}"


def split_host_port(entry: str) -> tuple[str, int]:
    """Return (host without brackets, port) of a canonical entry."""
    host, _, port = entry.rpartition(":")
    return host.strip("[]"), int(port)


def parse_address(host: str) -> Address | None:
    """Return the IP address that `host` is; None for a name. One with a zone is no address."""
    try:
        return ipaddress.ip_address(host) if "%" not in host else None
    except ValueError:
        return None


def _split_entry(entry: str) -> tuple[str, str]:
    if entry.startswith("["):
        host, _, port = entry[1:].partition("]:")
        if not isinstance(parse_address(host), ipaddress.IPv6Address):
            raise ValueError(f"{entry!r} holds no IPv6 address in its brackets")
        return host, port
    host, _, port = entry.rpartition(":")
    if ":" in host:
        raise ValueError(f"{entry!r}: write an IPv6 address in brackets, [::1]:443")
    return host, port


def _canonical_name(host: str, entry: str) -> str:
    try:
        name = host.removesuffix(".").encode("idna").decode("ascii").lower()
    except UnicodeError:
        name = ""
    labels = name.split(".")
    if len(name) > _MOST_CHARS or not all(map(_LABEL.fullmatch, labels)):
        why = "a pattern is not taken" if "*" in host else "it names no host"
        raise ValueError(f"{entry!r}: {why}; write HOST:PORT")
    if _NUMBER.match(labels[-1]):
        raise ValueError(f"{entry!r} is an address in no usual form: write 192.0.2.1:443")
    if labels[-1] == "localhost":
        raise ValueError(
            f"{entry!r} is this machine: name its address, 127.0.0.1:{split_host_port(entry)[1]}"
        )
    return name
