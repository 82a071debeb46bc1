"""Tell whether the machine's clock is synchronised and by how much it is off.

Asks the time service that is there, chrony or systemd-timesyncd, and falls back on the kernel's own
record, which knows whether the clock is kept in step but not how far it is off. Where nothing can
be learned, `synchronised` is null rather than a guess. Instead of asking this machine, give a file
with saved output of `timedatectl`, `timedatectl show`, `timedatectl timesync-status` or
`chronyc tracking`, also several of them one after the other.

Args:
    saved (str): A file with saved output; empty asks this machine.
    limit_seconds (float): An offset larger than this is reported. 0 or more.
    timeout_seconds (float): How long each command may take.

Returns:
    synchronised (bool): Whether the clock follows a time server; null where unknown.
    offset_seconds (float): How far this clock is ahead of the true time, negative where it is
        behind; null where unknown.
    max_error_seconds (float): The kernel's own upper bound of the error; null where unknown.
    server (str): The time server that is followed; null where unknown.
    within_limit (bool): Whether the offset is within the limit; null where it is unknown.
    ok (bool): Whether the clock is synchronised and not known to be off by more than the limit.
    sources (list[str]): Where the answer comes from.
    errors (list[str]): What could not be asked, and why.

Side effects:
    none

Kind: read

Effects:
    paths: the saved file
    hosts: none
    commands: chronyc -n tracking, timedatectl show, timedatectl timesync-status

Secrets: none

Examples:
    - title: chrony keeps the clock, 1.5 milliseconds behind
      inputs: {saved: /tmp/time_sync/tracking.txt, limit_seconds: 0.1}
      files:
        /tmp/time_sync/tracking.txt: |
          Reference ID    : C0A80101 (192.168.1.1)
          Stratum         : 3
          System time     : 0.001500000 seconds slow of NTP time
          Leap status     : Normal
      output:
        synchronised: true
        offset_seconds: -0.0015
        max_error_seconds: null
        server: 192.168.1.1
        within_limit: true
        ok: true
        sources: [chronyc tracking]
        errors: []
    - title: this machine
      inputs: {}
"""

from __future__ import annotations

import ctypes
import math
import os
import re
import subprocess
from pathlib import Path
from typing import Any

COMMANDS = (
    ("chronyc", "-n", "tracking"),
    ("timedatectl", "show"),
    ("timedatectl", "timesync-status"),
)
UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
UNITS |= {"d": 86_400.0, "w": 604_800.0, "month": 2_629_800.0, "y": 31_557_600.0}
CLOCK = re.compile(r"^\s*(?:NTPSynchronized=|System clock synchronized: |NTP synchronized: )(\w+)")
LEAP = re.compile(r"^Leap status\s*: (.+)")
CHRONY = re.compile(r"^System time\s*: ([\d.]+) seconds (slow|fast) of NTP time")
REFERENCE = re.compile(r"^Reference ID\s*: \S+ \((.+)\)")
OFFSET = re.compile(r"^\s*Offset: ([+-]?)(.+)")
SERVER = re.compile(r"^\s*Server: (\S+)(?: \((.+)\))?")


def run(
    saved: str = "", limit_seconds: float = 0.5, timeout_seconds: float = 5.0
) -> dict[str, Any]:
    """Ask what there is to ask and put the answers together."""
    if not limit_seconds >= 0:
        raise ValueError(f"limit_seconds {limit_seconds} is no time: give 0 or more")
    if not timeout_seconds > 0:
        raise ValueError(f"timeout_seconds {timeout_seconds} is no time: give more than 0")
    state: dict[str, Any] = dict.fromkeys(
        ("synchronised", "offset_seconds", "max_error_seconds", "server", "within_limit", "ok")
    )
    state |= {"sources": [], "errors": []}
    if saved:
        _learn(state, Path(saved).read_text(encoding="utf-8", errors="backslashreplace"))
        if not state["sources"]:
            raise ValueError(
                f"{saved} holds no known output: save that of `timedatectl` or `chronyc tracking`"
            )
    else:
        for command in COMMANDS:
            text, error = _ask(command, timeout_seconds)
            state["errors"] += [error] if error else []
            _learn(state, text)
        if state["synchronised"] is None:
            _kernel(state)
    if state["offset_seconds"] is not None:
        state["within_limit"] = abs(state["offset_seconds"]) <= limit_seconds
    state["ok"] = state["synchronised"] is True and state["within_limit"] is not False
    return state


def _learn(state: dict[str, Any], text: str) -> None:
    """Add what one output says; the first source to say a thing wins."""
    for line in text.splitlines():
        if match := CLOCK.match(line):
            _set(state, "timedatectl", "synchronised", match[1] == "yes")
        elif match := LEAP.match(line):
            _set(state, "chronyc tracking", "synchronised", match[1].strip() != "Not synchronised")
        elif match := CHRONY.match(line):
            sign = -1 if match[2] == "slow" else 1
            _set(state, "chronyc tracking", "offset_seconds", sign * float(match[1]))
        elif match := REFERENCE.match(line):
            _set(state, "chronyc tracking", "server", match[1])
        elif match := OFFSET.match(line):
            # timesyncd shows how far the server is ahead, which is minus our own offset.
            sign = 1 if match[1] == "-" else -1
            _set(
                state, "timedatectl timesync-status", "offset_seconds", sign * _span(match[2]) + 0.0
            )
        elif match := SERVER.match(line):
            _set(state, "timedatectl timesync-status", "server", match[2] or match[1])


def _set(state: dict[str, Any], source: str, key: str, value: object) -> None:
    if state[key] is None and value not in ("", None):
        state[key] = value
        if source not in state["sources"]:
            state["sources"].append(source)


def _span(text: str) -> float:
    """Seconds in a systemd time span such as `1min 2.5s`."""
    parts = re.findall(r"([\d.]+)\s*([a-zµ]+)", text)
    return math.fsum(float(number) * UNITS[unit] for number, unit in parts if unit in UNITS)


def _ask(command: tuple[str, ...], timeout_seconds: float) -> tuple[str, str | None]:
    shown = " ".join(command)
    env = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C.UTF-8"}
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout_seconds,
            env=env,
            check=False,
        )
    except OSError as error:
        return "", f"{shown}: {error.strerror}"
    except subprocess.TimeoutExpired:
        return "", f"{shown}: no answer within {timeout_seconds} seconds"
    if done.returncode:
        first = done.stderr.decode("utf-8", "backslashreplace").strip().partition("\n")[0]
        return "", f"{shown}: {first or f'ended with {done.returncode}'}"
    return done.stdout.decode("utf-8", "backslashreplace"), None


def _kernel(state: dict[str, Any]) -> None:
    """adjtimex(2) with no mode set only reads; its fields are C longs after one padded int."""
    record = (ctypes.c_long * 64)()
    adjtimex = getattr(ctypes.CDLL(None, use_errno=True), "adjtimex", None)
    answer = adjtimex(ctypes.byref(record)) if adjtimex else -1
    if answer < 0:
        state["errors"].append(f"adjtimex: {os.strerror(ctypes.get_errno())}")
        return
    _set(state, "kernel", "synchronised", answer != 5)
    _set(state, "kernel", "max_error_seconds", record[3] / 1e6)
