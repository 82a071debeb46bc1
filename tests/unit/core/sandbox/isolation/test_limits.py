"""Limits, clocks and the verdict channel (spec §8, §17), on real sandboxes."""

import os
import secrets
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, closing, suppress
from textwrap import dedent

import pytest

from pulsus.core.sandbox import runner
from pulsus.core.sandbox.isolation.socket_memory import SocketMemory
from pulsus.core.sandbox.job import cancel_on
from pulsus.core.types import InlineFile
from tests.patience import PATIENCE_SECONDS
from tests.sandboxes import need_sandbox, processes_with, sandboxed

pytestmark = pytest.mark.sandbox
MIB = 1 << 20


def gone(token):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while processes_with(token) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not processes_with(token)


def test_one_process_cannot_pass_the_memory_cap():
    outcome = sandboxed(
        """
        def run():
            kept = []
            while True:
                kept.append(bytearray(4 << 20))
        """,
        memory_bytes=128 * MIB,
    )
    assert outcome.status == "failed"
    assert "more than 128 MB of memory" in outcome.message
    assert outcome.peak_bytes < 512 * MIB


def test_children_together_cannot_pass_the_memory_cap():
    outcome = sandboxed(
        """
        import os, time
        def run():
            for _ in range(6):
                if os.fork() == 0:
                    kept = bytearray(40 << 20)
                    time.sleep(60)
                    os._exit(len(kept) & 1)
            time.sleep(60)
        """,
        memory_bytes=128 * MIB,
    )
    assert "more than 128 MB of memory" in outcome.message


def test_files_in_memory_count_as_memory():
    outcome = sandboxed(
        """
        import time
        def run():
            with open("/tmp/a", "wb") as file:
                file.write(bytes(48 << 20))
            time.sleep(60)
        """,
        memory_bytes=40 * MIB,
    )
    assert "more than 40 MB of memory" in outcome.message


def test_tmp_has_a_size():
    outcome = sandboxed(
        """
        def run():
            for name in "abc":
                with open(f"/tmp/{name}", "wb") as file:
                    file.write(bytes(3 << 20))
        """,
        tmp_bytes=5 * MIB,
    )
    assert "No space left" in outcome.message


@pytest.mark.seconds
def test_a_fork_bomb_ends_with_nothing_left():
    token = f"bomb{secrets.token_hex(8)}"
    outcome = sandboxed(
        f"""
        import os, time
        def run():
            refused = 0
            for _ in range(200):
                try:
                    if os.fork() == 0:
                        os.execv("/bin/sh", ["sh", "-c", "sleep 60; :", "{token}"])
                except BlockingIOError:
                    refused += 1
            return refused
        """,
        processes=24,
    )
    assert outcome.status == "failed" or outcome.value > 150
    assert gone(token)


@pytest.mark.seconds
@pytest.mark.parametrize(("stage", "where"), [("import", 0), ("run", 4)])
def test_each_stage_is_killed_at_its_own_clock_with_its_children(stage, where):
    token = f"late{secrets.token_hex(8)}"
    indent = " " * where
    source = (
        "import os, signal, subprocess, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        + ("def run():\n" if where else "")
        + f"{indent}subprocess.Popen(['setsid', 'sh', '-c', 'sleep 600; :', '{token}'])\n"
        + f"{indent}time.sleep(600)\n"
        + ("" if where else "def run():\n    return 1\n")
    )
    started = time.monotonic()
    outcome = sandboxed(source, import_seconds=1.0, run_seconds=2.0)
    assert (outcome.status, outcome.stage) == ("failed", stage)
    assert "took longer than" in outcome.message
    assert time.monotonic() - started < PATIENCE_SECONDS
    assert gone(token)


@pytest.mark.seconds
def test_a_daemon_does_not_outlive_its_run():
    token = f"daemon{secrets.token_hex(8)}"
    outcome = sandboxed(
        f"""
        import subprocess
        def run():
            command = ["setsid", "sh", "-c", "sleep 60; :", "{token}"]
            subprocess.Popen(command, start_new_session=True)
            return "fine"
        """
    )
    assert "left its processes sh, sleep running" in outcome.message
    assert not processes_with(token)


