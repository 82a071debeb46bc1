"""Score requests with known tools and values, written from the tools' docstrings alone.

  python tests/benchmarks/blind_requests.py [FILE.jsonl] [--wrong]

A row is {id, query, policy, tools [id], inputs {name: value or {any: [values]}}}, as `pulsus eval`
reads it, and values are compared as there. These routes are whole ones, with the settings of the
project. Without --wrong only the counts are printed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

from pulsus.cli.command_session import CommandSession
from pulsus.errors import PulsusError
from pulsus.routing.delivery.route_run import RouteOptions
from pulsus.routing.evaluation.input_score import compare_inputs
from pulsus.routing.inputs.route_inputs import named_inputs

ROOT = Path(__file__).parents[2]
ROWS = ROOT / "tests/fixtures/blind_requests_3.jsonl"


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
        right = tools == row["tools"]
        wrong = compare_inputs(row["inputs"], named_inputs(outcome)) if right else ()
        counts["policy right"] += outcome.decision.policy == row["policy"]
        counts["tools right"] += right
        counts["tools and values right"] += right and not wrong
        if asked.wrong and (wrong or not right):
            said = "; ".join(each.told for each in wrong)
            print(f"{row['id']}: {row['query']}\n    {tools} {said}")
    print(json.dumps(counts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
