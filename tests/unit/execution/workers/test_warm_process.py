"""The warm interpreter: each call is a new child of it, and everything ends with Pulsus."""

import ast
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pulsus.errors import ToolFailed, UsageError
from pulsus.execution.confinement.choose_confinement import RunLimits, plan_confinement
from pulsus.execution.confinement.kernel_support import find_support
from pulsus.execution.tool_process import run_tool
from pulsus.execution.workers import warm_process
from pulsus.execution.workers.warm_process import WarmProcess
from pulsus.execution.workers.worker_launch import FreshInterpreter, WorkerStart
from tests.compositions import module
from tests.confined import need_confinement
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the warm interpreter needs Linux")


@pytest.fixture
def warm():
    with WarmProcess() as process:
        yield process


def run(warm, body, inputs=None, **options):
    text = f'"""Do it."""\n\nimport os\n\n\ndef run(**inputs):\n{textwrap.indent(body, "    ")}\n'
    tool, source = module("a/b/tool", text.replace("run(**", "main(**"))
    options = {"steps": {}, "timeout_s": 60, **options}
    return run_tool(tool, source, inputs or {}, launcher=warm, **options)


def count(folder):
    return len(list(Path(folder).iterdir()))


def is_alive(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def wait_until_ended(*pids):
    until = time.monotonic() + PATIENCE_SECONDS
    while any(map(is_alive, pids)) and time.monotonic() < until:
        time.sleep(0.01)
    assert not [pid for pid in pids if is_alive(pid)]


def test_each_call_is_a_new_child_of_the_same_interpreter(warm):
    body = "os.environ['LEFT'] = 'x'\nos.left = getattr(os, 'left', 0) + 1\n"
    body += "return [os.getpid(), os.getppid(), os.left]"
    found = [run(warm, body) for _ in range(3)]
    assert {done.started for done in found} == {WorkerStart("warm")}
    pids, parents, left = zip(*(done.result for done in found), strict=True)
    assert len(set(pids)) == 3
    assert set(parents) == {warm.pid}
    assert left == (1, 1, 1)


def test_two_calls_do_not_get_the_same_random_numbers(warm):
    body = "import random, uuid, tempfile\nreturn [random.random(), str(uuid.uuid4())]"
    assert isinstance(random.random(), float)
    first, second = (run(warm, body).result for _ in range(2))
    assert not set(first) & set(second)


def test_a_call_has_its_own_environment_and_no_other(warm, monkeypatch):
    monkeypatch.setenv("OF_PULSUS", "secret-1")
    body = "return [ascii(dict(os.environ)), open('/proc/self/environ').read(),"
    body += " open(f'/proc/{os.getppid()}/environ').read()]"
    run(warm, body, env={"A": "secret-2"})
    wanted = {"B": "ü\udcff", "TZ": "Asia/Tokyo"}
    mine, started, parents = run(warm, body, env=wanted).result
    assert {k: v for k, v in ast.literal_eval(mine).items() if k != "LC_CTYPE"} == wanted
    assert "secret" not in started + parents


def test_the_time_zone_of_the_call_counts(warm):
    body = "import time\nreturn time.localtime(0).tm_hour"
    hours = [run(warm, body, env={"TZ": zone}).result for zone in ("UTC", "Asia/Tokyo")]
    assert hours == [0, 9]


def test_nothing_of_a_call_is_in_an_argument_list(warm):
    body = "return [open(f'/proc/{p}/cmdline').read() for p in (os.getpid(), os.getppid())]"
    found = run(warm, body, {"password": "secret-3"}, env={"A": "secret-2"}, cwd=Path("/tmp"))
    assert "secret" not in str(found.result)
    assert "/tmp\0" not in str(found.result)


def test_a_call_runs_in_its_own_folder(warm, tmp_path):
    assert run(warm, "return os.getcwd()", cwd=tmp_path).result == str(tmp_path)
    assert run(warm, "return os.getcwd()").result == str(Path.cwd())
    with pytest.raises(UsageError, match="cannot run in"):
        run(warm, "return 1", cwd=tmp_path / "missing")
    assert run(warm, "return 1").started.kind == "warm"  # that was no fault of the interpreter


def test_a_child_has_no_descriptors_of_other_calls(warm):
    body = "return sorted(int(n) for n in os.listdir('/proc/self/fd'))"
    fresh = run(FreshInterpreter(), body)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: run(warm, body).result, range(8)))
    assert {len(each) for each in found} == {len(fresh.result)}


def test_no_descriptor_is_left_open(warm):
    run(warm, "return 1")
    before = count("/proc/self/fd")
    for _ in range(10):
        run(warm, "return 1")
    assert count("/proc/self/fd") == before
    assert count(f"/proc/{warm.pid}/fd") <= 6


def test_many_calls_at_once_get_their_own_results(warm):
    with ThreadPoolExecutor(8) as pool:
        done = pool.map(lambda n: run(warm, "return inputs['n']", {"n": n}), range(24))
        found = [each.result for each in done]
    assert found == list(range(24))
    assert not [p for p in children_of(warm.pid) if is_alive(p)]


def children_of(pid):
    return [int(n) for n in Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()]


