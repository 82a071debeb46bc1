"""Promote on a full and on a read-only disk, inside a mount namespace.

`python -m tests.integration.tiny_disk FOLDER`: mounts a small tmpfs there and prints a JSON report.
"""

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

from pulsus.core.memory import past_routes
from pulsus.core.telemetry.logging import open_trace
from pulsus.core.telemetry.redaction import Redactor
from pulsus.errors import PulsusError
from tests.promotions import NOON, module, noon, promoted, tree

PAGE = 4096
BIG = module("two", size=10 * PAGE)


def outcome(action):
    """The code of the error, or "ok"."""
    try:
        action()
    except PulsusError as failure:
        return failure.code
    return "ok"


def fill(disk, free_pages):
    """Leave that many pages free."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"x" * PAGE)
    os.truncate(ballast, max(0, ballast.stat().st_size - free_pages * PAGE))


def full_disk(disk):
    """Rows [what, free pages, code, nothing half-written], until promotion fits."""
    project = disk / "project"
    rows: list[list] = []
    promoted(project)
    while not rows or rows[-1][2] != "ok":
        before = tree(project / "workflows")
        fill(disk, len(rows))
        code = outcome(lambda: promoted(project, BIG))
        same = tree(project / "workflows") == before
        (disk / "ballast").unlink()
        rows.append(["promote", len(rows), code, same])
    return rows + _past_routes(disk)


def _past_routes(disk):
    state = disk / "project/.pulsus"
    route = past_routes.PastRoute(NOON, "run-1", None, "x" * 3000, ("a/b/c",), "accepted")
    for _ in range(3):
        past_routes.record_route(state, route, Redactor())
    fill(disk, 0)
    codes = [outcome(lambda: past_routes.record_route(state, route, Redactor())) for _ in range(3)]
    trace = outcome(lambda: _trace(disk))
    (disk / "ballast").unlink()
    whole = len(past_routes.load_routes(state)) == 3 + codes.count("ok")
    clean = not (disk / "logs/runs/run-1").exists()
    return [["routes", 0, codes[-1], whole], ["trace", 0, trace, clean]]


def _trace(disk):
    open_trace(disk / "logs", "run-1", clock=noon, redactor=Redactor())


def read_only(disk):
    """Return the errors of promotion, trace and past routes on a read-only disk."""
    before = tree(disk)
    mount("-o", "remount,bind,ro", str(disk))
    route = past_routes.PastRoute(NOON, "run-1", None, "x", ("a/b/c",), "accepted")
    state = disk / "project/.pulsus"
    actions = {
        "promote": lambda: promoted(disk / "project", BIG),
        "trace": lambda: _trace(disk),
        "routes": lambda: past_routes.record_route(state, route, Redactor()),
    }
    return [[name, 0, outcome(do), tree(disk) == before] for name, do in actions.items()]


def mount(*arguments):
    subprocess.run(["mount", *arguments], check=True, capture_output=True)


if __name__ == "__main__":
    disk = Path(sys.argv[1])
    mount("-t", "tmpfs", "-o", "size=256k,nr_inodes=200", "tmpfs", str(disk))
    (disk / "project/workflows").mkdir(parents=True)
    sys.stdout.write(json.dumps({"full": full_disk(disk), "read_only": read_only(disk)}))
