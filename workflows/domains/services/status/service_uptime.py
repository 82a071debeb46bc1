"""Tell since when one service is up, and under which process id.

Asks the manager that knows the service: systemd, runit, supervisord or System V. The start is that
of its main process. So it also shows if a restart really started a new process.

Args:
    name (str): The service, for example `nginx`.
    manager (str): `auto`, `systemd`, `runit`, `supervisord` or `sysv`.
    started_after (str): A moment in ISO 8601; `ok` is false if the process is older.

Returns:
    name (str): The service.
    manager (str): Who runs it; empty if no manager knows it.
    state (str): `running`, `stopped` or `unknown`.
    pid (int | None): Its main process, if the manager names one.
    since (str): When this process started, in UTC; empty if that is unknown.
    seconds (float | None): How long it has been up.
    ok (bool): Whether it runs, and no longer than since `started_after`.
    error (str): Why something is unknown, or what is not ok; empty if all is well.

Side effects:
    none

Kind: read

Owner: operations

Effects:
    paths: /proc, /etc/service, /service, /var/service, /run, /etc/init.d
    hosts: unix:/run/supervisor.sock, unix:/var/run/supervisor.sock, 127.0.0.1:9001
    commands: systemctl, supervisorctl, service

Secrets: none

Examples:
    - inputs: {name: nosuch-service}
      output:
        name: nosuch-service
        manager: ""
        state: unknown
        pid: null
        since: ""
        seconds: null
        ok: false
        error: "no service manager of this machine knows nosuch-service"
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_MANAGERS = ("systemd", "runit", "supervisord", "sysv")
_RUNIT = ("/etc/service", "/service", "/var/service", "/run/runit/service")
_CONFIGS = ("/etc/supervisor/supervisord.conf", "/etc/supervisord.conf")
"""Without its settings supervisorctl asks port 9001 of this machine, whoever listens there."""
_SLACK_S = 0.5
"""The start of a process is counted in hundredths of a second since boot."""


def run(name: str, manager: str = "auto", started_after: str = "") -> dict[str, Any]:
    if manager not in ("auto", *_MANAGERS):
        raise ValueError(f"manager {manager!r} is not known: use auto, {', '.join(_MANAGERS)}")
    if not re.fullmatch(r"[\w.@:\\][\w.@:\\-]*", name) or ".." in name:
        raise ValueError(f"name {name!r} is no service name: use letters, digits and . _ @ : -")
    after = _moment(started_after) if started_after else None
    state, pid, error = "unknown", None, f"no service manager of this machine knows {name}"
    asked = ""
    for asked in _MANAGERS if manager == "auto" else (manager,):
        found = _ASK[asked](name.removesuffix(".service"))
        if found is not None:
            state, pid = found
            error = "" if state == "running" else f"{name} is {state}"
            break
    else:
        asked = "" if manager == "auto" else manager
    seconds = _age(pid) if pid else None
    now = time.time()
    if state == "running" and after is not None:
        if seconds is None:
            error = f"the start of {name} cannot be read: its manager names no process"
        elif now - seconds < after - _SLACK_S:
            error = f"{name} has been running since before {started_after}"
    since = "" if seconds is None else datetime.fromtimestamp(now - seconds, UTC).isoformat()
    return {
        "name": name,
        "manager": asked,
        "state": state,
        "pid": pid,
        "since": since,
        "seconds": seconds,
        "ok": not error,
        "error": error,
    }


def _moment(text: str) -> float:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"started_after {text!r} is no time: write 2030-01-31T12:00:00") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _systemd(name: str) -> tuple[str, int | None] | None:
    argv = ["systemctl", "show", "--property=LoadState,ActiveState,MainPID", f"{name}.service"]
    lines = _answer(argv)[1].splitlines()
    fields = dict(line.split("=", 1) for line in lines if "=" in line)
    if fields.get("LoadState") != "loaded":
        return None
    state = "running" if fields.get("ActiveState") in ("active", "reloading") else "stopped"
    return state, int(fields.get("MainPID", "0")) or None


def _runit(name: str) -> tuple[str, int | None] | None:
    for base in _RUNIT:
        try:
            text = Path(base, name, "supervise", "stat").read_text(encoding="ascii")
            pid = Path(base, name, "supervise", "pid").read_text(encoding="ascii").strip()
        except OSError:
            continue
        # The files stay behind if runsv was killed: then the process is gone, or another one.
        alive = text.startswith("run") and pid.isdigit() and Path("/proc", pid).exists()
        return ("running", int(pid)) if alive else ("stopped", None)
    return None


def _supervisord(name: str) -> tuple[str, int | None] | None:
    if not any(Path(path).is_file() for path in _CONFIGS):
        return None
    match = re.match(rf"{re.escape(name)} +([A-Z]+)", _answer(["supervisorctl", "status", name])[1])
    if match is None:
        return None
    pid = re.search(r"pid (\d+)", match.string)
    return "running" if match[1] == "RUNNING" else "stopped", int(pid[1]) if pid else None


def _sysv(name: str) -> tuple[str, int | None] | None:
    if not Path("/etc/init.d", name).is_file():
        return None
    status = _answer(["service", name, "status"])[0]
    for path in (
        Path(f"/run/{name}.pid"),
        Path(f"/run/{name}d.pid"),
        Path(f"/run/{name}/{name}.pid"),
    ):
        if status == 0 and path.is_file():
            return "running", int(path.read_text(encoding="ascii").split()[0])
    return "running" if status == 0 else "stopped", None


_ASK = {"systemd": _systemd, "runit": _runit, "supervisord": _supervisord, "sysv": _sysv}


def _answer(argv: list[str]) -> tuple[int, str]:
    try:
        done = subprocess.run(
            argv, capture_output=True, text=True, timeout=15, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return 127, ""
    return done.returncode, done.stdout.strip()


def _age(pid: int) -> float | None:
    """Seconds since a process started."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        uptime = float(Path("/proc/uptime").read_text(encoding="ascii").split()[0])
    except OSError:
        return None
    ticks = int(fields.rpartition(")")[2].split()[19])
    return round(uptime - ticks / os.sysconf("SC_CLK_TCK"), 2)
