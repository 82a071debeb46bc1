"""Cost of questions to a knowledge base of 10,000 nodes. Nothing here asserts a time.

`cpu` is the time of this thread alone. On a busy machine the wall time holds that of others too.
"""

import gc
import json
import random
import statistics
import time

import pytest

from pulsus.kb.fact_base import FactBase
from pulsus.kb.fact_files import read_facts_file
from pulsus.kb.goal_engine import answer
from pulsus.kb.query_limits import QueryDeadline, QueryLimits
from pulsus.kb.rag_context import rag_context
from tests.knowledge import DEFAULTS, NOW, facts_of

pytestmark = pytest.mark.bench

NODES = 10_000
LIMITS = QueryLimits(seconds=60.0)


def cluster(health="nominal"):
    """Return a document of 10,000 nodes, each with a link to an earlier one, and 20,000 more."""
    pick = random.Random(1)
    names = [f"node{n:05}" for n in range(NODES)]
    pairs = {(names[n - 1 - pick.randrange(min(n, 50))], names[n]) for n in range(1, NODES)}
    while len(pairs) < 3 * NODES - 1:
        a, b = sorted(pick.sample(names, 2))
        pairs.add((a, b))
    return {
        "nodes": [
            {"name": n, "rack": f"r{i % 400}", "health": health} for i, n in enumerate(names)
        ],
        "links": [{"a": a, "b": b, "cost": pick.randrange(1, 100)} for a, b in sorted(pairs)],
        "vms": [{"vmid": 100 + n, "host": names[n]} for n in range(NODES)],
    }


DOCUMENT = cluster()
BASE = FactBase(facts_of(DOCUMENT))
NAMES = list(BASE.nodes)


def timed(step, count):
    """Return the median and the 99th percentile of `count` calls, in microseconds."""
    clocks = {"cpu": time.thread_time_ns, "wall": time.perf_counter_ns}
    times: dict[str, list[int]] = {name: [] for name in clocks}
    gc.collect()
    for at in range(count):
        for name, clock in clocks.items():
            began = clock()
            step(at)
            times[name].append(clock() - began)
    figures = {}
    for name, found in times.items():
        cuts = statistics.quantiles(found, n=100)
        figures[f"{name}_median_us"] = round(cuts[49] / 1e3, 1)
        figures[f"{name}_p99_us"] = round(cuts[98] / 1e3, 1)
    return figures


def shown(capsys, **figures):
    with capsys.disabled():
        print(json.dumps(figures))


def pairs(count):
    pick = random.Random(2)
    return [tuple(pick.sample(NAMES, 2)) for _ in range(count)]


ASKED = pairs(5000)
CASES = {
    "node_health": (5000, lambda at: f"node_health({ASKED[at][0]}, Status)"),
    "current_vm_host": (5000, lambda at: f"current_vm_host({100 + at}, Host)"),
    "live_link": (1000, lambda at: f"live_link({ASKED[at][0]}, B, Cost)"),
    "can_reach": (500, lambda at: f"can_reach({ASKED[at][0]}, {ASKED[at][1]})"),
    "live_shortest_path": (
        100,
        lambda at: f"live_shortest_path({ASKED[at][0]}, {ASKED[at][1]}, P)",
    ),
}


def test_bench_kb_noise_of_this_machine(capsys):
    """A loop that takes as long as a question: its p99 says what the machine adds."""
    shown(capsys, kb="empty loop", **timed(lambda _: sum(range(900)), 5000))


@pytest.mark.parametrize("case", CASES)
def test_bench_kb_query(case, capsys):
    count, goal = CASES[case]
    goals = [goal(at) for at in range(count)]
    assert answer(goals[0], BASE, NOW, LIMITS).answers
    found = timed(lambda at: answer(goals[at], BASE, NOW, LIMITS), count)
    shown(capsys, kb=case, nodes=NODES, links=len(BASE.links), calls=count, **found)


def test_bench_kb_first_reach_of_a_new_base(capsys):
    """The topology is built by the first question about a path, and when a fact has expired."""
    bases = [FactBase(facts_of(DOCUMENT)) for _ in range(10)]

    def first(at):
        # `timed` calls each step twice: once for each clock, and each needs a base of its own.
        answer(f"can_reach({ASKED[at][0]}, {ASKED[at][1]})", bases.pop(), NOW, LIMITS)

    shown(capsys, kb="first can_reach", nodes=NODES, **timed(first, 5))


def test_bench_kb_reads_a_file_and_makes_a_context(capsys, tmp_path):
    path = tmp_path / "facts.json"
    path.write_text(json.dumps(DOCUMENT), encoding="utf-8")
    found = timed(lambda _: FactBase(read_facts_file(path, "facts", DEFAULTS).facts), 3)
    shown(capsys, kb="read facts.json", bytes=path.stat().st_size, **found)
    view = BASE.at(NOW)
    found = timed(lambda _: rag_context(view, "all", QueryDeadline(LIMITS)), 10)
    shown(capsys, kb="context of all", nodes=NODES, **found)
