"""Make a small project in its own folder, and run the real `pulsus` command in it."""

import contextlib
import fcntl
import functools
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from tests import libraries
from tests.libraries import give, lend, link

FIXTURES = Path(__file__).parent / "fixtures"
PULSUS = Path(sys.executable).with_name("pulsus")

SELECT = "summarise the matrix: mean, minimum and maximum of each column"
COMPOSE = "summarise the matrix then plot it as a bar chart picture"
CHAINED = "sort rows by a column then render a markdown table"
"""With the overlay `chained` its steps' examples prove the composition's behaviour."""
COUNT = "count the words of the text"
NOTHING = "bake a sourdough loaf"


@dataclass(frozen=True)
class Done:
    """A command that ended."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        """The one JSON document on stdout."""
        return json.loads(self.out)


def make(folder, *overlays, warm=True):
    """Copy the fixture catalogue and these overlays into `folder`, and return `folder`.

    `warm` adds the caches of a first run, which needs a second to fit and to read libraries.
    """
    shutil.copytree(FIXTURES / "catalogue", folder, dirs_exist_ok=True)
    for name in overlays:
        lay(folder, name)
    if warm:
        shutil.copytree(_warmed() / ".pulsus", folder / ".pulsus", copy_function=_copied)
    return folder


def copied(project, folder):
    """Copy a whole project, with the state of earlier commands, to `folder`."""
    return Path(shutil.copytree(project, folder, symlinks=True, copy_function=_copied))


def _copied(source, target):
    """Link the files of mypy, because there are a hundred of them. Copy all others."""
    mypys = f"{os.sep}mypy{os.sep}" in str(source)
    return link(source, target) if mypys else shutil.copy2(source, target)


def lend_types(folder):
    """Give `folder` what mypy knows of the libraries after a first run."""
    _warmed()
    lend(folder / ".pulsus/cache/mypy")


@functools.cache
def _warmed():
    """Return a project with warm caches. One process makes it, and the others wait for it."""
    ready = libraries.folder() / "project"
    with (libraries.folder() / "project.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not ready.is_dir():
            _warm(Path(tempfile.mkdtemp(dir=libraries.folder()))).rename(ready)
    return ready


def _warm(folder):
    make(folder, warm=False)
    assert pulsus(folder, "route", COUNT, "--plan").code == 0
    mypys = folder / ".pulsus/cache/mypy"
    lend(mypys)
    pulsus(folder, "validate", "workflows/domains/text")
    if mypys.is_dir():
        give(mypys)
    return folder


def lay(folder, name):
    """Copy an overlay. `.txt` hides modules that are wrong on purpose from the linters."""
    base = FIXTURES / "overlays" / name
    for source in sorted(p for p in base.rglob("*") if p.is_file()):
        target = folder / str(source.relative_to(base)).removesuffix(".txt")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())


def pulsus(folder, *args, env=None, seconds=120):
    """Run the installed command in `folder`, without a terminal and without our settings."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PULSUS_")}
    done = subprocess.run(
        [PULSUS, *map(str, args)],
        cwd=folder,
        env={**clean, "NO_COLOR": "1", "COLUMNS": "100", **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=seconds,
        check=False,
    )
    return Done(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


def pulsus_here(folder, *args, env=None):
    """Run `pulsus` in this process. It is quicker, and serves if the test needs no real process."""
    from pulsus.cli import console
    from pulsus.cli.main import main

    out, err = io.StringIO(), io.StringIO()
    # COLUMNS, which pytest-xdist sets, would lay out results for a reader.
    ours = ("PULSUS_", "COLUMNS")
    clean = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        Path(os.devnull).open(encoding="utf-8") as nobody,
        mock.patch.object(sys, "stdin", nobody),
        mock.patch.object(console, "_given_places", []),
        mock.patch.dict(os.environ, {**clean, **(env or {})}, clear=True),
    ):
        code = 0
        try:
            main([str(arg) for arg in args])
        except SystemExit as ended:
            code = int(ended.code or 0)
    return Done(code, out.getvalue(), err.getvalue())


def trust(folder):
    """Approve the settings of the project's files, as `pulsus config trust` does."""
    from pulsus import bootstrap
    from pulsus.bootstrap import project_trust

    found = bootstrap.inspect(folder, {"cache_enabled": False}).standings
    project_trust.approve(folder, found, lambda value: value, "2026-01-01T00:00:00+00:00")


def records(folder):
    """Every promotion on record, in the order of their files."""
    found = sorted((folder / "workflows").rglob("metadata.jsonl"))
    return [json.loads(line) for path in found for line in path.read_text("utf-8").splitlines()]


def events(folder):
    """The trace of the only run in `folder`."""
    (log,) = (folder / "logs/runs").glob("*/steps.log")
    return [json.loads(line) for line in log.read_text("utf-8").splitlines()]


def phases(folder):
    """The phases of the only run in `folder`, in order."""
    return [event["phase"] for event in events(folder)]