@pytest.mark.seconds
def test_everything_dies_with_the_process_that_validates():
    need_sandbox()
    first, last = "orphan", secrets.token_hex(8)
    token = first + last  # only the sandboxed child has it in one piece: forks share a command line
    program = dedent(
        f"""
        import sys
        from tests.sandboxes import sandboxed
        outcome = sandboxed('''
        import subprocess, time
        def run():
            subprocess.run(["sh", "-c", "sleep 100; :", "{first}" "{last}"])
        ''', import_seconds=60.0, run_seconds=120.0)
        sys.exit(f"it ended before it was killed: {{outcome}}")
        """
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", program, "parent"],
        env=dict(os.environ),
        stderr=subprocess.PIPE,
        text=True,
    )
    with parent:
        # The sandbox's own clocks end the parent where its child never comes: how long a loaded
        # machine takes until then says nothing about what is tested here.
        while not processes_with(token) and parent.poll() is None:
            time.sleep(0.05)
        ended = "" if parent.poll() is None else parent.communicate()[1]
        parent.kill()
    assert not ended
    assert gone(token)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root starts it by a fork")
def test_a_sandbox_given_up_before_it_has_a_session_of_its_own_ends_too(monkeypatch):
    need_sandbox()
    setsid = os.setsid

    def late():
        time.sleep(0.5)
        setsid()

    monkeypatch.setattr(os, "setsid", late)
    given_up = threading.Event()
    given_up.set()
    began = time.monotonic()
    with cancel_on(given_up):
        outcome = sandboxed("def run():\n    return 1\n")
    assert outcome.status == "unverified"
    assert time.monotonic() - began < PATIENCE_SECONDS


def test_a_flood_of_output_is_cut_and_then_killed():
    outcome = sandboxed("def run():\n    while True:\n        print('x' * 65536)")
    assert "printed more than 8 MiB" in outcome.message
    assert len(outcome.output) < 20_000


def test_output_is_stored_without_terminal_codes():
    outcome = sandboxed("def run():\n    print('\\x1b[2Jhello\\x07')")
    assert outcome.output == "[2Jhello\n"


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("import os\nos._exit(0)\ndef run(): ...", id="at import"),
        pytest.param("import os\ndef run():\n    os._exit(0)", id="in run"),
        pytest.param("import sys\ndef run():\n    sys.exit(0)", id="sys.exit"),
        pytest.param(
            "import os, signal\ndef run():\n    os.kill(os.getpid(), signal.SIGKILL)", id="signal"
        ),
        pytest.param(
            "import os\ndef run():\n    for fd in range(3, 20):\n        try:\n"
            '            os.write(fd, b\'{"phase": "done", "value": 1}\\n\')\n'
            "        except OSError:\n            continue\n    os._exit(0)",
            id="a result without the secret",
        ),
        pytest.param(
            "import os\ndef run():\n    os.execv('/bin/true', ['true'])", id="becomes true(1)"
        ),
    ],
)
def test_ending_well_is_not_a_result(source):
    assert sandboxed(source).status == "failed"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("float('nan')", "finite"),
        ("[1, float('inf')]", "result[1]"),
        ("{1: 2}", "key of type int"),
        ("{'a': {1}}", "set"),
        ("object()", "JSON values only"),
        ("'x' * 200_000", "the limit is 65536"),
        ("'\\ud800'", "half a character"),
        ("[[]] and __import__('functools').reduce(lambda d, _: [d], range(500), [])", "nested"),
    ],
)
def test_a_result_that_is_not_plain_json_fails(value, said):
    outcome = sandboxed(f"def run():\n    return {value}")
    assert (outcome.status, outcome.stage) == ("failed", "result")
    assert said in outcome.message


def test_a_result_comes_back_as_it_was():
    outcome = sandboxed("def run():\n    return {'a': [1, 2.5, None, True, 'é\\n']}")
    assert outcome.value == {"a": [1, 2.5, None, True, "é\n"]}


