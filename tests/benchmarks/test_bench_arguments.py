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

from pulsus.core.arguments.filler import fill
from pulsus.core.arguments.inputs import from_schema

pytestmark = pytest.mark.bench

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
