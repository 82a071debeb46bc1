"""A tool and its child processes end with `pulsus run`."""

import os
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from pulsus.execution import end_tool_process
from pulsus.execution.workers import worker
from tests.patience import PATIENCE_SECONDS
from tests.project import PULSUS
from tests.promotions import promoted

SLOW = b'''"""Write late.

Args:
    folder (str): Where.

Kind: write
"""

import os
import subprocess
import time
from pathlib import Path


def run(folder: str) -> str:
    child = subprocess.Popen(["sleep", "60"])
    Path(folder, "pids").write_text(f"{os.getpid()} {child.pid}\\n", encoding="utf-8")
    time.sleep(3)
    Path(folder, "late").touch()
    return "done"
'''
CAREFUL = SLOW.replace(
    b"    child =",
    b"    def tidy(*_):\n"
    b"        Path(folder, 'tidy').touch()\n"
    b"        os._exit(0)\n\n"
    b"    signal.signal(signal.SIGTERM, tidy)\n"
    b"    child =",
).replace(b"import os\n", b"import os\nimport signal\n")
DEAF = SLOW.replace(
    b"    child =", b"    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n    child ="
).replace(b"import os\n", b"import os\nimport signal\n")
WITH_TEMPORARY = (
    SLOW.replace(b"def run(", b"def work(")
    + b"""

def run(folder: str) -> str:
    temporary = Path(folder, "part.tmp")
    temporary.touch()
    try:
        return work(folder)
    finally:
        temporary.unlink()
"""
)


def until(condition, seconds=PATIENCE_SECONDS):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.02)


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


def ended(folder, source, number):
    """Exit status and stderr of a run that a signal ended, once all that it started is gone."""
    promoted(folder, source)
    running = subprocess.Popen(
        [PULSUS, "run", "things", "--input", f"folder={folder}", "--yes"],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    pids = folder / "pids"
    try:
        until(lambda: pids.exists() and pids.read_text("utf-8").endswith("\n"))
        running.send_signal(number)
        _, err = running.communicate(timeout=PATIENCE_SECONDS)
    finally:
        running.kill()
    started = [int(pid) for pid in pids.read_text("utf-8").split()]
    until(lambda: not any(map(alive, started)), seconds=2.0)
    assert not (folder / "late").exists()
    return running.returncode, err


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("number", "status", "code"),
    [(signal.SIGTERM, 143, "TERMINATED"), (signal.SIGHUP, 129, "HUNG_UP")],
)
def test_a_signal_that_ends_pulsus_ends_the_tool_and_its_children(tmp_path, number, status, code):
    """The tool went on and wrote afterwards."""
    done, err = ended(tmp_path, SLOW, number)
    assert done == status
    assert [line for line in err.splitlines() if line.startswith("error")] == [
        f"error[{code}]: {number.name} ended Pulsus, and the tool with every process it started"
    ]
    assert "Traceback" not in err


@pytest.mark.seconds
def test_sigkill_of_pulsus_ends_the_tool_and_its_children(tmp_path):
    assert ended(tmp_path, SLOW, signal.SIGKILL)[0] == -signal.SIGKILL


@pytest.mark.seconds
def test_a_tool_may_tidy_up_before_it_ends(tmp_path):
    assert ended(tmp_path, CAREFUL, signal.SIGTERM)[0] == 143
    assert (tmp_path / "tidy").exists()


@pytest.mark.seconds
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_an_interrupted_tool_removes_its_temporary_file(tmp_path, number):
    """A backup that Ctrl-C ended left 400 MB beside the archive."""
    ended(tmp_path, WITH_TEMPORARY, number)
    assert not list(tmp_path.glob("*.tmp"))


@pytest.mark.seconds
def test_a_tool_that_ignores_the_signal_is_killed_after_a_grace_period(tmp_path):
    assert ended(tmp_path, DEAF, signal.SIGTERM)[0] == 143


def test_a_signal_that_is_ignored_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with end_tool_process.raise_on_signals():
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_run_outside_the_main_thread_changes_no_signal_handler():
    seen = []

    def look():
        with end_tool_process.raise_on_signals():
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join(PATIENCE_SECONDS)
    assert seen == [signal.SIG_DFL]


def test_the_worker_kills_its_group_when_its_pipe_closes():
    read, write = os.pipe()
    code = f"from {worker.__name__} import end_with; print(flush=True); end_with({read})"
    child = subprocess.Popen(
        [sys.executable, "-c", code],
        pass_fds=(read,),
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    os.close(read)
    assert child.stdout
    with child.stdout as out:
        assert select.select([out], [], [], PATIENCE_SECONDS)[0]
        assert child.poll() is None
        os.close(write)
        assert child.wait(PATIENCE_SECONDS) == -signal.SIGKILL