def test_a_candidate_that_replaces_the_tools_of_the_harness_gains_nothing():
    outcome = sandboxed(
        """
        import builtins, json, os, sys
        json.dumps = json.JSONEncoder.encode = lambda *a, **k: '{"phase": "done", "value": 1}'
        sys.exit = os._exit
        def run():
            raise ValueError("the truth")
        """
    )
    assert outcome.status == "failed"
    assert "the truth" in outcome.message


STEAL = """
import gc, os, re

def send(text):
    for value in gc.get_objects():
        for cell in getattr(value, "__closure__", None) or ():
            if re.fullmatch("[0-9a-f]{32}", str(cell.cell_contents)):
                lines = [f"{cell.cell_contents} {each}\\n" for each in text.split("|")]
                data = "".join(lines).encode()
                for fd in os.listdir("/proc/self/fd"):
                    if int(fd) > 2 and os.path.exists(f"/proc/self/fd/{fd}"):
                        if os.readlink(f"/proc/self/fd/{fd}").startswith("pipe"):
                            os.write(int(fd), data)
                os._exit(0)

"""


def test_no_caller_of_a_candidate_leads_to_the_secret():
    outcome = sandboxed(
        """
        import re, sys, types
        def inside(value, depth, found, seen):
            if id(value) in seen or depth > 7:
                return
            seen.add(id(value))
            if isinstance(value, str) and re.fullmatch("[0-9a-f]{32}", value):
                found.append(value)
            elif isinstance(value, dict):
                parts = list(value.values())
            elif isinstance(value, (list, tuple, set)):
                parts = list(value)
            elif isinstance(value, types.FunctionType):
                parts = [c.cell_contents for c in value.__closure__ or ()]
                parts += [value.__globals__, value.__defaults__]
            elif isinstance(value, types.FrameType):
                parts = [value.f_locals, value.f_globals, value.f_back]
            elif isinstance(value, types.GeneratorType):
                parts = [value.gi_frame]
            elif isinstance(value, types.MethodType):
                parts = [value.__self__, value.__func__]
            elif isinstance(value, map):
                parts = list(value.__reduce__())
            elif isinstance(value, types.ModuleType) and value.__name__.startswith("pulsus."):
                parts = [vars(value)]
            else:
                parts = []
            for part in parts if not isinstance(value, str) else ():
                inside(part, depth + 1, found, seen)
        seen, at_import = set(), []
        inside(sys._getframe(), 0, at_import, seen)
        class Words(Exception):
            def __str__(self):
                found = []
                inside(sys._getframe(), 0, found, set())
                return f"{len(at_import)} and {len(found)} found"
        def run():
            raise Words
        """
    )
    assert outcome.message == "Words: 0 and 0 found", outcome


@pytest.mark.parametrize(
    ("text", "status"),
    [
        pytest.param(
            '{"phase": "returned", "value": 3}|{"phase": "done", "ms": 1}', "ok", id="its own value"
        ),
        pytest.param('{"phase": "done", "value": 3}', "failed", id="without returning"),
        pytest.param(
            '{"phase": "returned", "value": 3, "threads": [[]]}|{"phase": "done", "threads": 9}',
            "ok",
            id="odd threads",
        ),
        pytest.param('{"phase": "returned", "value": ' + "[" * 30_000, "failed", id="deep"),
        pytest.param(
            '{"phase": "returned", "value": ' + "[" * 500 + "]" * 500 + "}", "failed", id="500 deep"
        ),
        pytest.param(
            '{"phase": "returned", "value": ' + "9" * 20_000 + "}", "failed", id="big number"
        ),
        pytest.param('{"phase": "returned", "value": NaN}', "failed", id="NaN"),
        pytest.param('{"phase": "returned", "value": "\\ud800"}', "failed", id="half a character"),
        pytest.param(
            '{"phase": "returned", "value": "' + "x" * 90_000 + '"}', "failed", id="too big"
        ),
        pytest.param('{"phase": "unsafe", "message": "x"}', "failed", id="blames the sandbox"),
        pytest.param('{"phase": "ready"}', "failed", id="out of order"),
        pytest.param('{"phase": ["done"], "message": {}}', "failed", id="wrong types"),
        pytest.param('{"phase": "failed", "kind": [1], "ms": "x", "stage": 7}', "failed", id="odd"),
        pytest.param("[]", "failed", id="no object"),
    ],
)
def test_a_stolen_secret_can_only_forge_the_value(text, status):
    outcome = sandboxed(f"{STEAL}\ndef run():\n    send({text!r})")
    assert outcome.status == status, outcome
    assert "calls gc.get_objects" in outcome.observed.others
    assert str(outcome).encode()


