"""Measure how long a connection to a host takes: minimum, average, worst and loss.

Opens several TCP connections one after the other, like ping but without special rights, and times
each from the first packet to the accepted connection. The name is looked up once, before the clock
starts. An attempt that is refused or not answered in time is lost. When nothing answers the figures
are null and `error` says why.

Args:
    host (str): Host name or IP address.
    port (int): A TCP port that accepts connections, 1 to 65535.
    count (int): How many connections to open, 1 to 100.
    interval_seconds (float): Pause between two attempts, 0 to 60.
    timeout_seconds (float): How long to wait for one connection.

Returns:
    rows (list[dict[str, Any]]): One an attempt: `attempt`, `milliseconds`, `error`.
    address (str): The address that was measured; null where the name does not resolve.
    minimum_ms (float): The fastest connection; null where none was accepted.
    average_ms (float): The average; null where none was accepted.
    maximum_ms (float): The slowest; null where none was accepted.
    jitter_ms (float): Standard deviation; null where fewer than two were accepted.
    lost (int): Attempts that were not accepted.
    loss_percent (float): The same in percent.
    ok (bool): Whether every attempt was accepted.
    error (str): The last reason for a loss; null where nothing was lost.

Side effects:
    Opens and closes TCP connections, which the other side may log.

Kind: read

Effects:
    paths: none
    hosts: the given host
    commands: none

Secrets: none

Examples:
    - title: nobody listens on the discard port of this machine
      inputs: {host: 127.0.0.1, port: 9, count: 2, interval_seconds: 0, timeout_seconds: 1}
      output:
        rows:
          - {attempt: 1, milliseconds: null, error: ...}
          - {attempt: 2, milliseconds: null, error: ...}
        address: 127.0.0.1
        minimum_ms: null
        average_ms: null
        maximum_ms: null
        jitter_ms: null
        lost: 2
        loss_percent: 100.0
        ok: false
        error: ...
"""

from __future__ import annotations

import socket
import statistics
import time
from typing import Any


def run(
    host: str,
    port: int = 443,
    count: int = 5,
    interval_seconds: float = 0.2,
    timeout_seconds: float = 2.0,
) -> dict[str, Any]:
    """Connect several times and sum up the times."""
    _check(host, port, count, interval_seconds, timeout_seconds)
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        why = f"{host} does not resolve: {reason}"
        return _summary([_row(n, None, why) for n in range(1, count + 1)], None)
    family, kind, protocol, _, place = found[0]
    rows = []
    for attempt in range(1, count + 1):
        if attempt > 1:
            time.sleep(interval_seconds)
        begun = time.perf_counter()
        try:
            with socket.socket(family, kind, protocol) as connection:
                connection.settimeout(timeout_seconds)
                connection.connect(place)
                spent = (time.perf_counter() - begun) * 1000
        except TimeoutError:
            rows.append(_row(attempt, None, f"no answer within {timeout_seconds} seconds"))
        except OSError as error:
            rows.append(_row(attempt, None, error.strerror or str(error)))
        else:
            rows.append(_row(attempt, round(spent, 3), None))
    return _summary(rows, str(place[0]))


def _check(host: str, port: int, count: int, interval: float, timeout: float) -> None:
    if not host.strip():
        raise ValueError("host is empty: give a host name or an IP address")
    if not 1 <= port <= 65_535:
        raise ValueError(f"port {port} is no TCP port: give 1 to 65535")
    if not 1 <= count <= 100:
        raise ValueError(f"count {count} is out of range: give 1 to 100 attempts")
    if not 0 <= interval <= 60:
        raise ValueError(f"interval_seconds {interval} is out of range: give 0 to 60")
    if not timeout > 0:
        raise ValueError(f"timeout_seconds {timeout} is no time: give more than 0")


def _row(attempt: int, milliseconds: float | None, error: str | None) -> dict[str, Any]:
    return {"attempt": attempt, "milliseconds": milliseconds, "error": error}


def _summary(rows: list[dict[str, Any]], address: str | None) -> dict[str, Any]:
    times = [row["milliseconds"] for row in rows if row["error"] is None]
    errors = [row["error"] for row in rows if row["error"] is not None]
    return {
        "rows": rows,
        "address": address,
        "minimum_ms": min(times, default=None),
        "average_ms": round(statistics.fmean(times), 3) if times else None,
        "maximum_ms": max(times, default=None),
        "jitter_ms": round(statistics.stdev(times), 3) if len(times) > 1 else None,
        "lost": len(errors),
        "loss_percent": round(100 * len(errors) / len(rows), 1),
        "ok": not errors,
        "error": errors[-1] if errors else None,
    }
