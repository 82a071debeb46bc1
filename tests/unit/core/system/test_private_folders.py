"""Working folders do not outlive a killed Pulsus."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pulsus.core.system.private_folders import Scratch, scratch_root, sweep_scratch
from tests.patience import PATIENCE_SECONDS

MAKE = """
import sys, time
from pulsus.core.system.private_folders import Scratch
made = Scratch("mypy")
open(f"{made.path}/copy.py", "w").close()
print(made.path, flush=True)
time.sleep(60)
"""


@pytest.fixture(autouse=True)
def tmpdir(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def test_a_folder_is_private_and_gone_after_its_use():
    scratch = Scratch("ruff")
    assert Path(scratch.path).stat().st_mode & 0o777 == 0o700
    (Path(scratch.path) / "sub").mkdir()
    (Path(scratch.path) / "sub" / "x.py").write_text("")
    scratch.remove()
    scratch.remove()
    assert list(Path(scratch_root()).iterdir()) == []


def test_the_folder_of_a_killed_process_is_removed_and_one_in_use_stays():
    child = subprocess.Popen([sys.executable, "-c", MAKE], stdout=subprocess.PIPE, text=True)
    assert child.stdout
    path = Path(child.stdout.readline().strip())
    mine = Scratch("mypy")
    try:
        assert sweep_scratch() == 0
        assert path.is_dir()
        os.kill(child.pid, signal.SIGKILL)
        child.wait(timeout=PATIENCE_SECONDS)
        assert sweep_scratch() == 1
        assert not path.exists()
        assert Path(mine.path).is_dir()
    finally:
        child.kill()
        child.wait()
        child.stdout.close()
        mine.remove()


def test_a_folder_that_is_not_locked_yet_is_removed_only_later():
    left = Path(scratch_root()) / "mypy-0123456789abcdef.new"
    left.mkdir()
    assert sweep_scratch() == 0
    os.utime(left, (time.time() - 120,) * 2)
    assert sweep_scratch() == 1
    assert not left.exists()


def test_a_sweep_leaves_other_folders_alone():
    others = [Path(scratch_root()) / name for name in ("slots", "mypy-x", "0123456789abcdef.new.d")]
    for other in others:
        other.mkdir()
    assert sweep_scratch() == 0
    assert all(other.is_dir() for other in others)


def test_a_link_in_the_place_of_a_folder_is_not_followed(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "keep").touch()
    (Path(scratch_root()) / "mypy-0123456789abcdef").symlink_to(outside)
    sweep_scratch()
    assert (outside / "keep").exists()


def test_a_folder_that_others_can_write_to_is_not_used(tmp_path):
    (tmp_path / f"pulsus-{os.geteuid()}").mkdir(mode=0o777)
    (tmp_path / f"pulsus-{os.geteuid()}").chmod(0o777)
    with pytest.raises(OSError, match="another user may write"):
        Scratch("mypy")
    assert sweep_scratch() == 0
