"""Many promotions at once on few cores: none is refused for want of time."""

import json
import os
import signal
import subprocess
import time

import pytest

from pulsus.core.system.machine_slots import cores, take
from pulsus.core.validators.steps.mypy_prestart import CHECKER
from tests.benchmarks.promotions_at_once import promote_at_once
from tests.benchmarks.validate_modules import module
from tests.patience import PATIENCE_SECONDS
from tests.project import PULSUS, make


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project on a machine of its own: its slots and working folders."""
    for name in ("runtime", "scratch"):
        (tmp_path / name).mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "scratch"))
    return make(tmp_path / "project")


def validate(project, *args):
    name = project / "new.py"
    name.write_text(module(7), encoding="utf-8")
    argv = [PULSUS, "validate", name, "--output", "json", *args]
    done = subprocess.run(argv, cwd=project, capture_output=True, text=True, timeout=120)
    return done.returncode, json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.sandbox
def test_twelve_promotions_at_once_are_all_promoted(project):
    ended = promote_at_once(project, 12)
    assert [(one.status, one.code) for one in ended] == [(0, "")] * 12


@pytest.mark.seconds
@pytest.mark.sandbox
def test_a_machine_without_a_free_core_is_busy_and_refuses_nothing(project, monkeypatch):
    held = [take(CHECKER, cores(), 60.0) for _ in range(cores())]
    monkeypatch.setenv("PULSUS_VALIDATION__WAIT_SECONDS", "0.2")
    status, told = validate(project)
    (one,) = told["modules"]
    assert status == 75
    assert told["error"]["code"] == "BUSY"
    assert one["status"] == "unverified"
    assert [step["code"] for step in one["steps"] if not step["ok"]] == ["BUSY"]
    for slot in held:
        slot.release()
    assert validate(project)[0] == 0


@pytest.mark.seconds
@pytest.mark.sandbox
def test_another_refusal_counts_more_than_a_busy_machine(project, monkeypatch):
    held = [take(CHECKER, cores(), 60.0) for _ in range(cores())]
    monkeypatch.setenv("PULSUS_VALIDATION__WAIT_SECONDS", "0.2")
    bad = project / "bad.py"
    bad.write_text("def ran(): pass\n", encoding="utf-8")
    status, told = validate(project, bad)
    assert status == 3
    assert told["error"]["code"] == "VALIDATION_FAILED"
    for slot in held:
        slot.release()


@pytest.mark.seconds
@pytest.mark.sandbox
def test_a_killed_validation_leaves_no_folder_for_long(project, tmp_path):
    name = project / "new.py"
    name.write_text(module(8), encoding="utf-8")
    scratch = tmp_path / "scratch" / f"pulsus-{os.geteuid()}"
    child = subprocess.Popen([PULSUS, "validate", name], cwd=project, stdout=subprocess.DEVNULL)
    until = time.monotonic() + PATIENCE_SECONDS
    # A folder that is not locked yet (`.new`) is swept a minute later only.
    while not list(scratch.glob("mypy-*[0-9a-f]")) and time.monotonic() < until:
        time.sleep(0.01)
    os.kill(child.pid, signal.SIGKILL)
    child.wait(timeout=PATIENCE_SECONDS)
    assert list(scratch.glob("mypy-*[0-9a-f]")) != []
    until = time.monotonic() + PATIENCE_SECONDS
    while list(scratch.glob("*-*")) and time.monotonic() < until:  # mypy outlives it for a while
        assert validate(project)[0] == 0
    assert list(scratch.glob("*-*")) == []
