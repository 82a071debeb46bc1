"""Score requests with known tools and values, written from the tools' docstrings alone.

  python tests/benchmarks/blind_requests.py [FILE.jsonl] [--wrong]

A row is {id, query, policy, tools [id], inputs {name: value or {any: [values]}}}; the inputs of a
composition are named TOOL.INPUT. A value that is the tool's default counts as given. Without
--wrong only the counts are printed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pulsus.cli.command_session import CommandSession
from pulsus.core.types import RouteOutcome
from pulsus.errors import PulsusError
from pulsus.routing.delivery.route_run import RouteOptions

ROOT = Path(__file__).parents[2]
ROWS = ROOT / "tests/fixtures/blind_requests_3.jsonl"


def same(value: object, wanted: object) -> bool:
    """Return True for the wanted value, or one of several that are right."""
    if isinstance(wanted, dict) and set(wanted) == {"any"}:
        return any(same(value, one) for one in wanted["any"])
    if isinstance(value, bool) or isinstance(wanted, bool):
        return value is wanted
    if isinstance(value, int | float) and isinstance(wanted, int | float):
        return abs(value - wanted) <= 1e-9 * max(1.0, abs(wanted))
    return value == wanted or str(value) == str(wanted)


def wanted_inputs(row: Mapping[str, Any]) -> dict[str, object]:
    """Return the values by the input's own name."""
    return {name.rpartition(".")[2]: value for name, value in row["inputs"].items()}


def wrong_values(row: Mapping[str, Any], outcome: RouteOutcome) -> Iterator[str]:
    """Yield each input with another value than wanted, or with one that nobody asked for."""
    wanted = wanted_inputs(row)
    given = {n: v.value for n, v in outcome.inputs.items() if v.source == "request"}
    defaults = {n: v.value for n, v in outcome.inputs.items() if v.source == "default"}
    for name, value in wanted.items():
        # A plan's parameter may have the step in front of its name.
        found = next((v for n, v in given.items() if n == name or n.endswith(f"_{name}")), None)
        if not same(defaults.get(name) if found is None else found, value):
            yield f"{name}={found!r}, wanted {value!r}"
    if row["policy"] == "select":
        yield from (f"{n}={v!r}, not wanted" for n, v in given.items() if n not in wanted)


def main() -> int:
    """Print the counts; with --wrong also each row that is not wholly right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="?", type=Path, default=ROWS)
    parser.add_argument("--wrong", action="store_true")
    asked = parser.parse_args()
    router = CommandSession(ROOT, "text", -1, {}, False).app.router(None)
    counts: Counter[str] = Counter()
    for line in asked.rows.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        counts["rows"] += 1
        try:
            outcome = router.route(row["query"], RouteOptions(explain=True))
        except PulsusError as error:
            counts["errors"] += 1
            print(f"{row['id']}: {error.code}: {row['query']}", file=sys.stderr)
            continue
        tools = [tool.id for tool in outcome.decision.selected]
        wrong = list(wrong_values(row, outcome)) if tools == row["tools"] else []
        counts["policy right"] += outcome.decision.policy == row["policy"]
        counts["tools right"] += tools == row["tools"]
        counts["tools and values right"] += tools == row["tools"] and not wrong
        if asked.wrong and (wrong or tools != row["tools"]):
            print(f"{row['id']}: {row['query']}\n    {tools} {'; '.join(wrong)}")
    print(json.dumps(counts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
