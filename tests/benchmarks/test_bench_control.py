"""Cost of the rules of control per call, with commands that were parsed before.

Nothing here asserts a time. `cpu` is the time of this thread alone.
"""

import gc
import json
import statistics
import time
from dataclasses import replace

import pytest

from tests.control_rules import control, edit, read_command, restart, write_command

pytestmark = pytest.mark.bench

CALLS = 1_000
SAID = "restart nginx on web01, edit /etc/nginx/nginx.conf, is example.org up?"
CASES = {
    "read": read_command("ps aux | sort -rk3 | head -5"),
    "read that connects": read_command("curl -sI https://example.org"),
    "read that asks": read_command("dig hunter7.example.org"),
    "read that is refused": read_command("tail -f /var/log/syslog"),
    "write by command": write_command("systemctl restart nginx"),
    "write by tool": restart(),
    "edit of 1,000 lines": edit("/etc/nginx/nginx.conf", "server {}\n" * 1000),
    "own files": read_command("grep -r x /srv"),
}


def test_cost_of_control_per_call(record_property):
    rules = control(said=SAID)
    for number in range(40_000):
        rules.words.add_seen({"name": f"container-{number}", "state": "running"})
    report = {}
    for name, call in CASES.items():
        wall, cpu = [], []
        gc.disable()
        for _ in range(CALLS):
            each = replace(call)
            began, used = time.perf_counter(), time.thread_time()
            if rules.refuse(each) is None:
                rules.decide(each)
            cpu.append(time.thread_time() - used)
            wall.append(time.perf_counter() - began)
        gc.enable()
        report[name] = {
            "cpu_p50_us": round(statistics.median(cpu) * 1e6, 1),
            "cpu_p99_us": round(sorted(cpu)[int(CALLS * 0.99)] * 1e6, 1),
            "wall_p99_us": round(sorted(wall)[int(CALLS * 0.99)] * 1e6, 1),
        }
    record_property("control_us", json.dumps(report))
    print(json.dumps(report, indent=1))
