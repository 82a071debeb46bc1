"""Measure how fast a sandbox starts and kills (docs/benchmarks.md). No time is asserted.

Starts are run turn by turn with a bare interpreter, so that both meet the same machine; the figure
is the ratio of the medians.
"""

import statistics
import subprocess
import sys
import time

import pytest

from pulsus.config.settings import SandboxConfig
from pulsus.core.sandbox import sandbox_session
from pulsus.core.sandbox.job import Job
from pulsus.core.sandbox.observation import seccomp_notify
from pulsus.core.sandbox.sandbox_limits import SandboxLimits
from pulsus.core.sandbox.sandbox_probe import run_sandboxed
from tests.sandboxes import need_sandbox

pytestmark = [pytest.mark.bench, pytest.mark.sandbox]

BARE = (sys.executable, "-I", "-S", "-c", "pass")
LIMITS = SandboxLimits.of(SandboxConfig(max_seconds=10.0), import_seconds=5.0)
ROUNDS = 40


@pytest.fixture
def show(capsys):
    """Print past pytest's capture."""
    need_sandbox()

    def line(name, value):
        with capsys.disabled():
            print(f"\n| {name} | {value} |", end="")

    return line


def call(source, limits=LIMITS):
    return run_sandboxed(Job(source, "bench", "run", {}), limits)


def test_start(show, monkeypatch):
    """Until the harness has confined itself and waits for the word, and until all is over."""
    ready_at = []
    original = sandbox_session.SandboxSession._start_watching

    def noted(own, calls):
        ready_at.append(time.perf_counter())
        return original(own, calls)

    monkeypatch.setattr(sandbox_session.SandboxSession, "_start_watching", noted)
    source = b"def run():\n    return 1\n"
    call(source)
    bare, ready, whole = [], [], []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        subprocess.run(BARE, check=True, capture_output=True)
        bare.append(time.perf_counter() - began)
        began = time.perf_counter()
        assert call(source).value == 1
        whole.append(time.perf_counter() - began)
        ready.append(ready_at[-1] - began)
    peer = statistics.median(bare)
    show("`python -I -S -c pass`", f"{peer * 1000:.0f} ms")
    for name, times in (("sandbox ready", ready), ("sandbox, a call and its end", whole)):
        own = statistics.median(times)
        show(name, f"{own * 1000:.0f} ms, {own / peer:.2f} x")


def test_killed_at_the_clock(show):
    limits = SandboxLimits.of(SandboxConfig(max_seconds=1.0), import_seconds=5.0)
    late = []
    for body in (b"while True: pass", b"pow(7, 1 << 26)", b"import time; time.sleep(60)"):
        began = time.perf_counter()
        outcome = call(b"def run():\n    " + body + b"\n", limits)
        late.append(time.perf_counter() - began - 1.0 - outcome.import_ms / 1000)
        assert outcome.status == "failed"
    show("gone after its limit, with its start", f"{max(late) * 1000:.0f} ms at most")


def test_memory_at_the_cap(show):
    hungry = b"""
import os
def run():
    for _ in range(3):
        os.fork()
    held = []
    while True:
        held.append(bytearray(b"x" * (1 << 20)))
"""
    outcomes = [call(hungry) for _ in range(3)]
    assert all("memory" in o.message.lower() for o in outcomes), outcomes
    peak = max(o.peak_bytes for o in outcomes) / (1 << 20)
    show("highest seen of 8 processes filling memory, cap 512 MiB", f"{peak:.0f} MiB")


def test_system_calls_that_are_looked_at(show, monkeypatch):
    """Measure an open to write, with the host looking at it and without."""
    source = b"""
import os, time
def run():
    began = time.perf_counter()
    for number in range(2000):
        os.close(os.open(f"/tmp/{number % 50}", os.O_CREAT | os.O_WRONLY))
    return (time.perf_counter() - began) / 2000 * 1e6
"""
    if seccomp_notify.unavailable_reason():
        pytest.skip(seccomp_notify.unavailable_reason())
    watched = min(call(source).value for _ in range(5))
    monkeypatch.setattr(seccomp_notify, "_refused", ["not now"])
    plain = min(call(source).value for _ in range(5))
    show("an open to write, looked at", f"{watched:.0f} µs, else {plain:.0f} µs")
