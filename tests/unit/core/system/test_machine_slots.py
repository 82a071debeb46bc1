"""A machine runs as many checkers at once as it has cores."""

import os
import signal
import subprocess
import sys

import pytest

from pulsus.core.system.machine_slots import NoSlot, take, try_take
from tests.patience import PATIENCE_SECONDS

HOLD = """
import time
from pulsus.core.system.machine_slots import try_take
print(try_take("checker", 1) is not None, flush=True)
time.sleep(60)
"""


@pytest.fixture(autouse=True)
def runtime(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


def test_no_more_than_the_count_work_at_once():
    first, second = take("checker", 2, 1.0), take("checker", 2, 1.0)
    assert try_take("checker", 2) is None
    assert try_take("sandbox", 2) is not None
    first.release()
    assert try_take("checker", 2) is not None
    second.release()


def test_a_slot_that_does_not_become_free_in_time_is_an_error():
    held = take("checker", 1, 1.0)
    with pytest.raises(NoSlot):
        take("checker", 1, 0.05)
    held.release()
    take("checker", 1, 0.05).release()


def test_a_wait_that_is_given_up_ends_at_once():
    held = take("checker", 1, 1.0)
    with pytest.raises(NoSlot):
        take("checker", 1, 3600.0, given_up=lambda: True)
    held.release()


def test_a_killed_process_holds_no_slot():
    child = subprocess.Popen([sys.executable, "-c", HOLD], stdout=subprocess.PIPE, text=True)
    assert child.stdout
    try:
        assert child.stdout.readline() == "True\n"
        assert try_take("checker", 1) is None
        os.kill(child.pid, signal.SIGKILL)
        child.wait(timeout=PATIENCE_SECONDS)
        assert try_take("checker", 1) is not None
    finally:
        child.kill()
        child.wait()
        child.stdout.close()


def test_a_folder_of_another_user_limits_nothing_and_breaks_nothing(tmp_path):
    (tmp_path / "pulsus").mkdir()
    (tmp_path / "pulsus").chmod(0o777)
    assert all(try_take("checker", 1) is not None for _ in range(3))
