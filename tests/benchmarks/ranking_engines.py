"""The engines of `ranker.engine` beside each other: the golden requests, and public sets.

    OMP_NUM_THREADS=1 .venv/bin/python -m tests.benchmarks.ranking_engines [BENCH] [--json FILE]

The golden requests are measured over the shipped catalogue, each engine as in a fresh checkout.
BENCH (default: $PULSUS_BENCH/retrieval, or ../shared/bench/retrieval) holds folders with
`tools.jsonl` and `queries.jsonl`. Without it only the golden requests are measured, and the reason
is printed. The shares are those of `pulsus eval`. Times are processor time, because machines are
busy. `route` is a warm process of `pulsus route` with its start and imports, the median of five.
"""

import argparse
import json
import math
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from pulsus.cli.command_session import CommandSession
from pulsus.cli.evaluate.prepare_search import prepare
from pulsus.routing.evaluation.dataset import load_queries
from tests.benchmarks.ranking_peers import DEFAULT, versions

ROOT = Path(__file__).parents[2]
ENGINES = ("lexical", "spec")
SHARES = (
    *("hit_at_1", "recall_at_5", "ndcg_at_10", "policy_accuracy", "precision_at_tau"),
    *("coverage_at_tau", "out_of_catalogue_below_tau"),
)
TIMES = ("query_cpu_ms_p50", "query_cpu_ms_p99", "index_cpu_seconds")
STARTS = 5
TIMED = 100
"""Requests whose processor time is measured, after the figures."""


def measure(engine, project, rows, catalogue=None):
    """The figures of one engine on one set."""
    flags = {"ranker": {"engine": engine}, "cache_enabled": False}
    prepare(CommandSession(project, "json", 0, flags), catalogue, None)  # imports, and files read
    began = time.process_time()
    bench = prepare(CommandSession(project, "json", 0, flags), catalogue, None)
    taken = time.process_time() - began
    report = bench.measure(rows)
    milliseconds = sorted(1000 * _search_seconds(bench, row.query) for row in rows[:TIMED])
    return {name: getattr(report, name) for name in SHARES} | {
        "query_cpu_ms_p50": statistics.median(milliseconds),
        "query_cpu_ms_p99": milliseconds[-(len(milliseconds) // 100) - 1],
        "index_cpu_seconds": taken,
    }


def _search_seconds(bench, query):
    began = time.process_time()
    bench.search(query)
    return time.process_time() - began


def route_seconds(engine):
    """Median processor seconds of a warm `pulsus route` process."""
    command = [sys.executable, "-m", "pulsus", "route", "how full are the disks", "--plan"]
    with tempfile.TemporaryDirectory() as state:
        env = {**os.environ, "PULSUS_RANKER__ENGINE": engine, "PULSUS_STATE_DIR": state}
        taken = []
        for _ in range(STARTS + 1):
            began = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, cwd=ROOT, env=env, capture_output=True, check=False)
            ended = resource.getrusage(resource.RUSAGE_CHILDREN)
            taken.append(ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime)
    return statistics.median(taken[1:])


def public_set(folder, limit):
    """Both engines on the requests of a set that some tool fits."""
    rows = [row for row in load_queries(folder / "queries.jsonl") if row.tools][:limit]
    with tempfile.TemporaryDirectory() as empty:
        found = {e: measure(e, Path(empty), rows, folder / "tools.jsonl") for e in ENGINES}
    return {"requests": len(rows), "engines": found}


def table(name, found):
    """Return one set as Markdown."""
    yield f"\n{name}: {found['requests']} requests\n"
    yield f"| engine | {' | '.join((*SHARES, *TIMES))} |"
    yield f"| --- |{' ---: |' * len((*SHARES, *TIMES))}"
    for engine, figures in found["engines"].items():
        yield f"| {engine} | {' | '.join(_shown(n, figures[n]) for n in (*SHARES, *TIMES))} |"


def _shown(name, value):
    if value is None:
        return "-"
    return f"{value:.2f}" if name in TIMES else f"{math.floor(value * 1000 + 1e-9) / 10:.1f}"


def main(argv=None):
    """Measure, print tables, keep JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench", type=Path, nargs="?", default=DEFAULT)
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--limit", type=int, default=500)
    options = parser.parse_args(argv)
    kept: dict[str, Any] = {"versions": versions(), "sets": {}}
    print(" ".join(f"{name} {version}" for name, version in kept["versions"].items()))
    print(f"route: {', '.join(f'{e} {route_seconds(e):.2f} s' for e in ENGINES)}")
    rows = load_queries(ROOT / "config/golden.jsonl")
    golden = {engine: measure(engine, ROOT, rows) for engine in ENGINES}
    kept["sets"]["golden"] = {"requests": len(rows), "engines": golden}
    print("\n".join(table("golden", kept["sets"]["golden"])), flush=True)
    folders = sorted(p.parent for p in options.bench.glob("*/queries.jsonl"))
    if not folders:
        print(f"\npublic sets skipped: no folders with queries.jsonl in {options.bench}")
    for folder in folders:
        kept["sets"][folder.name] = public_set(folder, options.limit)
        print("\n".join(table(folder.name, kept["sets"][folder.name])), flush=True)
    if options.json:
        options.json.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")
    print(f"\n{platform.processor() or platform.machine()}, Python {platform.python_version()}")


if __name__ == "__main__":
    sys.exit(main())
