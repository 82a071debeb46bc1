"""Speed of validation (docs/benchmarks.md). Run by `make bench`; nothing here asserts a time.

Peers run in the same minutes on the same modules: figures are ratios. Wall seconds, and processor
seconds of the command with all its children, which other work beside it disturbs less.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pulsus.core.sandbox.sandbox_probe import probe
from tests.benchmarks.validate_modules import module, write

# On a busy machine a loop over modules takes longer than the limit of other tests, 300 s.
pytestmark = [pytest.mark.bench, pytest.mark.timeout(3600)]

PULSUS = Path(sys.executable).with_name("pulsus")
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "7"))
MODULES = int(os.environ.get("BENCH_MODULES", "1000"))
SINGLES = 30
SANDBOXED = """
import sys
from pathlib import Path
from pulsus.config.settings import SandboxConfig
from pulsus.core.contract.tool_parser import read_tool
from pulsus.core.sandbox.sandbox_probe import run_sandboxed
from pulsus.core.sandbox.sandbox_limits import SandboxLimits
from pulsus.core.validators.steps.smoke_and_dry_run import DryRun
from pulsus.core.validators.validator_protocol import Subject

path = Path(sys.argv[1]).resolve()
source = path.read_bytes()
tool = read_tool(source, path=path, tool_id="x/y/z", domain="x", action="y", name=path.stem,
                 max_bytes=200_000)
run = DryRun(Subject(source, path, tool), SandboxLimits.of(SandboxConfig(), 3.0), run_sandboxed)
assert run.import_smoke().ok and run.dry_run().ok
"""


def taken(folder, *argv, ok=(0,)):
    """Wall and processor seconds of a command."""
    before, began = os.times(), time.perf_counter()
    done = subprocess.run(argv, cwd=folder, check=False, capture_output=True)
    wall, after = time.perf_counter() - began, os.times()
    assert done.returncode in ok, done.stdout + done.stderr
    used = after.children_user - before.children_user
    return wall, used + after.children_system - before.children_system


def naive(folder, name, cache="/dev/null"):
    """The four steps by themselves, one after the other: ruff, mypy, import, sandboxed run.

    `cache` is mypy's; without one mypy knows nothing of the libraries.
    """
    python = sys.executable
    steps = (
        (python, "-m", "ruff", "check", "--isolated", "--no-cache", name),
        (python, "-m", "mypy", "--strict", f"--cache-dir={cache}", name),
        (python, "-c", f"import {Path(name).stem}"),
        (python, "-c", SANDBOXED, name),
    )
    return [taken(folder, *step) for step in steps]


def medians(rows):
    return [statistics.median(column) for column in zip(*rows, strict=True)]


@pytest.fixture
def show(capsys):
    def line(text):
        with capsys.disabled():
            print(f"\n{text}", end="")

    return line


@pytest.fixture(autouse=True)
def sandbox():
    if not probe().works:
        pytest.skip("no sandbox here")


def test_a_new_module(show, tmp_path):
    refused = module(2).replace("def run(", "def ran(")
    (tmp_path / "first.py").write_text(module(2), encoding="utf-8")
    taken(tmp_path, PULSUS, "validate", "first.py")
    peer, steps, own, gate = [], [], [], []
    for number in range(3, 3 + ROUNDS):
        name = f"new_{number}.py"
        (tmp_path / name).write_text(module(number), encoding="utf-8")
        (tmp_path / "bad.py").write_text(f"{refused}\n# {number}\n", encoding="utf-8")
        parts = naive(tmp_path, name)
        steps.append([wall for wall, _ in parts])
        peer.append([sum(column) for column in zip(*parts, strict=True)])
        own.append(taken(tmp_path, PULSUS, "validate", name))
        gate.append(taken(tmp_path, PULSUS, "validate", "bad.py", ok=(3,)))
    (wall, used), (own_wall, own_used) = medians(peer), medians(own)
    gate_wall, gate_used = medians(gate)
    lint, types, load, run = medians(steps)
    show(f"| four steps, one by one | {wall:.3f} s | {used:.3f} s | 1 | 1 |")
    show(f"| of them ruff {lint:.3f}, mypy {types:.3f}, import {load:.3f}, sandbox {run:.3f} s |")
    for what, a, b in (("accepted", own_wall, own_used), ("static gate", gate_wall, gate_used)):
        show(f"| `validate`, {what} | {a:.3f} s | {b:.3f} s | {a / wall:.2f} | {b / used:.2f} |")


def test_beside_naive_steps_with_a_warm_cache(show, tmp_path):
    """Run the steps of a careful person by hand: mypy keeps its cache between modules."""
    (tmp_path / "first.py").write_text(module(2), encoding="utf-8")
    taken(tmp_path, PULSUS, "validate", "first.py")
    naive(tmp_path, "first.py", ".naive")
    rows = []
    for number in range(3, 3 + ROUNDS):
        name = f"new_{number}.py"
        (tmp_path / name).write_text(module(number), encoding="utf-8")
        row = []
        for _ in ("new", "unchanged"):
            steps = [wall for wall, _ in naive(tmp_path, name, ".naive")]
            own = taken(tmp_path, PULSUS, "validate", name)[0]
            row += [own, own / sum(steps), own / sum(steps[:3]), sum(steps), *steps]
        rows.append(row)
    new, unchanged = (medians(rows)[start : start + 8] for start in (0, 8))
    for what, figures in (("new", new), ("unchanged", unchanged)):
        own, whole, bare, wall, lint, types, load, run = figures
        show(f"| `validate`, {what} | {own:.3f} s | {whole:.2f} of {wall:.3f} s | {bare:.2f} |")
        show(f"| of them ruff {lint:.3f}, mypy {types:.3f}, import {load:.3f}, run {run:.3f} s |")


def test_many_modules(show, tmp_path):
    folder = tmp_path / "many"
    paths = write(folder, MODULES)
    validate = (PULSUS, "validate", "--output", "json")
    taken(folder, *validate, paths[0])
    shutil.rmtree(folder / ".pulsus" / "cache" / "validation")
    singles = [taken(folder, *validate, path) for path in paths[:SINGLES]]
    wall, used = (MODULES * statistics.mean(column) for column in zip(*singles, strict=True))
    shutil.rmtree(folder / ".pulsus" / "cache" / "validation")
    cold, cold_used = taken(folder, *validate, "workflows")
    show(f"| a loop over {MODULES} (from {SINGLES}) | {wall:.1f} s | {used:.1f} s | 1 | 1 |")
    show(
        f"| one `validate`, nothing known | {cold:.1f} s | {cold_used:.1f} s "
        f"| 1/{wall / cold:.1f} | 1/{used / cold_used:.1f} |"
    )
    warm, warm_used = taken(folder, *validate, "workflows")
    show(f"| again, nothing changed | {warm:.2f} s | {warm_used:.2f} s |")
    paths[0].write_text(paths[0].read_text(encoding="utf-8") + "\n# new\n", encoding="utf-8")
    one, one_used = taken(folder, *validate, "workflows")
    show(f"| again, one changed | {one:.2f} s | {one_used:.2f} s |")
    done = subprocess.run(
        (*validate, "workflows"), cwd=folder, check=True, capture_output=True, text=True
    )
    known = json.loads(done.stdout)["modules"]
    assert [m["cached"] for m in known] == [True] * MODULES
