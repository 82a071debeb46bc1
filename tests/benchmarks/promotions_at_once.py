"""Many promotions at once, each a process of its own (docs/benchmarks.md).

    python tests/benchmarks/promotions_at_once.py 50

Each promotes a good module into one project. Prints how each ended and how long all took; exits 1
if one was refused for want of time.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.benchmarks.validate_modules import module

PULSUS = Path(sys.executable).with_name("pulsus")
SECONDS = 1800
FIRST = 3  # generated modules are counted from 2


@dataclass(frozen=True)
class Ended:
    """One promotion: its exit status, and the code of its error."""

    status: int
    code: str


def promote_at_once(project, count):
    """Start `pulsus promote` for `count` modules, and wait for all."""
    children = []
    for number in range(count):
        path = project / f"batch_{number}.py"
        path.write_text(module(FIRST + number), encoding="utf-8")
        place = ("--domain", "batch", "--action", "sum", "--yes", "--output", "json")
        argv = [PULSUS, "promote", path, *place]
        out, err = subprocess.PIPE, subprocess.DEVNULL
        children.append(subprocess.Popen(argv, cwd=project, stdout=out, stderr=err))
    ended = []
    for child in children:
        told = json.loads(child.communicate(timeout=SECONDS)[0])
        ended.append(Ended(child.returncode, told.get("error", {}).get("code", "")))
    return ended


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    with tempfile.TemporaryDirectory() as name:
        project = Path(name)
        (project / "workflows").mkdir()
        began = time.perf_counter()
        ended = promote_at_once(project, count)
        took = time.perf_counter() - began
    found = Counter(f"{one.status} {one.code}".strip() for one in ended)
    print(json.dumps({"promotions": count, "seconds": round(took, 1), "ended": dict(found)}))
    return any(one.status not in (0, 75) for one in ended)


if __name__ == "__main__":
    sys.exit(main())