@pytest.mark.seconds
def test_many_small_files_count_as_memory():
    outcome = sandboxed(
        """
        import os, time
        def run():
            for number in range(10_000):
                os.mkdir(f"/tmp/{number}")
            time.sleep(600)
        """,
        memory_bytes=20 * MIB,
        run_seconds=PATIENCE_SECONDS,
    )
    assert "more than 20 MB of memory" in outcome.message


def test_a_failure_names_the_exception_and_the_line():
    outcome = sandboxed("def run():\n    raise KeyError('disk')")
    assert outcome.message == "KeyError: 'disk'"
    assert "raise KeyError('disk')" in outcome.trace


def test_import_only_runs_nothing_but_the_import():
    outcome = sandboxed("print('loaded')\ndef run():\n    print('ran')", inputs=None)
    assert (outcome.status, outcome.output) == ("ok", "loaded\n")


def test_an_examples_files_are_there_before_the_import():
    outcome = sandboxed(
        """
        import os, time
        SIZE = os.path.getsize("/tmp/data/log/a.bin")
        def run():
            return [SIZE, round((time.time() - os.path.getmtime("/tmp/data/log/a.bin")) / 100)]
        """,
        files=(InlineFile("/tmp/data/log/a.bin", b"\x00\xff", age_s=900.0),),
    )
    assert outcome.value == [2, 9]


def test_an_examples_file_outside_tmp_fails():
    outcome = sandboxed("def run(): ...", files=(InlineFile("/tmp/../usr/x", b""),))
    assert (outcome.status, outcome.stage) == ("failed", "files")


FILL = """
    import os, socket
    def fill(pair):
        pair[0].setblocking(False)
        pair[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 24)
        try:
            while True:
                pair[0].send(b"x" * 65536)
        except BlockingIOError:
            return pair
    def run():
        held = []
        for _ in range(20):
            if os.fork() == 0:
                held = [fill(socket.socketpair()) for _ in range(100)]
                time = __import__("time").sleep(600)
        __import__("time").sleep(600)
"""


@pytest.mark.seconds
def test_memory_of_socket_buffers_is_counted(monkeypatch):
    monkeypatch.setattr(runner, "_make_group", lambda *given: None)  # a group would hide it
    outcome = sandboxed(FILL, run_seconds=PATIENCE_SECONDS)
    assert "more than 512 MB of memory" in outcome.message, outcome


def test_bytes_that_wait_in_streams_are_counted():
    with (
        ExitStack() as many,
        closing(SocketMemory(os.getpid())) as memory,
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as client,
        server.accept()[0],
    ):
        for _ in range(60):  # the table of sockets is longer than one read of it
            many.enter_context(socket.create_server(("127.0.0.1", 0)))
        client.setblocking(False)
        before, sent = memory.bytes(), 0
        with suppress(BlockingIOError):
            while True:
                sent += client.send(b"x" * 65536)
        assert memory.bytes() - before >= sent / 2, sent


def test_many_sockets_that_are_empty_are_no_memory_to_speak_of(monkeypatch):
    outcome = sandboxed(
        """
        import socket, time
        def run():
            held = [socket.socketpair() for _ in range(100)]
            time.sleep(0.1)
            return len(held)
        """
    )
    assert outcome.value == 100, outcome
