r"""Show whether systemd services are running, failed, stopped or disabled.

Asks `systemctl` on this machine, or reads what `systemctl list-units --all --plain --no-legend`
(or `--output=json`) printed into a file, for example on another machine. Failed services come
first. On a machine without systemd the result says so instead of listing nothing.

Args:
    name (str): Only services whose name contains this text; every service when empty.
    state (str): Only services in this state: `running`, `failed`, `exited`, `dead`, `active`,
        `inactive`, `activating`; every state when empty.
    path (str): A saved listing to read instead of asking this machine.

Returns:
    rows (list[dict[str, Any]]): One a service: `unit`, `load`, `active`, `sub`, `enabled`,
        `description`; failed ones first. `enabled` is null when the listing does not say.
    total (int): How many services the rows hold.
    failed (list[str]): Names of the failed services among them.
    error (str | None): Why this machine could not be asked; None when all went well.

Side effects:
    none

Kind: read

Effects:
    paths: the given listing
    hosts: none
    commands: systemctl list-units, systemctl list-unit-files

Secrets: none

Examples:
    - title: which services failed, from a saved listing
      inputs: {path: /tmp/units.txt}
      files:
        /tmp/units.txt: |
          cron.service   loaded active   running Regular background program processing daemon
          nginx.service  loaded failed   failed  A high performance web server
          tmp.mount      loaded active   mounted Temporary Directory /tmp
      output:
        rows:
          - unit: nginx.service
            load: loaded
            active: failed
            sub: failed
            enabled: null
            description: A high performance web server
          - unit: cron.service
            load: loaded
            active: active
            sub: running
            enabled: null
            description: Regular background program processing daemon
        total: 2
        failed: [nginx.service]
        error: null
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

_LIST = ("systemctl", "list-units", "--type=service", "--all", "--plain", "--no-legend", "--full")
_FILES = ("systemctl", "list-unit-files", "--type=service", "--plain", "--no-legend", "--full")
_TIMEOUT_S = 15
_STATES = ("", "running", "failed", "exited", "dead", "active", "inactive", "activating")


def run(name: str = "", state: str = "", path: str = "") -> dict[str, Any]:
    if state not in _STATES:
        raise ValueError(f"state {state!r} is not known: use one of {', '.join(_STATES[1:])}")
    error = None
    enabled: dict[str, str] = {}
    if path:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
    else:
        text, error = _ask(_LIST)
        if error is None:
            files, error = _ask(_FILES)
            pairs = (line.split() for line in files.splitlines())
            enabled = {words[0]: words[1] for words in pairs if len(words) > 1}
    rows = [
        {**unit, "enabled": enabled.get(unit["unit"])}
        for unit in _units(text)
        if unit["unit"].endswith(".service")
        and name.casefold() in unit["unit"].casefold()
        and state in ("", unit["active"], unit["sub"])
    ]
    rows.sort(key=lambda row: (row["active"] != "failed", row["unit"]))
    return {
        "rows": [
            {key: row[key] for key in ("unit", "load", "active", "sub", "enabled", "description")}
            for row in rows
        ],
        "total": len(rows),
        "failed": [row["unit"] for row in rows if row["active"] == "failed"],
        "error": error,
    }


def _ask(argv: tuple[str, ...]) -> tuple[str, str | None]:
    try:
        done = subprocess.run(
            argv, capture_output=True, timeout=_TIMEOUT_S, check=False, stdin=subprocess.DEVNULL
        )
    except FileNotFoundError:
        return "", "systemctl is not installed here: give the path of a saved listing"
    except (OSError, subprocess.TimeoutExpired) as error:
        return "", f"systemctl could not be asked: {error}"
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip() or "no message"
        return "", f"systemctl failed with status {done.returncode}: {said}"
    return done.stdout.decode("utf-8", "replace"), None


def _units(text: str) -> list[dict[str, Any]]:
    if text.lstrip().startswith("["):
        units = json.loads(text)
        keys = ("unit", "load", "active", "sub", "description")
        return [{key: str(unit.get(key, "")) for key in keys} for unit in units]
    units = []
    for line in text.splitlines():
        words = line.lstrip("●○×*↻ \t").split(None, 4)
        if len(words) >= 4 and "." in words[0]:
            unit, load, active, sub = words[:4]
            description = words[4].strip() if len(words) > 4 else ""
            units.append(
                {"unit": unit, "load": load, "active": active, "sub": sub}
                | {"description": description}
            )
    return units
