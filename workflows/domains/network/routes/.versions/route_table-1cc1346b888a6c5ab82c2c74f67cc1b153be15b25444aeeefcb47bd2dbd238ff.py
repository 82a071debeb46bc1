"""Show the routing table and the default gateway.

Reads the kernel's routes for IPv4 and IPv6. The default route with the lowest metric is the one
used for everything that no other route covers; its gateway is `default_gateway`. Routes that are
down, the machine's own addresses, the loopback card and IPv6 multicast are left out. Only the main
IPv4 table is shown by the kernel this way, not tables of policy routing.

Args:
    family (str): `ipv4`, `ipv6` or `any`.
    ipv4_routes (str): The IPv4 table, or a copy of `/proc/net/route`.
    ipv6_routes (str): The IPv6 table, or a copy of `/proc/net/ipv6_route`.

Returns:
    rows (list[dict[str, Any]]): One a route, default routes first: `family`, `destination`,
        `gateway` (null where directly connected), `interface`, `metric`, `default`.
    default_gateway (str): Gateway of the best IPv4 default route, else of the IPv6 one; null where
        there is none.
    default_interface (str): The network card of that route; null where there is none.
    count (int): How many rows there are.
    ok (bool): Whether there is a default route.
    error (str): A table that this machine does not have; null where both were read.

Side effects:
    none

Kind: read

Effects:
    paths: /proc/net/route, /proc/net/ipv6_route
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: a default route over eth0 and its own network, no IPv6
      inputs: {family: ipv4, ipv4_routes: /tmp/route_table/route}
      files:
        /tmp/route_table/route: |
          Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT
          eth0 0000A8C0 00000000 0001 0 0 100 00FFFFFF 0 0 0
          eth0 00000000 0100A8C0 0003 0 0 100 00000000 0 0 0
      output:
        rows:
          - {family: ipv4, destination: 0.0.0.0/0, gateway: 192.168.0.1, interface: eth0,
             metric: 100, default: true}
          - {family: ipv4, destination: 192.168.0.0/24, gateway: null, interface: eth0,
             metric: 100, default: false}
        default_gateway: 192.168.0.1
        default_interface: eth0
        count: 2
        ok: true
        error: null
    - title: this machine
      inputs: {}
"""

from __future__ import annotations

import ipaddress
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

UP, GATEWAY, REJECT, LOCAL = 0x1, 0x2, 0x200, 0x80000000


def run(
    family: str = "any",
    ipv4_routes: str = "/proc/net/route",
    ipv6_routes: str = "/proc/net/ipv6_route",
) -> dict[str, Any]:
    """Read both tables and name the default route."""
    if family not in ("any", "ipv4", "ipv6"):
        raise ValueError(f"family {family!r} is unknown: give any, ipv4 or ipv6")
    rows: list[dict[str, Any]] = []
    error = None
    if family != "ipv6":
        rows += _table(ipv4_routes, _ipv4)
    if family != "ipv4":
        try:
            rows += _table(ipv6_routes, _ipv6)
        except FileNotFoundError:
            if family == "ipv6":
                raise
            error = f"{ipv6_routes} is missing: IPv6 is off on this machine"
    rows.sort(key=lambda row: (not row["default"], row["family"], row["metric"]))
    best = next((row for row in rows if row["default"]), None)
    return {
        "rows": rows,
        "default_gateway": best["gateway"] if best else None,
        "default_interface": best["interface"] if best else None,
        "count": len(rows),
        "ok": best is not None,
        "error": error,
    }


def _table(path: str, parse: Callable[[list[str]], dict[str, Any] | None]) -> list[dict[str, Any]]:
    lines = Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    return [row for line in lines if (row := parse(line.split())) is not None]


def _ipv4(fields: list[str]) -> dict[str, Any] | None:
    """One route; None for the heading, a broken line or a route that is not in use."""
    try:
        interface, target, gateway, flags = fields[:4]
        metric, mask = int(fields[6]), _word(fields[7])
        network = ipaddress.ip_network((int(_word(target)), int(mask).bit_count()))
        hop = _word(gateway)
        state = int(flags, 16)
    except (ValueError, IndexError):
        return None
    if not state & UP or state & REJECT:
        return None
    return _row("ipv4", network, hop if state & GATEWAY else None, interface, metric)


def _ipv6(fields: list[str]) -> dict[str, Any] | None:
    """One route; None for a broken line or a route that is left out."""
    try:
        network = ipaddress.IPv6Network((bytes.fromhex(fields[0]), int(fields[1], 16)))
        hop = ipaddress.IPv6Address(bytes.fromhex(fields[4]))
        metric, state, interface = int(fields[5], 16), int(fields[8], 16), fields[9]
    except (ValueError, IndexError):
        return None
    if not state & UP or state & (REJECT | LOCAL) or interface == "lo" or network.is_multicast:
        return None
    return _row("ipv6", network, hop if state & GATEWAY else None, interface, metric)


def _word(text: str) -> ipaddress.IPv4Address:
    """The kernel writes an IPv4 address as one number in the byte order of the machine."""
    return ipaddress.IPv4Address(int.from_bytes(bytes.fromhex(text), sys.byteorder))


def _row(
    family: str,
    network: ipaddress.IPv4Network | ipaddress.IPv6Network,
    hop: ipaddress.IPv4Address | ipaddress.IPv6Address | None,
    interface: str,
    metric: int,
) -> dict[str, Any]:
    return {
        "family": family,
        "destination": str(network),
        "gateway": str(hop) if hop else None,
        "interface": interface,
        "metric": metric,
        "default": network.prefixlen == 0,
    }
