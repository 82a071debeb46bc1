"""List containers from saved docker ps output: running, stopped, restarting or unhealthy.

Reads what `docker ps --all` printed as a table or with `--format json`, and what `podman ps
--format json` printed. Containers in trouble (unhealthy, restarting, dead, or exited with an
error) come first. Docker itself is not asked, so the listing may come from another machine.

Args:
    path (str): File with the saved output.
    state (str): Only containers in this state: running, exited, paused, restarting, created,
        dead, unhealthy; every state when empty.
    name (str): Only containers whose name or image contains this text.

Returns:
    rows (list[dict[str, Any]]): One a container: `name`, `image`, `state`, `health` (healthy,
        unhealthy, starting or null), `exit_code` (null while running), `status`, `ports`, `id`.
    total (int): How many containers the rows hold.
    states (dict[str, int]): Containers in each state.
    unhealthy (list[str]): Names of containers that fail their health check.
    failed (list[str]): Names of containers that exited with an error, restart or are dead.

Side effects:
    none

Kind: read

Effects:
    paths: the given file
    hosts: none
    commands: none

Secrets: none

Examples:
    - inputs: {path: /tmp/ps.txt}
      files:
        /tmp/ps.txt: |
          CONTAINER ID   IMAGE        COMMAND   STATUS                     PORTS     NAMES
          aaaaaaaaaaaa   nginx:1.27   "/run"    Up 2 days (unhealthy)      80/tcp    web
          bbbbbbbbbbbb   job:2        "job"     Exited (1) 2 minutes ago             job
      output:
        rows:
          - {name: job, image: "job:2", state: exited, health: null, exit_code: 1,
             status: Exited (1) 2 minutes ago, ports: "", id: bbbbbbbbbbbb}
          - {name: web, image: "nginx:1.27", state: running, health: unhealthy, exit_code: null,
             status: Up 2 days (unhealthy), ports: 80/tcp, id: aaaaaaaaaaaa}
        total: 2
        states: {exited: 1, running: 1}
        unhealthy: [web]
        failed: [job]
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

_STATES = ("", "running", "exited", "paused", "restarting", "created", "dead", "unhealthy")
_COLUMN = re.compile(r"\S+(?: \S+)*")
_BAD = ("restarting", "dead")


def run(path: str, state: str = "", name: str = "") -> dict[str, Any]:
    if state not in _STATES:
        raise ValueError(f"state {state!r} is not known: use one of {', '.join(_STATES[1:])}")
    text = Path(path).read_text(encoding="utf-8-sig", errors="replace")
    found = [_row(fields) for fields in _fields(path, text)]
    rows = [
        row
        for row in found
        if state in ("", row["state"], row["health"])
        and any(name.casefold() in row[key].casefold() for key in ("name", "image"))
    ]
    rows.sort(key=lambda row: (not _failed(row), row["health"] != "unhealthy", row["name"]))
    states = Counter(row["state"] for row in rows)
    return {
        "rows": rows,
        "total": len(rows),
        "states": dict(sorted(states.items())),
        "unhealthy": [row["name"] for row in rows if row["health"] == "unhealthy"],
        "failed": [row["name"] for row in rows if _failed(row)],
    }


def _failed(row: dict[str, Any]) -> bool:
    return row["state"] in _BAD or bool(row["exit_code"])


def _fields(path: str, text: str) -> list[dict[str, Any]]:
    start = text.lstrip()[:1]
    try:
        if start == "[":
            items = json.loads(text)
        elif start == "{":
            items = [json.loads(line) for line in text.splitlines() if line.strip()]
        else:
            return _table(path, text)
    except ValueError as error:
        raise ValueError(f"{path} is damaged JSON: {error}: save it again") from None
    if not all(isinstance(item, dict) for item in items):
        raise ValueError(f"{path} is no list of containers: save `docker ps --all --format json`")
    return [{str(key).lower(): value for key, value in item.items()} for item in items]


def _table(path: str, text: str) -> list[dict[str, Any]]:
    """Rows of the table; a column reaches from its heading to the next one."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return []
    heads = list(_COLUMN.finditer(lines[0].replace("CONTAINER ID", "CONTAINER_ID")))
    names = [head[0].lower() for head in heads]
    if "status" not in names or "names" not in names:
        raise ValueError(f"{path} is no `docker ps` table: it needs the heads STATUS and NAMES")
    starts = [head.start() for head in heads]
    ends = [*starts[1:], None]
    return [
        {n: line[a:b].strip() for n, a, b in zip(names, starts, ends, strict=True)}
        for line in lines[1:]
    ]


def _row(fields: dict[str, Any]) -> dict[str, Any]:
    names = fields.get("names") or fields.get("name") or ""
    status = str(fields.get("status") or "")
    health = re.search(r"\((?:health: )?(healthy|unhealthy|starting)\)", status)
    code = re.search(r"(?:Exited|Restarting) \((\d+)\)", status)
    state = str(fields.get("state") or "").lower() or _state(status)
    exit_code = int(code[1]) if code else None
    if exit_code is None and state == "exited" and isinstance(fields.get("exitcode"), int):
        exit_code = fields["exitcode"]
    return {
        "name": str(names[0] if isinstance(names, list) and names else names),
        "image": str(fields.get("image") or ""),
        "state": state,
        "health": health[1] if health else None,
        "exit_code": exit_code,
        "status": status,
        "ports": _ports(fields.get("ports")),
        "id": str(fields.get("container_id") or fields.get("id") or "")[:12],
    }


def _state(status: str) -> str:
    words = {"Up": "running", "Exited": "exited", "Restarting": "restarting", "Dead": "dead"}
    if "(Paused)" in status:
        return "paused"
    return words.get(status.split(" ")[0], status.split(" ")[0].lower() or "unknown")


def _ports(value: Any) -> str:
    if not isinstance(value, list):
        return str(value or "")
    pairs = (port for port in value if isinstance(port, dict))
    return ", ".join(
        f"{p.get('host_ip') or '0.0.0.0'}:{p.get('host_port')}->{p.get('container_port')}/"
        f"{p.get('protocol') or 'tcp'}"
        for p in pairs
    )
