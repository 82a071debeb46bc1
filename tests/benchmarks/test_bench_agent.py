"""Cost and memory of the agent's loop, beyond model and tools. Nothing here asserts a time.

Processor time of the whole process is measured, because a turn uses several threads.
"""

import gc
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from pulsus.core.types import JsonValue
from pulsus.gates.tool_response import tool_success
from tests.agent_runs import (
    HOST,
    WEB,
    AgentWorld,
    AllowAll,
    Recorder,
    ScriptedModel,
    answers,
    call,
    found,
    proposes,
    world,
)

pytestmark = pytest.mark.bench

TURNS = 1_000
RESULT_CHARS = 20_000
SESSIONS = 50_000


def shown(capsys, **figures):
    with capsys.disabled():
        print(json.dumps({"python": platform.python_version(), **figures}))


class TimedModel(ScriptedModel):
    """Notes when a question arrives and when its answer leaves, in processor nanoseconds."""

    def __init__(self, calls_in_turn: int, turns: int) -> None:
        super().__init__()
        self.calls_in_turn, self.turns = calls_in_turn, turns
        self.marks: list[tuple[int, int]] = []

    def propose(self, ask, on_text):
        arrived, number = time.process_time_ns(), len(self.marks)
        if number + 1 >= self.turns:
            made = answers("done")
        else:
            commands = [f"df {number} {n}" for n in range(self.calls_in_turn)]
            made = proposes(
                *(call("pulsus_read", action="exec", command=one, **ON) for one in commands)
            )
        self.marks.append((arrived, time.process_time_ns()))
        return made


ON = {"target_resource_id": WEB.id}


class Dropped(list):
    """A list that stays empty."""

    def append(self, value):
        pass


class QuietRules(AllowAll):
    """Rules that keep no results."""

    def learn(self, outcome):
        pass


class DroppedRecord(Recorder):
    """A trace and counters that keep nothing in memory."""

    def event(self, phase, **fields):
        pass

    def count(self, name, **labels):
        pass


class LongRead:
    """A read with a long result. It counts its own processor time."""

    def __init__(self) -> None:
        self.spent = 0

    def __call__(self, args, context):
        from pulsus.agent.tool_protocol import CallOutcome

        began = time.thread_time_ns()
        data: JsonValue = {"output": f"{args.get('command')} " + "x" * RESULT_CHARS}
        ids = tuple(one.id for one in context.resources)
        made = CallOutcome(tool_success(data), read=ids)
        self.spent += time.thread_time_ns() - began
        return made


def long_session(calls_in_turn: int, turns: int = TURNS) -> tuple[AgentWorld, TimedModel, LongRead]:
    """Run one session of many turns: a search, then reads with long results."""
    read = LongRead()
    made = world(read=read, query=found(WEB, HOST))
    made.control = QuietRules()
    made.max_turns = turns + 2
    made.events, made.record = Dropped(), DroppedRecord()  # a client keeps nothing of a session
    made.run(proposes(call("pulsus_query", action="search", query="web")), answers("known"))
    model = TimedModel(calls_in_turn, turns)
    gc.collect()
    made.run(request="look at everything", model=model)
    return made, model, read


@pytest.mark.parametrize("calls_in_turn", [1, 6])
def test_bench_loop_overhead_of_a_turn(calls_in_turn, capsys):
    _, model, read = long_session(calls_in_turn)
    assert len(model.marks) == TURNS
    # From the answer of the model to its next question: all that the loop does for a turn.
    spent = [
        later[0] - earlier[1] for earlier, later in zip(model.marks, model.marks[1:], strict=False)
    ]
    of_tools = read.spent / len(spent)
    cuts = statistics.quantiles(spent, n=100)
    shown(
        capsys,
        loop_overhead="one turn",
        calls=calls_in_turn,
        turns=len(spent),
        cpu_median_ms=round((cuts[49] - of_tools) / 1e6, 3),
        cpu_p99_ms=round((cuts[98] - of_tools) / 1e6, 3),
        cpu_median_of_last_100_ms=round(statistics.median(spent[-100:]) / 1e6, 3),
        tools_ms=round(of_tools / 1e6, 3),
        aim_ms=5,
    )


def peak_kib(turns: int) -> int:
    """Return the peak memory of a process that runs a session of so many turns."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.test_bench_agent", str(turns)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout)


def test_bench_memory_of_a_thousand_turns(capsys):
    first, last = peak_kib(100), peak_kib(TURNS)
    results_mib = (TURNS - 100) * RESULT_CHARS / 2**20
    shown(
        capsys,
        memory="100 and 1,000 turns",
        peak_100_mib=round(first / 1024, 1),
        peak_1000_mib=round(last / 1024, 1),
        growth_mib=round((last - first) / 1024, 1),
        results_between_mib=round(results_mib, 1),
    )


def test_bench_sessions_of_the_state_machine(capsys):
    """Any proposer, `AGENT_SESSIONS` sessions of 50 steps; by default as many as the aim says."""
    sessions = int(os.environ.get("AGENT_SESSIONS", SESSIONS))
    half, began = sessions // 2, time.monotonic()
    parts = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.agent_sessions", str(many), str(first)],
            cwd=Path(__file__).parents[2],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for many, first in ((half, 1), (sessions - half, half + 1))
    ]
    printed = [each.communicate()[0] for each in parts]
    seconds = round(time.monotonic() - began)
    assert [each.returncode for each in parts] == [0, 0], printed
    counts: Counter[str] = Counter()
    for one in printed:
        counts.update(json.loads(one))
    del counts["first_seed"]
    shown(capsys, state_machine="sessions of 50 steps", **counts, seconds=seconds)


if __name__ == "__main__":
    long_session(1, int(sys.argv[1]))
    # `ru_maxrss` would hold the memory of the process that forked this one.
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    sys.stdout.write(status.partition("VmHWM:")[2].split()[0])
