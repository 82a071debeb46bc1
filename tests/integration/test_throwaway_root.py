"""A throw-away root changes nothing outside it, and says what went wrong in it."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.throwaway_root import in_throwaway_root

pytestmark = pytest.mark.seconds
MARK = "throwaway-root-test"


def change_everything():
    for folder in ("/etc", "/var", "/home", "/run", "/tmp", "/usr/bin"):
        Path(folder, MARK).write_text("changed", encoding="utf-8")
    Path("/etc/passwd").write_text("root:x:0:0:::\n", encoding="utf-8")
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/srv"], check=True)
    return Path("/etc", MARK).read_text(encoding="utf-8")


def test_changes_in_a_throwaway_root_are_not_seen_outside():
    before = Path("/etc/passwd").read_bytes()
    mounts = Path("/proc/self/mounts").read_text(encoding="utf-8")
    assert in_throwaway_root(change_everything, real_root=True) == "changed"
    assert Path("/etc/passwd").read_bytes() == before
    assert Path("/proc/self/mounts").read_text(encoding="utf-8") == mounts
    folders = ("/etc", "/var", "/home", "/run", "/tmp", "/usr/bin")
    assert [folder for folder in folders if Path(folder, MARK).exists()] == []


def signal_every_process(outside):
    pids = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
    child = subprocess.Popen(["sleep", "60"])
    os.kill(child.pid, signal.SIGKILL)
    return [child.wait(), max(pids) < outside]


def test_a_throwaway_root_sees_no_process_of_the_machine():
    sleeper = subprocess.Popen(["sleep", "60"])
    try:
        assert in_throwaway_root(signal_every_process, sleeper.pid) == [-9, True]
        assert sleeper.poll() is None
    finally:
        sleeper.kill()
        sleeper.wait()


def leave_a_process(text):
    subprocess.Popen(["sleep", text], start_new_session=True)


def test_a_process_that_stays_ends_with_the_throwaway_root():
    in_throwaway_root(leave_a_process, "61.25")
    lines = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    assert b"sleep\x0061.25\x00" not in lines


def fail_with(text):
    raise ValueError(text)


def test_an_error_in_a_throwaway_root_fails_the_test_with_its_traceback():
    with pytest.raises(AssertionError, match=r"(?s)in fail_with.*ValueError: no such thing"):
        in_throwaway_root(fail_with, "no such thing")


def skip_because(text):
    pytest.skip(text)


def test_a_skip_in_a_throwaway_root_skips_the_test():
    with pytest.raises(pytest.skip.Exception, match="nothing to do"):
        in_throwaway_root(skip_because, "nothing to do")


def add_a_user():
    subprocess.run(["useradd", "--create-home", "ada"], check=True)
    return [Path("/home/ada").owner(), Path("/home/ada").stat().st_uid]


def test_root_has_several_users_in_a_throwaway_root():
    owner, uid = in_throwaway_root(add_a_user, real_root=True)
    assert (owner, uid >= 1000) == ("ada", True)
    assert not Path("/home/ada").exists()
