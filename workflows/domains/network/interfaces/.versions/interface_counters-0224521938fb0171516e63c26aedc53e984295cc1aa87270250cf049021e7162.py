"""Show traffic, errors and dropped packets of each network card.

Reads the kernel's counters, which run since the card came up. With an interval the counters are
read twice, and every row also says how many bytes and packets went through per second in between
and whether errors are being added right now. The loopback card is left out unless asked for.

Args:
    interval_seconds (float): Time between two readings; 0 reads once. 0 to 60.
    interface (str): Only this network card; empty means every one.
    include_loopback (bool): Also list `lo`.
    counters (str): The counters, or a copy of `/proc/net/dev` from another machine.

Returns:
    rows (list[dict[str, Any]]): One a card, by name: `interface`, then for received (`rx_`) and
        sent (`tx_`) each `bytes`, `packets`, `errors`, `dropped`; with an interval also
        `rx_bytes_per_second`, `tx_bytes_per_second`, `rx_packets_per_second`,
        `tx_packets_per_second`, `new_errors`, `new_dropped`.
    with_errors (list[str]): Cards that counted errors.
    with_drops (list[str]): Cards that dropped packets.
    rx_bytes (int): Received by all rows together.
    tx_bytes (int): Sent by all rows together.
    ok (bool): Whether no card counted errors.

Side effects:
    none

Kind: read

Effects:
    paths: /proc/net/dev
    hosts: none
    commands: none

Secrets: none

Examples:
    - title: a card with receive errors
      inputs: {counters: /tmp/interface_counters/dev}
      files:
        /tmp/interface_counters/dev: |
          Inter-|   Receive                        |  Transmit
           face |bytes packets errs drop fifo frame|bytes packets errs drop fifo colls
              lo: 500 5 0 0 0 0 0 0 500 5 0 0 0 0 0 0
            eth0: 1000 10 2 3 0 0 0 0 4000 40 0 0 0 0 0 0
      output:
        rows:
          - {interface: eth0, rx_bytes: 1000, rx_packets: 10, rx_errors: 2, rx_dropped: 3,
             tx_bytes: 4000, tx_packets: 40, tx_errors: 0, tx_dropped: 0}
        with_errors: [eth0]
        with_drops: [eth0]
        rx_bytes: 1000
        tx_bytes: 4000
        ok: false
    - title: this machine, measured over half a second
      inputs: {interval_seconds: 0.5, include_loopback: true}
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

# Columns of /proc/net/dev: eight for received, then eight for sent.
COLUMNS = {"bytes": 0, "packets": 1, "errors": 2, "dropped": 3}


def run(
    interval_seconds: float = 0.0,
    interface: str = "",
    include_loopback: bool = False,
    counters: str = "/proc/net/dev",
) -> dict[str, Any]:
    """Read the counters once, or twice with a pause."""
    if not 0 <= interval_seconds <= 60:
        raise ValueError(f"interval_seconds {interval_seconds} is out of range: give 0 to 60")
    path = Path(counters)
    before = _read(path)
    begun = time.monotonic()
    if interval_seconds:
        time.sleep(interval_seconds)
    after = _read(path) if interval_seconds else before
    elapsed = time.monotonic() - begun
    if interface and interface not in after:
        known = ", ".join(sorted(after)) or "none"
        raise ValueError(f"interface {interface!r} does not exist: give one of {known}")
    rows = []
    for name, now in sorted(after.items()):
        if name != interface if interface else name == "lo" and not include_loopback:
            continue
        rates = _rates(before.get(name, now), now, elapsed) if interval_seconds else {}
        rows.append({"interface": name} | now | rates)
    with_errors = [row["interface"] for row in rows if row["rx_errors"] or row["tx_errors"]]
    return {
        "rows": rows,
        "with_errors": with_errors,
        "with_drops": [row["interface"] for row in rows if row["rx_dropped"] or row["tx_dropped"]],
        "rx_bytes": sum(row["rx_bytes"] for row in rows),
        "tx_bytes": sum(row["tx_bytes"] for row in rows),
        "ok": not with_errors,
    }


def _read(path: Path) -> dict[str, dict[str, Any]]:
    """Counters by card; lines with fewer than sixteen numbers are no card."""
    found: dict[str, dict[str, Any]] = {}
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        name, _, tail = line.rpartition(":")
        numbers = tail.split()
        if not name or len(numbers) < 16 or not all(number.isdecimal() for number in numbers):
            continue
        found[name.strip()] = {
            f"{side}_{key}": int(numbers[start + column])
            for side, start in (("rx", 0), ("tx", 8))
            for key, column in COLUMNS.items()
        }
    if not found:
        raise ValueError(f"{path} holds no network cards: give /proc/net/dev or a copy of it")
    return found


def _rates(before: dict[str, int], now: dict[str, int], elapsed: float) -> dict[str, Any]:
    """A counter that went down was reset; it counts as having started from 0."""
    grown = {key: now[key] - before[key] if now[key] >= before[key] else now[key] for key in now}
    speeds: dict[str, Any] = {
        f"{side}_{key}_per_second": round(grown[f"{side}_{key}"] / elapsed, 1)
        for key in ("bytes", "packets")
        for side in ("rx", "tx")
    }
    for key in ("errors", "dropped"):
        speeds[f"new_{key}"] = grown[f"rx_{key}"] + grown[f"tx_{key}"]
    return speeds
