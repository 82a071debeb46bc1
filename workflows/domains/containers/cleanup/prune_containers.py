"""Remove containers that stopped some hours ago, with docker or podman.

The age counts from the moment a container stopped, not from its creation as `docker container prune
--filter until` counts. A container that was started again meanwhile is not removed. Images, volumes
and networks stay.

Args:
    older_than_hours (float): Only containers that stopped at least so long ago.
    engine (str): `auto`, `docker` or `podman`.
    dry_run (bool): True removes nothing and shows the command.
    inspected (str): A file with the output of `docker inspect`, for a dry run only.

Returns:
    engine (str): The program that was asked.
    containers (list[str]): Their names, that of the oldest first.
    images (list[str]): The image of each of them.
    argv (list[str]): The command; empty if there is nothing to remove.
    removed (int): How many were removed; 0 in a dry run.

Side effects:
    The files and logs inside these containers are gone.

Target: engine

Kind: write

Verify: containers/cleanup/stopped_containers {engine: "{{output.engine}}",
    older_than_hours: "{{input.older_than_hours}}"} expect {total: 0, ...: ...}

Approval: operator

Owner: platform

Effects:
    paths: the given inspected
    hosts: none
    commands: docker, podman

Secrets: none

Examples:
    - title: one of two is old enough
      inputs: {older_than_hours: 24, engine: docker, dry_run: true, inspected: /tmp/inspect.json}
      files:
        /tmp/inspect.json: |
          [{"Id": "aaaaaaaaaaaaaaaa", "Name": "/job", "Config": {"Image": "job:2"},
            "State": {"Status": "exited", "ExitCode": 1, "FinishedAt": "2024-01-02T03:04:05.678Z"}},
           {"Id": "bbbbbbbbbbbbbbbb", "Name": "/web", "Config": {"Image": "nginx"},
            "State": {"Status": "running", "FinishedAt": "0001-01-01T00:00:00Z"}}]
      output:
        engine: docker
        containers: [job]
        images: ["job:2"]
        argv: [docker, rm, aaaaaaaaaaaa]
        removed: 0
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
_TIMEOUT_S = 120
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.\d+)? ?(Z|[+-]\d\d:?\d\d)?")


def run(
    older_than_hours: float = 24.0,
    engine: str = "auto",
    dry_run: bool = False,
    inspected: str = "",
) -> dict[str, Any]:
    if older_than_hours < 0:
        raise ValueError(f"older_than_hours {older_than_hours} is negative: give 0 or more")
    if engine not in ("auto", *_ENGINES):
        raise ValueError(f"engine {engine!r} is not known: use auto, docker or podman")
    if inspected and not dry_run:
        raise ValueError(f"inspected {inspected!r} is for a dry run only: leave it out")
    if engine == "auto":
        engine = next((name for name in _ENGINES if shutil.which(name)), "")
        if not engine:
            raise ValueError("engine 'auto' finds neither docker nor podman on this machine")
    items = json.loads(Path(inspected).read_text(encoding="utf-8") if inspected else _all(engine))
    rows = [row for item in items if (row := _row(item)) and row["hours"] >= older_than_hours]
    rows.sort(key=lambda row: (-row["hours"], row["name"]))
    argv = [engine, "rm", *(row["id"] for row in rows)] if rows else []
    if argv and not dry_run:
        _ask(argv)
    return {
        "engine": engine,
        "containers": [row["name"] for row in rows],
        "images": [row["image"] for row in rows],
        "argv": argv,
        "removed": 0 if dry_run else len(rows),
    }


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
