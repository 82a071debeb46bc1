"""Time and figures of filled inputs, for each development set. Run by `make bench`.

The sets are `$PULSUS_BENCH/arguments/NAME_dev.jsonl` (default: ../shared/bench). The shipped model
was fitted on these rows; docs/benchmarks.md has the figures out of fold beside them.
"""

import json
import os
import statistics
import time
from datetime import datetime
from pathlib import Path

import pytest

from pulsus.cli.command_session import CommandSession
from pulsus.core.arguments.contract_inputs import from_arguments
from pulsus.core.arguments.filler import fill
from pulsus.core.arguments.inputs import from_schema

pytestmark = pytest.mark.bench

ROOT = Path(__file__).parents[2]
SETS = Path(os.environ.get("PULSUS_BENCH", "../shared/bench")) / "arguments"


@pytest.mark.skipif(not SETS.is_dir(), reason="the development sets of arguments are not here")
def test_median_time_and_fills_of_each_set(capsys):
    for path in sorted(SETS.glob("*_dev.jsonl")):
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        rows = [row for row in rows if "tool" in row]
        taken, filled, wanted = [], 0, 0
        for row in rows:
            now = datetime.fromisoformat(row["now"]) if row.get("now") else None
            inputs = from_schema(row["tool"])
            began = time.perf_counter()
            got = fill(row["query"], inputs, now=now)
            taken.append(time.perf_counter() - began)
            filled += len(got.filled)
            wanted += sum(bool(g) and n not in row["may_omit"] for n, g in row["gold"].items())
        if rows:
            median = statistics.median(taken) * 1000
            with capsys.disabled():
                print(
                    f"\n| {path.stem} | {len(rows)} rows | {median:.2f} ms "
                    f"| {filled} filled, {wanted} wanted |",
                    end="",
                )
            assert filled <= sum(len(from_schema(row["tool"]).inputs) for row in rows)


def test_time_to_read_the_inputs_of_each_starter_tool(capsys):
    """A route does this for the tools it decided on: ADR 36 says why the index does not keep it."""
    tools = CommandSession(ROOT, "text", -1, {}, False).app.catalogue.tools
    taken = []
    for tool in tools:
        rounds = []
        for _ in range(20):
            began = time.perf_counter()
            from_arguments(tool.args, tool.id, tool.summary)
            rounds.append((time.perf_counter() - began) * 1000)
        taken.append(statistics.median(rounds))
    with capsys.disabled():
        print(
            f"\n| inputs of {len(taken)} tools | median {statistics.median(taken):.2f} ms "
            f"| largest {max(taken):.2f} ms | all {sum(taken):.1f} ms |",
            end="",
        )
    assert len(taken) == len(tools) > 50
