"""Show which programs listen on which TCP and UDP ports of this machine.

Reads the kernel's socket tables for IPv4 and IPv6 and finds the owner of each socket by looking
through the open descriptors of every process. Only root can look into other users' processes:
sockets whose owner is hidden have null as `pid` and `program`. A port bound to `0.0.0.0` or `::`
can be reached on every address of the machine, one bound to `127.0.0.1` or `::1` only from itself.

Args:
    protocol (str): `tcp`, `udp` or `all`.
    port (int): Only this port; 0 means every port.
    proc (str): The process tree.

Returns:
    rows (list[dict[str, Any]]): One a socket, by port: `protocol`, `address`, `port`, `pid`,
        `program`, `uid`, `reach` (`everywhere`, `this machine` or `one address`).
    count (int): How many rows there are.
    exposed (list[int]): Ports that can be reached from other machines.
    owners_unknown (int): How many rows have no known program.

Side effects:
    none

Kind: read

Effects:
    paths: /proc
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: SSH everywhere, a database for this machine only
      inputs: {proc: /tmp/listening_ports, protocol: tcp}
      files:
        /tmp/listening_ports/net/tcp: |
          sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode
          0: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 101
          1: 0100007F:1538 00000000:0000 0A 00000000:00000000 00:00000000 00000000 999 0 102
          2: 0100007F:1538 0100007F:A000 01 00000000:00000000 00:00000000 00000000 999 0 103
      output:
        rows:
          - {protocol: tcp, address: 0.0.0.0, port: 22, pid: null, program: null, uid: 0,
             reach: everywhere}
          - {protocol: tcp, address: 127.0.0.1, port: 5432, pid: null, program: null, uid: 999,
             reach: this machine}
        count: 2
        exposed: [22]
        owners_unknown: 2
    - title: this machine
      inputs: {}
"""

from __future__ import annotations

import ipaddress
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LISTEN = {"tcp": "0A", "udp": "07"}


def run(protocol: str = "all", port: int = 0, proc: str = "/proc") -> dict[str, Any]:
    """Read the socket tables and join them with the processes."""
    if protocol not in ("tcp", "udp", "all"):
        raise ValueError(f"protocol {protocol!r} is unknown: give tcp, udp or all")
    if not 0 <= port <= 65_535:
        raise ValueError(f"port {port} is out of range: give 1 to 65535, 0 for every port")
    root = Path(proc)
    wanted = ("tcp", "udp") if protocol == "all" else (protocol,)
    tables = [root / "net" / f"{name}{six}" for name in wanted for six in ("", "6")]
    present = [table for table in tables if table.exists()]
    if not present:
        raise FileNotFoundError(f"{root / 'net'} has no socket tables: give /proc or a copy of it")
    sockets = [found for table in present for found in _sockets(table)]
    owners = _owners(root)
    rows = []
    for row, inode in sockets:
        if port in (0, row["port"]):
            row["pid"], row["program"] = owners.get(inode, (None, None))
            rows.append(row)
    rows.sort(key=lambda row: (row["port"], row["protocol"], row["address"]))
    return {
        "rows": rows,
        "count": len(rows),
        "exposed": sorted({row["port"] for row in rows if row["reach"] != "this machine"}),
        "owners_unknown": sum(row["pid"] is None for row in rows),
    }


def _sockets(table: Path) -> Iterator[tuple[dict[str, Any], str]]:
    """Listening sockets of one table with their inodes; a broken line is passed over."""
    protocol = table.name[:3]
    for line in table.read_text(encoding="ascii", errors="replace").splitlines():
        fields = line.split()
        if len(fields) < 10 or fields[3] != LISTEN[protocol]:
            continue
        if not fields[2].endswith(":0000"):  # a UDP socket that talks to one peer only
            continue
        place, _, port = fields[1].partition(":")
        try:
            address, number, uid = _address(place), int(port, 16), int(fields[7])
        except ValueError:
            continue
        row = {"protocol": protocol, "address": str(address), "port": number}
        owner = {"pid": None, "program": None, "uid": uid, "reach": _reach(address)}
        yield row | owner, fields[9]


def _address(place: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """The kernel writes addresses as 32-bit words in the byte order of the machine."""
    raw = bytes.fromhex(place)
    words = [raw[start : start + 4] for start in range(0, len(raw), 4)]
    if sys.byteorder == "little":
        words = [word[::-1] for word in words]
    return ipaddress.ip_address(b"".join(words))


def _reach(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> str:
    inner = getattr(address, "ipv4_mapped", None) or address
    if inner.is_unspecified:
        return "everywhere"
    return "this machine" if inner.is_loopback else "one address"


def _owners(root: Path) -> dict[str, tuple[int, str]]:
    """Socket inode to the lowest pid that holds it, and that program's name."""
    owners: dict[str, tuple[int, str]] = {}
    pids = sorted(int(entry.name) for entry in root.iterdir() if entry.name.isdigit())
    for pid in pids:
        here = root / str(pid)
        try:
            name = (here / "comm").read_text(encoding="utf-8", errors="replace").rstrip("\n")
            descriptors = os.listdir(here / "fd")
        except OSError:
            continue
        for descriptor in descriptors:
            try:
                target = os.readlink(here / "fd" / descriptor)
            except OSError:
                continue
            if match := re.fullmatch(r"socket:\[(\d+)\]", target):
                owners.setdefault(match[1], (pid, name))
    return owners
