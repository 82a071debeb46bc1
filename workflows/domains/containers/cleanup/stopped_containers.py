"""List containers that stopped some hours ago, by age, asking docker or podman on this machine.

Args:
    older_than_hours (float): Only containers that stopped at least so long ago.
    engine (str): `auto`, `docker` or `podman`.
    inspected (str): A file with the output of `docker inspect`, to read instead.

Returns:
    engine (str): The program that was asked.
    rows (list[dict[str, Any]]): One a container, oldest first: `name`, `id`, `image`, `exit_code`,
        `stopped_at`, `hours`.
    total (int): How many there are.

Side effects:
    none

Kind: read

Owner: platform

Effects:
    paths: the given inspected
    hosts: none
    commands: docker ps, docker inspect, podman ps, podman inspect

Secrets: none

Examples:
    - inputs: {older_than_hours: 1, engine: podman, inspected: /tmp/inspect.json}
      files:
        /tmp/inspect.json: |
          [{"Id": "aaaaaaaaaaaaaaaa", "Name": "job", "ImageName": "job:2",
            "State": {"Status": "exited", "ExitCode": 0,
                      "FinishedAt": "2024-01-02T03:04:05.67+01:00"}},
           {"Id": "bbbbbbbbbbbbbbbb", "Name": "new", "ImageName": "job:2",
            "State": {"Status": "created", "FinishedAt": "0001-01-01T00:00:00Z"}}]
      output:
        engine: podman
        rows: [{name: job, id: aaaaaaaaaaaa, image: "job:2", exit_code: 0,
                stopped_at: "2024-01-02T02:04:05+00:00", hours: ...}]
        total: 1
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_ENGINES = ("docker", "podman")
_TIMEOUT_S = 60
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.\d+)? ?(Z|[+-]\d\d:?\d\d)?")


def run(older_than_hours: float = 0.0, engine: str = "auto", inspected: str = "") -> dict[str, Any]:
    if older_than_hours < 0:
        raise ValueError(f"older_than_hours {older_than_hours} is negative: give 0 or more")
    if engine not in ("auto", *_ENGINES):
        raise ValueError(f"engine {engine!r} is not known: use auto, docker or podman")
    if engine == "auto":
        engine = next((name for name in _ENGINES if shutil.which(name)), "")
        if not engine:
            raise ValueError("engine 'auto' finds neither docker nor podman on this machine")
    items = json.loads(Path(inspected).read_text(encoding="utf-8") if inspected else _all(engine))
    rows = [row for item in items if (row := _row(item)) and row["hours"] >= older_than_hours]
    rows.sort(key=lambda row: (-row["hours"], row["name"]))
    return {"engine": engine, "rows": rows, "total": len(rows)}


def _all(engine: str) -> str:
    """What the engine says about each container that does not run."""
    states = ["--filter", "status=exited", "--filter", "status=dead"]
    listed = _ask([engine, "ps", "--all", "--quiet", "--no-trunc", *states]).split()
    return _ask([engine, "inspect", "--type", "container", *listed]) if listed else "[]"


def _row(item: dict[str, Any]) -> dict[str, Any] | None:
    """A container that has stopped; None for any other."""
    state = item["State"]
    time = _TIME.match(str(state.get("FinishedAt", "")))
    # A container that never stopped has the year 1.
    if state.get("Status") not in ("exited", "dead", "stopped") or not time or time[1] < "0002":
        return None
    stopped = datetime.fromisoformat(f"{time[1]}T{time[2]}{time[3] or 'Z'}").astimezone(UTC)
    image = item.get("ImageName") or item.get("Config", {}).get("Image", "")
    return {
        "name": str(item.get("Name", "")).lstrip("/"),
        "id": str(item["Id"])[:12],
        "image": str(image),
        "exit_code": state.get("ExitCode"),
        "stopped_at": stopped.isoformat(),
        "hours": round((datetime.now(UTC) - stopped).total_seconds() / 3600, 1),
    }


def _ask(argv: list[str]) -> str:
    done = subprocess.run(
        argv, capture_output=True, timeout=_TIMEOUT_S, check=False, stdin=subprocess.DEVNULL
    )
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise RuntimeError(f"{' '.join(argv[:3])} failed with status {done.returncode}: {said}")
    return done.stdout.decode("utf-8", "replace")
