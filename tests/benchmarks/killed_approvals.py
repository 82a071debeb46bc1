"""Approvals killed at every point from the approval to the end of the execution (ADR 49).

    python -m tests.benchmarks.killed_approvals --kills 1000
    python -m tests.benchmarks.killed_approvals --kills 1000 --at-once

Goes through all points again until so many kills are done. Prints one JSON document with the
number of points, of kills and of faults, and exits with 1 if there is a fault.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from tests.approval_kills import trial


def killed(most, every=1, *, at_once=False):
    """Kill at every `every`-th point, over and over, until `most` kills. Return (kills, faults)."""
    faults: dict[int, list[str]] = {}
    kills, point, points = 0, every, 0
    while kills < most:
        root = Path(tempfile.mkdtemp(prefix="pulsus-killed-approval-"))
        try:
            was_killed, wrong = trial(root, point, at_once=at_once)
        finally:
            shutil.rmtree(root)
        if wrong:
            faults[point] = wrong
        if not was_killed and point == every:
            raise RuntimeError("the first point was never reached")
        points = max(points, point if was_killed else 0)
        kills += was_killed
        point = point + every if was_killed else every
    return points, kills, faults


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument(
        "--at-once", action="store_true", help="several cards at once, with the decision log"
    )
    options = parser.parse_args()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = folder
        points, kills, faults = killed(options.kills, at_once=options.at_once)
    report = {
        "points": points,
        "kills": kills,
        "seconds": round(time.perf_counter() - began, 1),
        "faults": faults,
    }
    print(json.dumps(report, indent=2))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
