"""Reader processes for new modules change no answer, and none is left behind.

Each test is a process of its own, because forking needs a process with one thread.
"""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "darwin", reason="no helpers on macOS")

SETUP = """
import os, sys, time
from pathlib import Path
from pulsus.config.settings import DiscoveryConfig
from pulsus.core.system import fork_pool
from pulsus.routing.discovery import folder_reader
from pulsus.routing.index.discovery_index import DiscoveryIndex
from pulsus.routing.tool_discovery import discover

root = Path(sys.argv[1])
config = DiscoveryConfig()
started = []
real = fork_pool._start_worker
def start(*args):
    started.append(real(*args))
    return started[-1]
fork_pool._start_worker = start

def find(state=None, helpers=0):
    count = lambda items, least: helpers
    fork_pool.worker_count = folder_reader.worker_count = count
    cache = DiscoveryIndex(state, max_file_bytes=config.max_file_bytes) if state else None
    return discover(root, config, tmp_dirname="_tmp", cache=cache)

def no_child():
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return True
    return False
"""

SAME = """
cold = find()
for state in (None, root.parent / "state"):
    for _ in range(2):
        assert find(state, helpers=3) == cold
assert find(root.parent / "state") == cold
assert len(cold.tools) == 11 and len(cold.broken) == 2, cold
assert len(started) == 12, started
assert no_child()
"""

FAILING = """
cold = find()
mine = os.getpid()
parse = folder_reader.ModuleReader.parse_module
def broken(self, data, path, where):
    if os.getpid() != mine:
        raise MemoryError
    return parse(self, data, path, where)
folder_reader.ModuleReader.parse_module = broken
assert find(helpers=3) == cold
assert len(started) == 3 and no_child()
"""

INTERRUPTED = """
mine = os.getpid()
def stop(self, data, path, where):
    if os.getpid() == mine:
        raise KeyboardInterrupt
    time.sleep(300)
    raise AssertionError
folder_reader.ModuleReader.parse_module = stop
began = time.monotonic()
try:
    find(helpers=3)
except KeyboardInterrupt:
    pass
assert len(started) == 3 and no_child() and time.monotonic() - began < 90
"""


@pytest.mark.seconds
@pytest.mark.parametrize("body", [SAME, FAILING, INTERRUPTED], ids=["same", "fail", "interrupt"])
def test_reader_processes(tmp_path, body):
    root = tmp_path / "workflows"
    for number in range(12):
        file = root / f"domains/d{number % 4}/a/t{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        text = "def run(:" if number == 5 else f'"""Tool {number}."""\ndef run(): ...\n'
        file.write_text(text, encoding="utf-8")
    (root / "domains/d1/a/t1.tool.yaml").write_text("intents: [x]\nodd: 1\n", encoding="utf-8")
    (root / "domains/d2/a/link.py").symlink_to(root / "nowhere.py")
    done = subprocess.run(
        [sys.executable, "-c", SETUP + body, root], capture_output=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
