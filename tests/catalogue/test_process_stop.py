"""Stop real processes: in a throw-away root, so that no other process can be hit."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.catalogue.conftest import import_tool
from tests.changes import change, unverified
from tests.throwaway_root import in_throwaway_root

STOP = "process/control/stop_process"
LOOK = "process/state/process_by_pid"
DEAF = (
    "import signal,time; signal.signal(15, signal.SIG_IGN); print('x', flush=True); time.sleep(60)"
)
pytestmark = pytest.mark.seconds


def start_sleeper():
    """Start `sleep 60`, and wait until `/proc` has its words: they come after its name."""
    sleeper = subprocess.Popen(["sleep", "60"])
    limit = time.monotonic() + 20
    while not Path(f"/proc/{sleeper.pid}/cmdline").read_bytes():
        assert time.monotonic() < limit
    return sleeper


def start_deaf():
    """Start a process that ignores SIGTERM."""
    deaf = subprocess.Popen([sys.executable, "-c", DEAF], stdout=subprocess.PIPE)
    assert deaf.stdout is not None
    deaf.stdout.readline()
    return deaf


def stop_gently():
    sleeper, other = start_sleeper(), start_sleeper()
    shown = import_tool(STOP).run(sleeper.pid, "sleep", allow_kill=True, dry_run=True)
    assert (shown["signals"], shown["stopped"], sleeper.poll()) == (["TERM", "KILL"], False, None)
    result = change(STOP, pid=sleeper.pid, name="sleep", started=shown["started"])
    assert (result["signals"], result["stopped"]) == (["TERM"], True)
    assert other.poll() is None
    return sleeper.wait()


def test_a_process_ends_by_sigterm_and_no_other_is_hit():
    assert in_throwaway_root(stop_gently) == -15


def keep_what_ignores_the_signal():
    deaf = start_deaf()
    name = Path(sys.executable).name
    inputs = {"pid": deaf.pid, "name": name, "grace_seconds": 0.3}
    result = import_tool(STOP).run(**inputs)
    assert (result["signals"], result["stopped"], result["ok"]) == (["TERM"], False, False)
    assert deaf.poll() is None
    reason = unverified(STOP, inputs, result)
    assert reason is not None
    result = change(STOP, **inputs, allow_kill=True)
    assert result["signals"] == ["TERM", "KILL"]
    return [reason, deaf.wait()]


def test_sigkill_follows_only_if_it_is_allowed():
    reason, status = in_throwaway_root(keep_what_ignores_the_signal)
    assert "running: expected false, got true" in reason
    assert status == -9


def refuse_the_wrong_process():
    tool = import_tool(STOP)
    sleeper = start_sleeper()
    with pytest.raises(ValueError, match=r"is sleep, not 'rsync': the id may have been used again"):
        tool.run(sleeper.pid, "rsync")
    with pytest.raises(ValueError, match=r"not at 2020-01-01T00:00:00: the id may have been used"):
        tool.run(sleeper.pid, "sleep", started="2020-01-01T00:00:00")
    with pytest.raises(ValueError, match="started 'noon' is no time"):
        tool.run(sleeper.pid, "sleep", started="noon")
    assert sleeper.poll() is None
    sleeper.kill()
    sleeper.wait()
    with pytest.raises(ValueError, match="is no running process"):
        tool.run(sleeper.pid, "sleep")


def test_a_process_that_got_the_id_of_another_one_is_never_hit():
    in_throwaway_root(refuse_the_wrong_process)


def look_up():
    sleeper = start_sleeper()
    tool = import_tool(LOOK)
    found = tool.run(sleeper.pid)
    assert (found["running"], found["name"], found["parent"]) == (True, "sleep", os.getpid())
    assert tool.run(sleeper.pid, started=found["started"])["running"] is True
    sleeper.kill()
    limit = time.monotonic() + 20
    while tool.run(sleeper.pid)["state"] != "zombie":
        assert time.monotonic() < limit
    found = tool.run(sleeper.pid)
    sleeper.wait()
    return found["running"], tool.run(sleeper.pid)["name"]


def test_a_zombie_does_not_count_as_running():
    assert in_throwaway_root(look_up) == [False, ""]


@pytest.mark.parametrize(
    ("inputs", "reason"),
    [
        ({"pid": 1, "name": "init"}, "pid 1 is not stopped by this tool"),
        ({"pid": -5, "name": "x"}, "pid -5 is not stopped"),
        ({"pid": os.getpid(), "name": "python"}, "is not stopped by this tool"),
        ({"pid": 4194305, "name": "x"}, "is no running process"),
        ({"pid": 7, "name": "x", "grace_seconds": -1}, "grace_seconds -1 is out of range"),
        ({"pid": 7, "name": "x", "proc": "/tmp"}, "proc '/tmp' is for a dry run only"),
    ],
)
def test_a_process_that_must_not_be_stopped_is_refused(load, inputs, reason):
    with pytest.raises(ValueError, match=reason):
        load(STOP).run(**inputs)
