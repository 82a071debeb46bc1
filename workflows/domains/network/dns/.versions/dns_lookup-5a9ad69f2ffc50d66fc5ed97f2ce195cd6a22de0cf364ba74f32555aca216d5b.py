"""Look up which addresses a host name resolves to, or which name an address has.

Asks the resolver of this machine, so /etc/hosts and search domains count as they do for every
program. Given an IP address it looks up the name instead. `expected` tells whether one certain
address is among the answers. A name that does not resolve is a result with `ok` false, not an
exception.

Args:
    name (str): Host name, or an IP address for a reverse look-up.
    family (str): `ipv4`, `ipv6` or `any`.
    expected (str): An address (or name, for a reverse look-up) that should be among the answers.
    timeout_seconds (float): How long to wait for the resolver.

Returns:
    rows (list[dict[str, Any]]): One an answer, in the resolver's order: `address`, `family`,
        `name`.
    addresses (list[str]): The addresses alone.
    canonical_name (str): The name that aliases lead to; null where unknown.
    milliseconds (float): How long the look-up took.
    ok (bool): Whether there is an answer, with the expected one among them where one was given.
    error (str): Why there is no answer; null where there is one.

Side effects:
    Sends DNS queries.

Kind: read

Effects:
    paths: /etc/hosts, /etc/resolv.conf
    hosts: the configured name servers
    commands: none

Secrets: none

Examples:
    - title: a name that never exists
      inputs: {name: no-such-host.invalid}
      output:
        rows: []
        addresses: []
        canonical_name: null
        milliseconds: ...
        ok: false
        error: ...
"""

from __future__ import annotations

import ipaddress
import socket
import threading
import time
from typing import Any

FAMILIES = {"any": socket.AF_UNSPEC, "ipv4": socket.AF_INET, "ipv6": socket.AF_INET6}
LABELS: dict[int, str] = {socket.AF_INET: "ipv4", socket.AF_INET6: "ipv6"}


def run(
    name: str, family: str = "any", expected: str = "", timeout_seconds: float = 5.0
) -> dict[str, Any]:
    """Ask the resolver, in a thread because it knows no time limit of its own."""
    if not name.strip() or any(mark in name for mark in " /\0"):
        raise ValueError(f"name {name!r} is no host name: give a name or an IP address, no URL")
    if family not in FAMILIES:
        raise ValueError(f"family {family!r} is unknown: give any, ipv4 or ipv6")
    if not timeout_seconds > 0:
        raise ValueError(f"timeout_seconds {timeout_seconds} is no time: give more than 0")
    answer: dict[str, Any] = {"rows": [], "canonical_name": None, "error": None}
    worker = threading.Thread(target=_ask, args=(name, family, answer), daemon=True)
    begun = time.monotonic()
    worker.start()
    worker.join(timeout_seconds)
    spent = round((time.monotonic() - begun) * 1000, 3)
    if worker.is_alive():  # whatever it still writes goes into a dict nobody reads
        late = f"no answer for {name} within {timeout_seconds} seconds"
        answer = {"rows": [], "canonical_name": None, "error": late}
    rows = answer["rows"]
    error = answer["error"]
    given = {_plain(row[key]) for row in rows for key in ("address", "name")}
    if error is None and expected and _plain(expected) not in given:
        error = f"{expected} is not among the answers for {name}"
    return {
        "rows": rows,
        "addresses": [row["address"] for row in rows],
        "canonical_name": answer["canonical_name"],
        "milliseconds": spent,
        "ok": error is None,
        "error": error,
    }


def _ask(name: str, family: str, answer: dict[str, Any]) -> None:
    """Fill `answer` with rows and a canonical name, or with an error."""
    try:
        if (address := _as_address(name)) is not None:
            host = socket.gethostbyaddr(str(address))[0]
            kind = f"ipv{address.version}"
            found = {"rows": [{"address": str(address), "family": kind, "name": host}]}
            answer.update(found | {"canonical_name": host})
            return
        records = socket.getaddrinfo(
            name, None, FAMILIES[family], socket.SOCK_STREAM, 0, socket.AI_CANONNAME
        )
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        answer["error"] = f"{name} does not resolve: {reason}"
        return
    places = {str(place[0]): kind for kind, _, _, _, place in records}
    answer["rows"] = [
        {"address": address, "family": LABELS[kind], "name": name}
        for address, kind in places.items()
    ]
    answer["canonical_name"] = next((record[3] for record in records if record[3]), None)


def _as_address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _plain(text: str) -> str:
    """Two spellings of one address or name become one."""
    address = _as_address(text)
    return str(address) if address is not None else text.rstrip(".").lower()
