"""Run commands on a full disk and report their output, as root of a mount namespace.

`python -m tests.integration.small_disk FOLDER FORMS PAGES...`: mounts a small tmpfs on FOLDER and
prints a JSON list of rows, one for each command, number of free pages, and output form. FORMS is
`both` forms, or `alternating`: text and JSON in turn.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.project import make, pulsus
from tests.promotions import tree

PAGE = 4096
COMMANDS = {
    "route": ("route", "count the words of the text", "--non-interactive"),
    "compose": ("route", "summarise the matrix then plot it", "--non-interactive"),
    "validate": ("validate", "new.py"),
    "promote": ("promote", "new.py", "--domain", "demo", "--action", "greet", "--yes"),
    "init": ("init", "fresh"),
}


def fill(disk, pages):
    """Leave that many pages free."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"x" * PAGE)
    os.truncate(ballast, max(0, ballast.stat().st_size - pages * PAGE))


def row(disk, name, pages, form):
    """Return the exit, the output and the remaining files of one command."""
    # A machine of its own: on one, a log that was there and is gone is an error.
    os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp()
    project = make(disk / "project")
    greeter = project / "workflows/domains/demo/greet/say_hello.py"
    (project / "new.py").write_text(greeter.read_text("utf-8").replace("Hello,", "Howdy,"), "utf-8")
    before = tree(project)
    fill(disk, pages)
    done = pulsus(project, *COMMANDS[name], *form)
    after = tree(project)
    (disk / "ballast").unlink()
    shutil.rmtree(project)
    return {
        "command": name,
        "pages": pages,
        "json": bool(form),
        "code": done.code,
        "out": done.out,
        "err": done.err,
        "catalogue": sorted(
            changed(before, after, ("workflows/domains", "workflows/shared_tools"))
        ),
        "candidates": sorted(changed(before, after, ("workflows/_tmp/",))),
        "empty": [n for n in changed(before, after, ("",)) if after.get(n) == b"" and told(n)],
        "torn": [n for n in after if n.endswith((".log", ".jsonl")) and not whole(after[n])],
    }


def changed(before, after, places):
    """Names below `places` that came, went or changed."""
    names = {n for n in before.keys() | after.keys() if before.get(n) != after.get(n)}
    return {n for n in names if n.startswith(places)}


def told(name):
    """Return True for files that are replaced whole: no mypy cache, no lock, no log."""
    places = (".pulsus/cache/", ".pulsus/locks/", "logs/app/", "logs/runs/", "logs/metrics/")
    return not name.startswith(places)


def whole(data):
    return not data or data.endswith(b"\n")


if __name__ == "__main__":
    disk, every, pages = Path(sys.argv[1]), sys.argv[2], map(int, sys.argv[3:])
    both = [(), ("--output", "json")]
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(disk)])
    if mounted.returncode:
        sys.exit(99)
    rows = [
        row(disk, name, free, form)
        for turn, free in enumerate(pages)
        for number, name in enumerate(COMMANDS)
        for form in (both if every == "both" else [both[(turn + number) % 2]])
    ]
    sys.stdout.write(json.dumps(rows))
