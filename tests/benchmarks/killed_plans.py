"""A plan killed at every point of its journal, and resumed (ADR 42).

    python -m tests.benchmarks.killed_plans --every 1

Prints one JSON document with the number of points, of kills and of faults. It exits with 1 where a
write was doubled, a finished step was run again, or a write in doubt was passed over.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from tests.plan_kills import trial


def killed(every):
    """Kill at every `every`-th point until the plan runs through. Return (kills, faults)."""
    faults: dict[int, list[str]] = {}
    point, kills = every, 0
    while True:
        root = Path(tempfile.mkdtemp(prefix="pulsus-killed-plan-"))
        try:
            was_killed, wrong = trial(root, point)
        finally:
            shutil.rmtree(root)
        if wrong:
            faults[point] = wrong
        if not was_killed:
            return point, kills, faults
        kills += 1
        point += every


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = folder
        points, kills, faults = killed(options.every)
    report = {
        "points": points - 1,
        "kills": kills,
        "seconds": round(time.perf_counter() - began, 1),
        "faults": faults,
    }
    print(json.dumps(report, indent=2))
    sys.exit(1 if faults or kills < (points - 1) // options.every else 0)


if __name__ == "__main__":
    main()
