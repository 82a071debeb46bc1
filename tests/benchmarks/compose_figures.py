"""Measure requests that become plans: a public set of bare tools, and own compositions.

    OMP_NUM_THREADS=1 .venv/bin/python -m tests.benchmarks.compose_figures [BENCH] [--folds N]

BENCH (default: $PULSUS_BENCH/retrieval, or ../shared/bench/retrieval) holds the folder `nestful`
with `tools.jsonl` and `queries.jsonl`. Without it only the own compositions are measured, and the
reason is printed. The four lines of the set are out of fold: weights are fitted on the other folds,
and past plans are those of the other folds. The shipped weights are fitted on all rows of the set,
so their figures on it are in sample. They are printed last, for comparison with the command.
"""

import argparse
import subprocess
import sys
from pathlib import Path

from tests.benchmarks.ranking_peers import DEFAULT

ROOT = Path(__file__).parents[2]
OWN = "tests/fixtures/compositions.jsonl"


def run(*arguments):
    """Print a command with its output."""
    print(f"$ {' '.join(str(a) for a in arguments)}", flush=True)
    subprocess.run([sys.executable, *arguments], cwd=ROOT, check=True)
    print(flush=True)


def compose_eval(*arguments):
    run("-m", "pulsus", "compose-eval", *arguments, "--limit", "0")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bench", nargs="?", type=Path, default=DEFAULT)
    parser.add_argument("--folds", type=int, default=2)
    options = parser.parse_args()
    compose_eval(OWN)
    folder = options.bench.resolve() / "nestful"
    rows, tools = folder / "queries.jsonl", folder / "tools.jsonl"
    if not rows.exists():
        print(f"the public set is not measured: {rows} does not exist (set PULSUS_BENCH)")
        return
    run("scripts/fit_tool_chains.py", rows, "--catalogue", tools, "--folds", str(options.folds))
    compose_eval(rows, "--catalogue", tools)
    compose_eval(rows, "--catalogue", tools, "--gold-tools")


if __name__ == "__main__":
    main()
