"""Stop one process by its id and its name, gently first.

Sends SIGTERM and waits. SIGKILL follows only if `allow_kill` is set. The id alone is not enough:
the process must also have the expected name, and the start if one is given. So a process that got
the same id later is never hit. The signal goes to the process that was checked, not to the number.

Args:
    pid (int): The process id.
    name (str): The expected name: that of the program, or of the process as `ps` shows it.
    started (str): The expected start in ISO 8601, exact to a second; empty means any.
    allow_kill (bool): Send SIGKILL if it still runs after `grace_seconds`.
    grace_seconds (float): How long to wait after each signal, 0 to 300.
    dry_run (bool): True sends no signal.
    proc (str): Another folder like `/proc`, for a dry run only.

Returns:
    pid (int): The process id.
    name (str): Its name.
    started (str): When it started, in UTC.
    user_id (int): Who it belongs to.
    signals (list[str]): What was sent, or would be, in this order.
    stopped (bool): Whether it has ended.
    ok (bool): False if it still runs after all signals.

Side effects:
    The process may lose work that it has not saved.

Target: pid, name

Kind: write

Verify: process/state/process_by_pid {pid: "{{input.pid}}", started: "{{output.started}}"}
    expect {running: false, ...: ...}

Approval: operator

Owner: operations

Effects:
    paths: /proc, the given proc
    hosts: none
    commands: kill

Secrets: none

Examples:
    - title: the signals that it would send
      inputs: {pid: 4711, name: rsync, allow_kill: true, dry_run: true, proc: /tmp/proc}
      files:
        /tmp/proc/4711/stat: "4711 (rsync) S 900 1 1 0 -1 0 0 0 0 0 9 9 0 0 20 0 1 0 500 0"
        /tmp/proc/4711/cmdline: "/usr/bin/rsync\\0-a\\0/srv\\0"
        /tmp/proc/4711/status: "Uid:\\t1000\\t1000\\t1000\\t1000\\n"
        /tmp/proc/stat: "btime 1700000000\\n"
      output:
        pid: 4711
        name: rsync
        started: "2023-11-14T22:13:25+00:00"
        user_id: 1000
        signals: [TERM, KILL]
        stopped: false
        ok: true
"""

from __future__ import annotations

import os
import re
import select
import signal
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


def run(
    pid: int,
    name: str,
    started: str = "",
    allow_kill: bool = False,
    grace_seconds: float = 10.0,
    dry_run: bool = False,
    proc: str = "/proc",
) -> dict[str, Any]:
    if pid <= 1 or pid in (os.getpid(), os.getppid()):
        raise ValueError(f"pid {pid} is not stopped by this tool: give another process")
    if not 0 <= grace_seconds <= 300:
        raise ValueError(f"grace_seconds {grace_seconds} is out of range: give 0 to 300")
    if proc != "/proc" and not dry_run:
        raise ValueError(f"proc {proc!r} is for a dry run only: leave it out")
    # Open first, then look: from here on the descriptor stays with this one process.
    held = None if dry_run else _hold(pid)
    try:
        found = _identity(Path(proc), pid)
        _check(found, pid, name, started)
        kinds = [signal.SIGTERM, *([signal.SIGKILL] if allow_kill else [])]
        sent: list[str] = []
        ended = False
        for kind in kinds:
            sent.append(kind.name.removeprefix("SIG"))
            if held is not None:
                ended = _send(held, kind, grace_seconds)
            if ended:
                break
    finally:
        if held is not None:
            os.close(held)
    return {
        "pid": pid,
        "name": name,
        "started": found["started"],
        "user_id": found["user_id"],
        "signals": sent,
        "stopped": ended,
        "ok": ended or dry_run,
    }


def _hold(pid: int) -> int:
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        raise ValueError(f"pid {pid} is no running process: look it up again") from None


def _identity(proc: Path, pid: int) -> dict[str, Any]:
    folder = proc / str(pid)
    try:
        head, _, tail = (folder / "stat").read_text(errors="replace").rpartition(")")
        words = (folder / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
        status = (folder / "status").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        raise ValueError(f"pid {pid} is no running process: look it up again") from None
    boot = re.search(r"^btime (\d+)", (proc / "stat").read_text(), re.MULTILINE)
    user = re.search(r"^Uid:\s+(\d+)", status, re.MULTILINE)
    if boot is None or user is None:
        raise ValueError(f"proc {str(proc)!r} holds no process table: use /proc")
    fields = tail.split()
    seconds = int(boot[1]) + int(fields[19]) / os.sysconf("SC_CLK_TCK")
    return {
        "names": {head.partition("(")[2], words[0].split(" ")[0].rpartition("/")[2].rstrip(":")},
        "kernel": not words[0],
        "started": datetime.fromtimestamp(int(seconds), UTC).isoformat(),
        "user_id": int(user[1]),
    }


def _check(found: dict[str, Any], pid: int, name: str, started: str) -> None:
    # The kernel cuts the name of a process to 15 characters.
    if not name or not ({name, name[:15]} & (found["names"] - {""})):
        known = " or ".join(sorted(found["names"] - {""}))
        raise ValueError(f"pid {pid} is {known}, not {name!r}: the id may have been used again")
    if found["kernel"]:
        raise ValueError(f"pid {pid} is part of the kernel, or has ended: no signal stops it")
    if started:
        try:
            given = datetime.fromisoformat(started)
        except ValueError:
            raise ValueError(f"started {started!r} is no time: write 2030-01-31T12:00:00") from None
        given = given if given.tzinfo else given.replace(tzinfo=UTC)
        if abs((given - datetime.fromisoformat(found["started"])).total_seconds()) > 1:
            raise ValueError(
                f"pid {pid} started at {found['started']}, not at {started}: "
                "the id may have been used again"
            )


def _send(held: int, kind: signal.Signals, seconds: float) -> bool:
    """Send the signal, and return True if the process ended in time."""
    try:
        signal.pidfd_send_signal(held, kind)
    except ProcessLookupError:
        return True
    return bool(select.select([held], [], [], seconds)[0])
