"""Cost of the rules of control per call, with and without the parse of its command.

The rules look at real folders, programs and links. Nothing here asserts a time: each figure is that
of the quietest of several runs, because other processes only ever add to one.
"""

import gc
import json
import os
import statistics
import time
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

import pulsus
from pulsus.agent.control.protection.files.protected_places import ProtectedPlaces
from pulsus.agent.control.protection.processes.own_process import OwnProcess
from pulsus.bootstrap.agent_protection import _startup_files
from tests.call_verdicts import control, edit, read_command, restart, write_command

pytestmark = pytest.mark.bench

RUNS = int(os.environ.get("BENCH_RUNS", "9"))
CALLS = 300
SAID = "restart nginx on web01, edit /etc/nginx/nginx.conf, is example.org up?"
COMMANDS = {
    "plain read": (read_command, "ls -l /srv/d{}"),
    "read with options": (read_command, "journalctl -u nginx -n {} --no-pager"),
    "three programs": (read_command, "ps aux | sort -rk3 | head -{}"),
    "four programs": (read_command, "ps aux | grep x{} | sort -rk3 | head -5"),
    "read that connects": (read_command, "curl -sI https://example.org/{}"),
    "read that asks": (read_command, "dig hunter{}.example.org"),
    "read that is refused": (read_command, "tail -f /var/log/syslog.{}"),
    "own files": (read_command, "grep -r x{} /srv"),
    "write by command": (write_command, "systemctl restart nginx --lines={}"),
    "write to an unknown name": (write_command, "systemctl restart ngimx{}"),
}
NAMES = 100
"""Names in the folder that recursive commands are given."""
WALKS = {
    "end of a process": "kill 4194{}",
    "removal of 100 names": "rm -r {tree} /srv/d{}",
    "copy of 100 names": "cp -r {tree} /srv/d{}",
    "extraction over 100 names": "tar -xf /srv/b{}.tar -C {tree}",
}
WRITES = {
    "write by tool": restart(),
    "edit of 1,000 lines": edit("/etc/nginx/nginx.conf", "server {}\n" * 1000),
}


def rules_of(project):
    """Return rules over a real project, with what 40,000 results have shown."""
    package = str(Path(pulsus.__file__).parent)
    places = ProtectedPlaces(
        [project / ".pulsus", project / "config"],
        folder=project,
        project=project,
        home=Path.home(),
    )
    rules = control(
        said=SAID,
        serve=(8765,),
        places=places,
        own=OwnProcess([package], ports=[8765]),
        startup=_startup_files(project, Path.home()),
    )
    for number in range(40_000):
        rules.words.add_seen({"name": f"container-{number}", "state": "running"})
    return rules


def small_tree(folder):
    """Return a folder with `NAMES` files in ten folders."""
    for number in range(NAMES):
        (folder / f"d{number % 10}").mkdir(parents=True, exist_ok=True)
        (folder / f"d{number % 10}" / f"f{number}").touch()
    return folder


def decide(rules, call):
    if rules.refuse(call) is None:
        rules.decide(call)


def timed(rules, calls):
    """Return the median and the 99th percentile of one run: wall, then this thread alone."""
    wall, cpu = [], []
    gc.collect()
    gc.disable()
    for call in calls:
        used, began = time.thread_time_ns(), time.perf_counter_ns()
        decide(rules, call)
        wall.append(time.perf_counter_ns() - began)
        cpu.append(time.thread_time_ns() - used)
    gc.enable()
    cuts = [statistics.quantiles(found, n=100) for found in (wall, cpu)]
    return tuple(round(cut[at] / 1e3) for cut in cuts for at in (49, 98))


def quietest(runs):
    """Return each figure of the run in which it was lowest."""
    names = ("wall_p50_us", "wall_p99_us", "cpu_p50_us", "cpu_p99_us")
    return dict(zip(names, map(min, zip(*runs, strict=True)), strict=True))


def test_cost_of_control_per_call(record_property, tmp_path, capsys):
    for folder in (".pulsus", "config"):
        (tmp_path / folder).mkdir()
    rules = rules_of(tmp_path)
    numbers = count(1)
    report = {}
    for name, (make, command) in COMMANDS.items():
        known = make(command.format(0))
        decide(rules, known)
        parsed = [timed(rules, [replace(known) for _ in range(CALLS)]) for _ in range(RUNS)]
        fresh = [
            timed(rules, [make(command.format(next(numbers))) for _ in range(CALLS)])
            for _ in range(RUNS)
        ]
        report[name] = {"without parse": quietest(parsed), "with parse": quietest(fresh)}
    tree = small_tree(tmp_path / "tree")
    for name, command in WALKS.items():
        text = command.replace("{tree}", str(tree))
        known = write_command(text.format(100))
        decide(rules, known)
        runs = [timed(rules, [replace(known) for _ in range(CALLS)]) for _ in range(RUNS)]
        report[name] = {"without parse": quietest(runs)}
    for name, call in WRITES.items():
        runs = [timed(rules, [replace(call) for _ in range(CALLS)]) for _ in range(RUNS)]
        report[name] = {"without parse": quietest(runs)}
    record_property("control_us", json.dumps(report))
    with capsys.disabled():
        for name, figures in report.items():
            print(json.dumps({"call": name, **figures}))
