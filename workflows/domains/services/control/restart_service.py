"""Restart or reload one service with the service manager of this machine.

Picks the manager that knows the service: systemd, runit (`sv`), supervisord (`supervisorctl`) or
System V (`service`). `restart` stops and starts the service. `reload` lets it read its settings
again while it runs. The tool does not stop, enable or disable a service.

Args:
    name (str): The service, for example `nginx` or `nginx.service`.
    action (str): `restart` or `reload`.
    manager (str): `auto`, `systemd`, `runit`, `supervisord` or `sysv`.
    timeout_seconds (float): How long the manager may take, 1 to 600.
    dry_run (bool): True changes nothing and shows the command.

Returns:
    name (str): The service, as its manager calls it.
    manager (str): Who runs the service.
    argv (list[str]): The command.
    started_after (str): When the command began, in UTC; empty for a reload and in a dry run.
    message (str): The manager's answer; empty in a dry run.
    changed (bool): False in a dry run.

Side effects:
    Connections of the service may end while it restarts.

Target: name

Kind: write

Verify: services/status/service_uptime {name: "{{output.name}}", manager: "{{output.manager}}",
    started_after: "{{output.started_after}}"} expect {ok: true, ...: ...}

Approval: operator

Owner: operations

Effects:
    paths: /etc/service, /service, /var/service, /etc/init.d
    hosts: unix:/run/supervisor.sock, unix:/var/run/supervisor.sock, 127.0.0.1:9001
    commands: systemctl, sv, supervisorctl, service

Secrets: none

Examples:
    - title: systemd restarts the unit
      inputs: {name: nginx, manager: systemd, dry_run: true}
      output:
        name: nginx.service
        manager: systemd
        argv: [systemctl, restart, nginx.service]
        started_after: ""
        message: ""
        changed: false
    - title: supervisord has no reload, so the program gets the signal for it
      inputs: {name: "web:worker", action: reload, manager: supervisord, dry_run: true}
      output:
        argv: [supervisorctl, signal, HUP, "web:worker"]
        ...: ...
"""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_MANAGERS = ("systemd", "runit", "supervisord", "sysv")
_RUNIT = ("/etc/service", "/service", "/var/service", "/run/runit/service")
_CONFIGS = ("/etc/supervisor/supervisord.conf", "/etc/supervisord.conf")
"""Without its settings supervisorctl asks port 9001 of this machine, whoever listens there."""
_UNIT = re.compile(r"\.(service|socket|timer|path|mount|target)$")
_NAME = re.compile(r"[A-Za-z0-9_.@:\\][A-Za-z0-9_.@:\\-]*")


def run(
    name: str,
    action: str = "restart",
    manager: str = "auto",
    timeout_seconds: float = 60.0,
    dry_run: bool = False,
) -> dict[str, Any]:
    if not _NAME.fullmatch(name) or ".." in name:
        raise ValueError(f"name {name!r} is no service name: use letters, digits and . _ @ : -")
    if action not in ("restart", "reload"):
        raise ValueError(f"action {action!r} is not known: use restart or reload")
    if manager not in ("auto", *_MANAGERS):
        raise ValueError(f"manager {manager!r} is not known: use auto, {', '.join(_MANAGERS)}")
    if not 1 <= timeout_seconds <= 600:
        raise ValueError(f"timeout_seconds {timeout_seconds} is out of range: give 1 to 600")
    found = next((each for each in _MANAGERS if _knows(each, name)), None)
    if manager == "auto":
        if found is None:
            raise ValueError(
                f"name {name!r}: none of {', '.join(_MANAGERS)} knows this service here: "
                "check its name with service_status, or give the manager"
            )
        manager = found
    shown, argv = _command(manager, name, action, int(timeout_seconds))
    result = {"name": shown, "manager": manager, "argv": argv}
    if dry_run:
        return {**result, "started_after": "", "message": "", "changed": False}
    began = datetime.now(UTC).isoformat()
    before = _runit_pid(argv[-1]) if manager == "runit" else ""
    message = _ask(argv, timeout_seconds)
    if manager == "runit" and action == "restart":
        _wait_for_runit(argv[-1], before, timeout_seconds)
    after = began if action == "restart" else ""
    return {**result, "started_after": after, "message": message, "changed": True}


def _command(manager: str, name: str, action: str, seconds: int) -> tuple[str, list[str]]:
    """The service's name for its manager, and the command."""
    if manager == "systemd":
        unit = name if _UNIT.search(name) else f"{name}.service"
        return unit, ["systemctl", action, unit]
    name = name.removesuffix(".service")
    if manager == "runit":
        return name, ["sv", "-w", str(seconds), action, _folder(name) or f"/etc/service/{name}"]
    if manager == "supervisord":
        words = ["restart"] if action == "restart" else ["signal", "HUP"]
        return name, ["supervisorctl", *words, name]
    return name, ["service", name, action]


def _knows(manager: str, name: str) -> bool:
    plain = name.removesuffix(".service")
    if manager == "systemd":
        unit = _command("systemd", name, "restart", 1)[0]
        argv = ["systemctl", "show", "--property=LoadState", "--value", unit]
        return Path("/run/systemd/system").is_dir() and _answer(argv) == "loaded"
    if manager == "runit":
        return shutil.which("sv") is not None and _folder(plain) is not None
    if manager == "supervisord":
        configured = any(Path(path).is_file() for path in _CONFIGS)
        argv = ["supervisorctl", "status", plain]
        return configured and _answer(argv).startswith(f"{plain} ")
    return Path("/etc/init.d", plain).is_file()


def _folder(name: str) -> str | None:
    """The runit folder of a service that is supervised."""
    folders = (Path(base, name) for base in _RUNIT)
    return next((str(each) for each in folders if (each / "supervise").exists()), None)


def _runit_pid(folder: str) -> str:
    """The process of a service under runit; empty while it has none."""
    try:
        state = Path(folder, "supervise", "stat").read_text(encoding="ascii")
        pid = Path(folder, "supervise", "pid").read_text(encoding="ascii").strip()
    except OSError:
        return ""
    return pid if state.startswith("run") else ""


def _wait_for_runit(folder: str, before: str, seconds: float) -> None:
    """Wait for the new process: sv compares whole seconds, and may end before the old one does."""
    limit = time.monotonic() + seconds
    while _runit_pid(folder) in ("", before):
        if time.monotonic() > limit:
            raise RuntimeError(f"{folder} got no new process in {seconds:g} s after sv restart")
        time.sleep(0.05)


def _answer(argv: list[str]) -> str:
    """What a command prints; empty if there is no such program or it takes too long."""
    try:
        done = subprocess.run(
            argv, capture_output=True, text=True, timeout=15, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()


def _ask(argv: list[str], seconds: float) -> str:
    # A daemon of System V may keep the streams open, so they are no pipes that wait for it.
    done = subprocess.run(
        argv, capture_output=True, timeout=seconds + 10, check=False, stdin=subprocess.DEVNULL
    )
    said = (done.stdout + done.stderr).decode("utf-8", "replace").strip()
    # supervisorctl ends with 0 although it refused some programs.
    if done.returncode or "ERROR (" in said:
        raise RuntimeError(f"{' '.join(argv)} failed with status {done.returncode}: {said}")
    return said
