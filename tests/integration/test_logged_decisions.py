"""The decision log has every decision made on the command line (spec §10, §17)."""

import os
import time

import pytest

from tests.decisions import each
from tests.project import pulsus_here
from tests.promotions import module, promoted

WRITER = b'''"""Leave a mark.

Args:
    path (str): Where.
    password (str): Not for the log.
"""

from pathlib import Path


def run(path: str, password: str = "") -> dict:
    return {"written": Path(path).write_text("mark", encoding="utf-8")}
'''
READER = b'''"""Say hello.

Kind: read
"""


def run() -> dict:
    return {"said": "hello"}
'''


def logged(project, *kinds):
    return [r for r in each(project / ".pulsus/audit") if r.kind in kinds]


def run(project, *more):
    mark = project / "mark"
    return mark, pulsus_here(project, "run", "things", "--input", f"path={mark}", "--yes", *more)


def test_a_confirmed_run_of_a_write_tool_is_logged_without_secrets(tmp_path):
    promoted(tmp_path, WRITER)
    mark, done = run(tmp_path, "--input", "password=hunter2")
    assert done.code == 0, done.err
    assert mark.exists()
    (record,) = logged(tmp_path, "run")
    assert record.data["tool"] == "system/count/things"
    assert record.data["inputs"] == {"path": str(mark), "password": "[redacted]"}
    assert record.data["by"]
    assert record.data["consent"] == "yes"


def test_a_run_of_a_read_tool_is_not_logged(tmp_path):
    promoted(tmp_path, READER)
    assert pulsus_here(tmp_path, "run", "things").code == 0
    assert logged(tmp_path, "run") == []


def test_a_write_tool_does_not_run_if_the_log_cannot_be_written(tmp_path):
    promoted(tmp_path, WRITER)
    log = tmp_path / ".pulsus/audit/decisions-000001.jsonl"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:-1]))
    mark, done = run(tmp_path)
    assert (done.code, mark.exists()) == (1, False)
    assert "AUDIT_TAMPERED" in done.err


def test_a_policy_refusal_is_logged_and_stands_without_a_log(tmp_path):
    promoted(tmp_path, READER)
    path = tmp_path / "workflows/domains/system/count/things.py"
    path.write_bytes(path.read_bytes() + b"# edited\n")
    assert pulsus_here(tmp_path, "run", "things").code == 6
    (record,) = logged(tmp_path, "refuse")
    assert (record.data["code"], record.data["tool"]) == ("NOT_PROMOTED", "system/count/things")
    (tmp_path / ".pulsus/audit/head.json").unlink()
    done = pulsus_here(tmp_path, "run", "things")
    assert done.code == 6
    assert "the refusal is not in the decision log" in done.err


def test_gc_logs_removals_and_nothing_else(tmp_path):
    promoted(tmp_path, module("one"))
    old = tmp_path / "workflows/_tmp/route_1.py"
    old.parent.mkdir()
    old.write_text("x", encoding="utf-8")
    then = time.time() - 30 * 24 * 3600
    os.utime(old, (then, then))
    assert pulsus_here(tmp_path, "gc", "--dry-run").code == 0
    assert logged(tmp_path, "gc") == []
    for _ in range(2):
        assert pulsus_here(tmp_path, "gc").code == 0
    (record,) = logged(tmp_path, "gc")
    assert record.data["paths"] == ["workflows/_tmp/route_1.py"]


def test_gc_creates_no_log(tmp_path):
    (tmp_path / "workflows").mkdir()
    assert pulsus_here(tmp_path, "gc").code == 0
    assert not (tmp_path / ".pulsus/audit").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_an_unwritable_state_folder_stops_every_decision_that_must_be_logged(tmp_path):
    promoted(tmp_path, WRITER)
    (tmp_path / ".pulsus/audit").chmod(0o500)
    mark, done = run(tmp_path)
    assert (done.code, mark.exists()) == (2, False)
