"""Run a plan on a disk with few free pages, then make room and resume it.

`python -m tests.integration.full_disk_plan FOLDER`: mounts a small tmpfs on FOLDER, inside a mount
namespace, and prints a JSON list of rows, one for each number of free pages.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from pulsus.errors import PulsusError
from tests.integration.small_disk import fill
from tests.plan_hosts import Project, step

STEPS = (
    step("a", inputs={"value": "{{ input.text }}"}),
    step("w", "write", inputs={"value": "{{ steps.a.outputs.value }}"}),
    step("b", items="{{ input.items }}", inputs={"value": "{{ item }}"}),
    step("v", "write", inputs={"value": "{{ steps.a.outputs.value }}"}),
)
INPUTS = {"text": "x" * 9000, "items": [1, 2, 3]}


def row(disk, pages):
    """Return what happened with that many free pages."""
    root = disk / "project"
    root.mkdir()
    project = Project(root)
    with tempfile.TemporaryDirectory() as elsewhere:
        project.host.ledger = Path(elsewhere, "ledger")
        fill(disk, pages)
        first = outcome(lambda: project.run(*STEPS, inputs=INPUTS))
        (disk / "ballast").unlink()
        has_run = (project.state / "state.db").exists() and bool(listed(project))
        again = project.resume if has_run else lambda *steps: project.run(*steps, inputs=INPUTS)
        then = first if first == "done" else outcome(lambda: again(*STEPS))
        wrong = [] if then == "done" and project.host.effects() == ["w", "v"] else [
            then, *project.host.effects()
        ]  # fmt: skip
    shutil.rmtree(root)
    return {"pages": pages, "first": first, "then": then, "wrong": wrong}


def listed(project):
    journal = project.opened()
    try:
        return journal.list_runs()
    finally:
        journal.close()


def outcome(act):
    """Return the state in which the run ended, or the code of the error."""
    try:
        end = act()
    except PulsusError as error:
        return error.code
    return end.state


if __name__ == "__main__":
    disk = Path(sys.argv[1])
    size = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(disk)]
    subprocess.run(size, check=True, capture_output=True)
    rows: list[dict] = []
    while len(rows) < 100 and [each["first"] for each in rows[-2:]] != ["done"] * 2:
        rows.append(row(disk, 7 * len(rows)))
    sys.stdout.write(json.dumps(rows))
