"""Costs of the plan engine, for docs/benchmarks.md. Nothing here asserts a time.

Both sides of a ratio are measured turn by turn, so that they meet the same machine.
"""

import json
import os
import resource
import sqlite3
import statistics
import time
from contextlib import closing

import pytest

from pulsus.execution.engine.engine import EngineLimits
from pulsus.execution.tool_process import run_tool
from pulsus.execution.workers.warm_process import WarmProcess
from pulsus.execution.workers.worker_launch import FreshInterpreter, WorkerLauncher
from tests.compositions import module
from tests.plan_hosts import Project, step

pytestmark = pytest.mark.bench

ROUNDS = 5
STEPS = 50
MANY = 10_000


def shown(capsys, **figures):
    with capsys.disabled():
        print(json.dumps(figures))


WORK = '''
"""Add."""


def run():
    return {"value": sum(range(1000))}
'''


def work():
    return {"value": sum(range(1000))}


def forked():
    """Run the function in a child, and read its result from a pipe."""
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        os.write(theirs, json.dumps(work()).encode())
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, "rb") as file:
        found = json.loads(file.read())
    os.waitpid(child, 0)
    return found


def by_hand(path):
    """Fork and two synced commits, for each step: the least that a journal costs."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        database.execute("CREATE TABLE steps (id INTEGER PRIMARY KEY, state TEXT, result TEXT)")
        began = time.perf_counter()
        for number in range(STEPS):
            database.execute("INSERT INTO steps VALUES (?, 'started', NULL)", (number,))
            result = json.dumps(forked())
            database.execute(
                "UPDATE steps SET state = 'done', result = ? WHERE id = ?", (result, number)
            )
        return (time.perf_counter() - began) / STEPS


def by_engine(root, tool, parallel, call=forked):
    project = Project(root)
    project.limits = EngineLimits(max_parallel=parallel)
    project.host.tools[tool] = lambda *_: call()
    project.host.unverifiable = {f"s{n}" for n in range(STEPS)}
    steps = [step(f"s{n}", tool) for n in range(STEPS)]
    began = time.perf_counter()
    assert project.run(*steps).state == "done"
    return (time.perf_counter() - began) / STEPS


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_overhead_of_a_step(tmp_path, capsys):
    with WarmProcess() as warm:
        measure_overhead(tmp_path, capsys, warm)


def measure_overhead(tmp_path, capsys, warm):
    tool, source = module("a/b/tool", WORK)
    took: dict[str, list[float]] = {name: [] for name in ("by hand", "reads", "reads 4", "writes")}
    took |= {"warm reads": [], "warm reads 4": [], "warm writes": []}

    def from_warm():
        return run_tool(tool, source, {}, steps={}, timeout_s=60, launcher=warm).result

    for number in range(ROUNDS):
        folder = tmp_path / str(number)
        folder.mkdir()
        took["by hand"].append(by_hand(folder / "by_hand.db"))
        for name, step_tool, parallel, call in (
            ("reads", "read", 1, forked), ("reads 4", "read", 4, forked),
            ("writes", "write", 1, forked), ("warm reads", "read", 1, from_warm),
            ("warm reads 4", "read", 4, from_warm), ("warm writes", "write", 1, from_warm),
        ):  # fmt: skip
            root = folder / name
            root.mkdir()
            took[name].append(by_engine(root, step_tool, parallel, call))
    least = min(took["by hand"])
    shown(
        capsys,
        by_hand_ms=round(1000 * least, 2),
        **{
            f"{name} ratio": {
                "least": round(min(each) / least, 2),
                "median": round(
                    statistics.median(a / b for a, b in zip(each, took["by hand"], strict=True)), 2
                ),
            }
            for name, each in took.items()
        },
    )


def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@pytest.mark.parametrize("shape", ["steps", "items"])
def test_ten_thousand_steps(tmp_path, capsys, shape):
    project = Project(tmp_path)
    project.host.tools["read"] = lambda *_: {"value": "x" * 1000}
    project.host.calls = Forgetful()
    if shape == "steps":
        steps = [step(f"s{n}") for n in range(MANY)]
        few = steps[:100]
        inputs = {}
    else:
        few = steps = [step("s", items="{{ input.items }}")]
        inputs = {"items": list(range(MANY))}
    small = {"items": list(range(100))} if inputs else {}
    project.run(*few, inputs=small, run_id="run-small")
    project.events.clear()
    before = peak_mb()
    began = time.perf_counter()
    project.events = Forgetful()
    assert project.run(*steps, inputs=inputs).state == "done"
    took, grown = time.perf_counter() - began, peak_mb() - before
    with closing(sqlite3.connect(project.state / "state.db")) as database:
        database.execute("UPDATE runs SET state = 'failed' WHERE run_id = 'run-1'")
        database.commit()
    began = time.perf_counter()
    assert project.resume(*steps).state == "done"
    shown(
        capsys,
        shape=shape,
        seconds=round(took, 2),
        ms_a_step=round(1000 * took / MANY, 3),
        grown_mb=round(grown, 1),
        resume_seconds=round(time.perf_counter() - began, 2),
    )


class Forgetful(list):
    """A list that keeps nothing: what the host notes must not count as memory of the engine."""

    def append(self, _):
        pass


def test_start_of_a_call(capsys):
    tool, source = module("a/b/tool", '"""Give one."""\n\n\ndef run():\n    return 1\n')
    took: dict[str, list[float]] = {"fresh": [], "warm": []}
    with WarmProcess() as warm:
        ways: dict[str, WorkerLauncher] = {"fresh": FreshInterpreter(), "warm": warm}
        for _ in range(40):
            for name, launcher in ways.items():
                began = time.perf_counter()
                run_tool(tool, source, {}, steps={}, timeout_s=60, launcher=launcher)
                took[name].append(1000 * (time.perf_counter() - began))
    shown(
        capsys,
        **{f"{k}_ms": {"least": round(min(v), 1), "median": round(statistics.median(v), 1)}
           for k, v in took.items()},
    )  # fmt: skip
