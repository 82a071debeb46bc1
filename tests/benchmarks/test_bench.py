"""Figures of docs/benchmarks.md. Run by `make bench`; nothing here asserts a time.

Each figure is a ratio to a peer measured in the same run: machines are noisy, ratios hold.
"""

import ast
import platform
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pulsus.config.settings import DiscoveryConfig
from pulsus.routing.index.discovery_index import DiscoveryIndex
from pulsus.routing.tool_discovery import discover

pytestmark = pytest.mark.bench

ROOT = Path(__file__).parents[2]
PULSUS = Path(sys.executable).with_name("pulsus")
ROUNDS = 7


def median_s(action, rounds=ROUNDS):
    """Median wall seconds of `action`, after one unmeasured call."""
    action()
    taken = []
    for _ in range(rounds):
        began = time.perf_counter()
        action()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def process(*argv):
    return lambda: subprocess.run(argv, cwd=ROOT, check=True, capture_output=True)


@pytest.fixture(autouse=True)
def show(capsys):
    """Print past pytest's capture."""

    def line(name, own, peer_name, peer):
        with capsys.disabled():
            print(
                f"\n| {name} | {own * 1000:.0f} ms | {peer_name} {peer * 1000:.0f} ms "
                f"| {own / peer:.2f} |",
                end="",
            )

    return line


def test_versions(capsys):
    with capsys.disabled():
        print(f"\nPython {platform.python_version()}, {platform.platform()}")
    assert sys.version_info >= (3, 11)


def test_warm_route_as_a_process(show):
    request = "how full are the disks of this machine"
    own = median_s(process(PULSUS, "route", request, "--plan", "--output", "json"))
    code = "import click, pydantic_settings"
    peer = median_s(process(sys.executable, "-c", code))
    show("warm `route --plan`, 56 tools", own, "import click, pydantic_settings", peer)
    assert own > 0


def test_version_as_a_process(show):
    own = median_s(process(PULSUS, "--version"))
    peer = median_s(process(sys.executable, "-c", "pass"))
    show("`pulsus --version`", own, "python -c pass", peer)
    assert own > 0


def test_discovery_of_a_thousand_tools(show, tmp_path):
    tools = sorted((ROOT / "workflows" / "domains").rglob("*.py"))
    for number in range(1000):
        source = tools[number % len(tools)]
        target = tmp_path / "domains" / f"d{number % 20}" / "act" / f"tool{number}.py"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
    config = DiscoveryConfig()

    def cold():
        discover(tmp_path, config, tmp_dirname="_tmp")

    def warm():
        index = DiscoveryIndex(tmp_path / "state", max_file_bytes=config.max_file_bytes)
        discover(tmp_path, config, tmp_dirname="_tmp", cache=index)

    def parse():
        for path in tmp_path.rglob("*.py"):
            ast.parse(path.read_bytes())

    peer = median_s(parse, rounds=3)
    show("cold discovery, 1,000 tools", median_s(cold, rounds=3), "read + ast.parse", peer)
    time.sleep(2.5)  # entries younger than 2 s are not trusted
    show("warm discovery, 1,000 tools", median_s(warm, rounds=3), "read + ast.parse", peer)
    assert peer > 0


@pytest.mark.sandbox
def test_sandbox_start(show):
    from pulsus.config.settings import SandboxConfig
    from pulsus.core.sandbox.job import Job
    from pulsus.core.sandbox.sandbox_limits import SandboxLimits
    from pulsus.core.sandbox.sandbox_probe import run_sandboxed

    limits = SandboxLimits.of(SandboxConfig(), import_seconds=3.0)
    job = Job(b"def run() -> int:\n    return 1\n", "bench", "run", {})
    assert run_sandboxed(job, limits).status == "ok"
    own = median_s(lambda: run_sandboxed(job, limits))
    peer = median_s(process(sys.executable, "-I", "-c", "pass"))
    show("one sandboxed run", own, "python -I -c pass", peer)