def test_ended_calls_leave_no_zombies(warm):
    for _ in range(3):
        run(warm, "return 1")
    assert children_of(warm.pid) == []


def test_the_interpreter_has_one_thread(warm):
    run(warm, "return 1")
    assert count(f"/proc/{warm.pid}/task") == 1


def test_a_read_is_confined_as_in_a_new_interpreter(warm, tmp_path):
    need_confinement()
    text = (
        '"""Write.\n\nKind: read\n\nEffects:\n    paths: none\n    hosts: none\n'
        '    commands: none\n"""\n\n\n'
        "def run(path: str):\n    open(path, 'w')\n"
    )
    tool, source = module("a/b/tool", text)
    inputs = {"path": str(tmp_path / "x")}
    planned = plan_confinement([tool], inputs, RunLimits(), find_support(), reads=True)
    with pytest.raises(ToolFailed, match="PermissionError"):
        run_tool(tool, source, inputs, steps={}, timeout_s=60, planned=planned, launcher=warm)
    assert not (tmp_path / "x").exists()


def test_a_tool_that_crashes_takes_nothing_with_it(warm):
    with pytest.raises(ToolFailed, match="SIGSEGV"):
        run(warm, "os.kill(os.getpid(), 11)")
    first = warm.pid
    assert run(warm, "return 1").result == 1
    assert warm.pid == first


def test_a_killed_interpreter_is_replaced(warm):
    run(warm, "return 1")
    first = warm.pid
    os.kill(first, signal.SIGKILL)
    done = run(warm, "return os.getppid()")
    assert done.result == warm.pid != first
    assert done.started.kind == "warm"


def test_a_running_call_ends_with_its_interpreter(warm, tmp_path):
    mark = tmp_path / "pid"
    body = "import time\nopen(inputs['mark'], 'w').write(str(os.getpid()))\ntime.sleep(300)"
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(run, warm, body, {"mark": str(mark)})
        until = time.monotonic() + PATIENCE_SECONDS
        while not (mark.exists() and mark.read_text()) and time.monotonic() < until:
            time.sleep(0.01)
        os.kill(warm.pid, signal.SIGKILL)
        with pytest.raises(ToolFailed, match="SIGKILL"):
            waiting.result(timeout=PATIENCE_SECONDS)
    wait_until_ended(int(mark.read_text()))


PULSUS = """
import os, sys
from tests.compositions import module
from pulsus.execution.tool_process import run_tool
from pulsus.execution.workers.warm_process import WarmProcess

text = '''
'Wait.'
import os, subprocess, time


def run():
    child = subprocess.Popen(["sleep", "300"])
    print(os.getpid(), os.getppid(), child.pid, flush=True)
    time.sleep(300)
'''
def show(data):
    os.write(1, data)

with WarmProcess() as warm:
    run_tool(*module("a/b/c", text), {}, steps={}, timeout_s=300, launcher=warm, on_output=show)
"""


@pytest.mark.seconds
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_everything_ends_with_pulsus(number):
    pulsus, pids = start_pulsus()
    pulsus.send_signal(number)
    pulsus.wait(PATIENCE_SECONDS)
    wait_until_ended(*pids)


@pytest.mark.seconds
def test_what_a_call_started_ends_with_pulsus_even_if_the_call_dies_first():
    pulsus, (worker, *others) = start_pulsus()
    pulsus.send_signal(signal.SIGSTOP)  # so that it does not end the group itself
    os.kill(worker, signal.SIGKILL)
    pulsus.kill()
    pulsus.wait(PATIENCE_SECONDS)
    wait_until_ended(worker, *others)


def start_pulsus():
    """Return a Pulsus with a call that runs, and the pids of the call and of what it started."""
    pulsus = subprocess.Popen(
        [sys.executable, "-c", PULSUS], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert pulsus.stdout is not None
    pids = [int(each) for each in pulsus.stdout.readline().split()]
    assert len(pids) == 3
    pulsus.stdout.close()
    return pulsus, pids


def test_another_interpreter_is_started_anew_and_the_reason_is_recorded(warm):
    done = run(warm, "return 1", python=Path(sys.executable))
    assert done.started.kind == "fresh"
    assert sys.executable in done.started.why


def test_a_machine_that_lacks_something_says_what(monkeypatch):
    def missing(pid):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(os, "pidfd_open", missing)
    with WarmProcess() as warm:
        done = run(warm, "return 1")
    assert done.started.kind == "fresh"
    assert "pidfd_open: Function not implemented" in done.started.why


def test_an_interpreter_that_does_not_start_is_named_once(monkeypatch):
    monkeypatch.setattr(warm_process, "_BOOT", "raise SystemExit(3)")
    with WarmProcess() as warm:
        starts = [run(warm, "return 1").started for _ in range(2)]
    assert [start.kind for start in starts] == ["fresh", "fresh"]
    assert "the warm interpreter failed" in starts[1].why


@pytest.mark.skipif(os.geteuid() == 0, reason="root may enter any folder")
def test_a_folder_that_may_not_be_entered_is_a_usage_error(warm, tmp_path):
    tmp_path.chmod(0o400)
    with pytest.raises(UsageError, match="Permission denied"):
        run(warm, "return 1", cwd=tmp_path)
