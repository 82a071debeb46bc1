"""Check whether a TCP port of a host accepts connections.

Resolves the host name and tries to connect to each of its addresses in turn until one accepts;
nothing is sent. `refused` means that the host answered that nobody listens there; `timeout`
usually means a firewall drops the packets. A failure is a result, not an exception.

Args:
    host (str): Host name or IP address.
    port (int): TCP port, 1 to 65535.
    timeout_seconds (float): How long to wait for each address.

Returns:
    host (str): The host that was asked.
    port (int): The port that was tried.
    open (bool): Whether a connection was accepted.
    ok (bool): The same as `open`.
    state (str): `open`, `refused`, `timeout`, `unresolved` or `unreachable`.
    address (str): The address that accepted; null where none did.
    milliseconds (float): How long the accepted connection took; null where none was.
    rows (list[dict[str, Any]]): One an address that was tried: `address`, `state`, `error`.
    error (str): Why the port does not accept; null where it does.

Side effects:
    Opens and closes a TCP connection, which the other side may log.

Kind: read

Effects:
    paths: none
    hosts: the given host
    commands: none

Secrets: none

Examples:
    - title: nobody listens on the discard port of this machine
      inputs: {host: 127.0.0.1, port: 9, timeout_seconds: 2}
      output:
        host: 127.0.0.1
        port: 9
        open: false
        ok: false
        state: ...
        address: null
        milliseconds: null
        rows: [{address: 127.0.0.1, state: ..., error: ...}]
        error: ...
"""

from __future__ import annotations

import socket
import time
from typing import Any


def run(host: str, port: int, timeout_seconds: float = 3.0) -> dict[str, Any]:
    """Try the addresses of the host one after the other."""
    if not host.strip():
        raise ValueError("host is empty: give a host name or an IP address")
    if not 1 <= port <= 65_535:
        raise ValueError(f"port {port} is no TCP port: give 1 to 65535")
    if not timeout_seconds > 0:
        raise ValueError(f"timeout_seconds {timeout_seconds} is no time: give more than 0")
    result: dict[str, Any] = {
        "host": host,
        "port": port,
        "open": False,
        "ok": False,
        "state": "unresolved",
        "address": None,
        "milliseconds": None,
        "rows": [],
        "error": None,
    }
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return result | {"error": f"{host} does not resolve: {reason}"}
    for family, kind, protocol, _, place in found:
        begun = time.monotonic()
        state, error_text = _connect((family, kind, protocol), place, timeout_seconds)
        address = str(place[0])
        result["rows"].append({"address": address, "state": state, "error": error_text})
        result |= {"state": state, "error": error_text}
        if state == "open":
            spent = round((time.monotonic() - begun) * 1000, 3)
            return result | {"open": True, "ok": True, "address": address, "milliseconds": spent}
    return result


def _connect(
    kind: tuple[int, int, int], place: tuple[Any, ...], timeout_seconds: float
) -> tuple[str, str | None]:
    try:
        with socket.socket(*kind) as connection:
            connection.settimeout(timeout_seconds)
            connection.connect(place)
    except ConnectionRefusedError as error:
        return "refused", error.strerror
    except TimeoutError:
        return "timeout", f"no answer within {timeout_seconds} seconds"
    except OSError as error:
        return "unreachable", error.strerror or str(error)
    return "open", None
