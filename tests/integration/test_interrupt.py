"""Ctrl-C ends every command with one line and exit 130."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.project import COUNT, PULSUS, make

LOADING = """
import sys

class Pressed:
    def find_spec(self, name, *rest):
        if name == "pulsus.cli.main":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Pressed())
from pulsus.__main__ import main
main()
"""

# One module is wrong on purpose, and no person is there to approve.
UNDISTURBED = {"eval": 0, "validate": 3, "tools": 0, "route": 4}


@pytest.fixture
def folder(tmp_path):
    folder = make(tmp_path / "project", warm=False)
    rows = "".join(
        f'{{"query": "{COUNT} {n}", "tools": ["text/count/count_words"]}}\n' for n in range(3000)
    )
    (folder / "queries.jsonl").write_text(rows, encoding="utf-8")
    return folder


def wait_for_handler(running):
    """Return True once the process handles Ctrl-C, and False if it ends before that.

    Before the interpreter has begun, and after it has ended, the system ends a process by itself.
    """
    until = time.monotonic() + 60
    while running.poll() is None:
        status = Path(f"/proc/{running.pid}/status").read_text(encoding="ascii")
        (caught,) = re.findall(r"^SigCgt:\s*(\w+)$", status, re.MULTILINE)
        if int(caught, 16) >> (signal.SIGINT - 1) & 1:
            return True
        assert time.monotonic() < until, "the command neither began nor ended"
        time.sleep(0.005)
    return False


@pytest.mark.parametrize(
    "after", [0.3, *(pytest.param(later, marks=pytest.mark.seconds) for later in (1.0, 2.5))]
)
@pytest.mark.parametrize(
    "command",
    [["eval", "queries.jsonl"], ["validate", "workflows"], ["tools", "check"], ["route", COUNT]],
    ids=lambda command: command[0],
)
def test_ctrl_c_is_one_line_and_exit_130(folder, command, after):
    running = subprocess.Popen(
        [PULSUS, *command],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    time.sleep(after)
    pressed = wait_for_handler(running)
    if pressed:
        os.killpg(running.pid, signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert "Traceback" not in out + err
    if pressed and running.returncode != UNDISTURBED[command[0]]:  # it was about to end
        assert running.returncode == 130
        errors = [line for line in err.splitlines() if line.startswith("error")]
        # A key before anything was loaded has the shorter line.
        assert errors in (
            ["error[ABORTED]: aborted; Pulsus left nothing half-written"],
            ["error[ABORTED]: aborted"],
        )


def test_ctrl_c_during_start_up_is_one_line():
    done = subprocess.run(
        [sys.executable, "-c", LOADING], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (130, "error[ABORTED]: aborted\n")


TWICE = """
import _signal
import pulsus.cli.main
from pulsus.__main__ import main

def run():
    raise KeyboardInterrupt

set_handler, pressed = _signal.signal, [2]

def interrupted(*args):
    # As the real one, which first calls the handler of a key that was pressed.
    if pressed[0]:
        pressed[0] -= 1
        raise KeyboardInterrupt
    return set_handler(*args)

_signal.signal = interrupted
pulsus.cli.main.main = run
main()
"""


def test_a_second_ctrl_c_while_it_ends_is_no_traceback():
    done = subprocess.run(
        [sys.executable, "-c", TWICE], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (130, "error[ABORTED]: aborted\n")


IN_A_CALLBACK = """
import signal
import time
import pulsus.cli.main
from pulsus.__main__ import main

class Dropped:
    def __del__(self):
        raise KeyboardInterrupt

def run():
    Dropped()
    time.sleep(300)

signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in jobs of a shell
pulsus.cli.main.main = run
main()
"""


def test_ctrl_c_in_a_callback_of_the_interpreter_ends_it_without_a_traceback():
    done = subprocess.run(
        [sys.executable, "-c", IN_A_CALLBACK],
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert (done.returncode, done.stderr) == (130, "error[ABORTED]: aborted\n")
