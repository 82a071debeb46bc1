"""Allowed commands write no file. Each runs on an overlay that shows every written file."""

import json
import os
import re
import shutil
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from pulsus.commands import classify
from pulsus.commands.execution_plan import prepared
from pulsus.commands.run_environment import PATH
from pulsus.commands.shell.script_parser import parse_command
from pulsus.commands.shell.words import Unreadable
from pulsus.execution.run_gated_command import run
from tests import namespaces
from tests.command_examples import examples
from tests.observed_writes import observed

CASES = Path(os.environ.get("PULSUS_CASES", "../shared/cases"))
MOST = int(os.environ.get("PULSUS_OBSERVED_MOST", "2"))
"""Commands of the same programs: `find` alone has 1,500. With 25 it takes a quarter of an hour."""

KNOWN = (
    (r"sqlite3", r"\.db-(shm|wal)$", "SQLite needs both to read a database in WAL mode"),
    (
        r"rpm",
        r"/\.rpmdb(/|$)|^(/mnt)?/home(/observed)?$|^/mnt$",
        "Debian's rpm keeps its database in HOME, in WAL mode",
    ),
    (r"delv", r"^/srv/observed$", "makes a file in the current folder, and removes it"),
    (r"lslogins", r"^/etc(/\.pwd\.lock)?$", "takes the lock of the password file"),
    (r"fc-\w+", r"^/var(/cache(/fontconfig.*)?)?$", "as root, fills the cache of fonts"),
)
"""Program, what it writes, and why it stays (docs/commands.md, Known limits)."""


@cache
def installed(program):
    return shutil.which(program, path=":".join(PATH)) is not None


def allowed():
    """Allowed commands of installed programs, at most so many of each list of programs."""
    commands = [
        json.loads(line)["command"]
        for file in sorted(CASES.glob("commands*/*.jsonl"))
        for line in file.read_text(encoding="utf-8").split("\n")
        if line
    ]
    seen: Counter[tuple[str, ...]] = Counter()
    absent: set[str] = set()
    for command in dict.fromkeys([*examples(), *commands]):
        try:
            stages = parse_command(command).stages
        except Unreadable:
            continue
        programs = tuple(stage.words[0].text for stage in stages if stage.words)
        missing = {name for name in programs if not installed(name)}
        # Asked last: judging all of them takes longer than running those that are chosen.
        if seen[programs] == MOST or len(missing) == len(programs) or not classify(command).allow:
            absent |= missing
            continue
        seen[programs] += 1
        yield command
    sys.stdout.write(f"not installed, so not observed: {' '.join(sorted(absent))}\n")


def left(row):
    """Files that the command wrote, and that are not known to stay."""
    known = [place for program, place, _ in KNOWN if re.search(rf"\b{program}\b", row["command"])]
    made = [path for path in row["writes"] if not any(re.search(one, path) for one in known)]
    # A folder changes where a known file in it was made.
    return [path for path in made if not (known and path == "/srv/observed")]


@pytest.mark.slow
@pytest.mark.cases
@pytest.mark.timeout(3600)
def test_no_allowed_command_of_an_installed_program_writes_a_file():
    if not CASES.is_dir():
        pytest.skip("outside cases are not here; set PULSUS_CASES")
    commands = [*allowed()]
    rows = observed(commands)
    if rows is None:
        pytest.skip("needs a mount namespace with overlayfs")
    assert len(rows) == len(commands) > 300
    assert sum(row["status"] == 0 for row in rows) > 150
    assert {row["command"]: left(row) for row in rows if left(row)} == {}


@pytest.mark.seconds
def test_reads_of_a_repository_with_a_stale_index_write_nothing():
    if namespaces.way() is None or not shutil.which("git"):
        pytest.skip("needs a mount namespace and git")
    rows = observed(["git status", "find . -name a.txt -print0 | xargs -0 git diff --"])
    if rows is None:
        pytest.skip("needs overlayfs")
    assert [row["writes"] for row in rows] == [[], []]


@pytest.mark.seconds
def test_the_observer_sees_the_files_that_a_command_makes():
    rows = observed(["sqlite3 a.db 'select 1 from t'"])
    if rows is None or not shutil.which("sqlite3"):
        pytest.skip("needs a mount namespace with overlayfs, and sqlite3")
    assert rows[0]["status"] == 0
    assert any(path.endswith("-shm") for path in rows[0]["writes"])


def test_caches_and_temporary_files_are_in_a_folder_that_is_removed(tmp_path):
    plan = prepared(classify("env"), {"HOME": str(tmp_path)})
    printed = run(plan).output.decode()
    given = dict(line.split("=", 1) for line in printed.splitlines() if "=" in line)
    folder = Path(given["XDG_CACHE_HOME"]).parent
    assert folder.name.startswith("pulsus-read-")
    assert not folder.exists()
    assert {"KUBECACHEDIR", "HELM_CACHE_HOME", "TMPDIR", "GNUPGHOME"} <= given.keys()
    assert given["TMPDIR"].startswith(str(folder))
    assert given["PSQL_HISTORY"] == "/dev/null"


def test_gnupghome_is_private_unless_home_has_a_keyring(tmp_path):
    assert "GNUPGHOME" in prepared(classify("ls"), {"HOME": str(tmp_path)}).private
    (tmp_path / ".gnupg").mkdir()
    assert "GNUPGHOME" not in prepared(classify("ls"), {"HOME": str(tmp_path)}).private


def test_a_plan_without_a_private_folder_writes_no_cache_in_home():
    env = prepared(classify("ls"), {"HOME": "/root"}).env
    assert env["XDG_CACHE_HOME"].startswith("/dev/null/")
