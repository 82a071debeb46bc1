"""Arguments that another thread exchanges while a supervised call is being decided (ADR 28)."""

import os
import tempfile
from pathlib import Path

import pytest

from tests.confined import confined

pytestmark = pytest.mark.seconds

TOOL = '''
"""Race against the supervisor.

Kind: read

Effects:
    paths: %s
    hosts: none
    commands: none
"""
import ctypes, fcntl, os, threading, time

SECONDS = 0.5
libc = ctypes.CDLL(None)


def racing(swap, act):
    """How often `act` came through while another thread swaps."""
    over = []

    def turn():
        while not over:
            swap()

    thread = threading.Thread(target=turn)
    thread.start()
    until, done = time.monotonic() + SECONDS, 0
    while time.monotonic() < until:
        try:
            act()
            done += 1
        except OSError:
            pass
    over.append(1)
    thread.join()
    return done


def run(victim: str):
    t = os.environ["TMPDIR"]
    mine = os.open(t + "/mine", os.O_RDWR | os.O_CREAT, 0o600)
    theirs = os.open(victim, os.O_RDONLY)
    text = ctypes.create_string_buffer(512)
    names = [os.fsencode(each) + b"\\0" for each in (t + "/mine", victim)]

    def swap_names():
        for each in names:
            ctypes.memmove(text, each, len(each))

    def by_name():
        if libc.chmod(text, 0o600):
            raise OSError
        found = libc.open(text, os.O_WRONLY | os.O_TRUNC)
        if found >= 0:
            os.close(found)
        libc.utimensat(-100, text, None, 0)

    held, used = os.dup(mine), os.dup(mine)

    def swap_descriptors():
        os.dup2(theirs, used)
        os.dup2(held, used)

    def by_descriptor():
        os.fchmod(used, 0o600)
        fcntl.flock(used, fcntl.LOCK_EX | fcntl.LOCK_NB)

    folder, name = os.path.split(victim)
    os.mkdir(t + "/d")

    def swap_folders():
        try:
            os.rename(t + "/d", t + "/e")
            os.symlink(folder, t + "/d")
            os.unlink(t + "/d")
            os.rename(t + "/e", t + "/d")
        except OSError:
            pass

    def by_folder():
        os.chmod(f"{t}/d/{name}", 0o777)
        open(f"{t}/d/{name}", "w").close()

    return [
        racing(swap_names, by_name),
        racing(swap_descriptors, by_descriptor),
        racing(swap_folders, by_folder),
    ]
'''


@pytest.mark.parametrize("paths", ["none", "/proc"], ids=["landlock", "supervised"])
def test_no_race_changes_a_file_outside(paths):
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        victim = Path(folder, "victim")
        victim.write_text("kept", encoding="utf-8")
        victim.chmod(0o640)
        os.utime(victim, (1000, 1000))
        names, descriptors, _ = confined(TOOL % paths, victim=str(victim)).result
        assert names > 0
        assert descriptors > 0
        found = victim.stat()
        assert (found.st_mode & 0o777, found.st_mtime, found.st_size) == (0o640, 1000, 4)
