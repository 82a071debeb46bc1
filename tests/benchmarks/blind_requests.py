"""Score requests with known tools and values, written from the tools' docstrings alone.

  python tests/benchmarks/blind_requests.py [FILE.jsonl] [--wrong]

A row is {id, query, policy, tools [id], inputs {name: value or {any: [values]}}}, as `pulsus eval`
reads it, and values are compared as there. These routes are whole ones, with the settings of the
project. The inputs of a tool that writes are only ever proposed, so one count takes a proposal for
a value. Of a plan, a filled value that its row does not name counts too. Without --wrong only the
counts are printed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from pulsus.cli.command_session import CommandSession
from pulsus.core.types import InputValue, JsonValue
from pulsus.errors import PulsusError
from pulsus.routing.delivery.route_run import RouteOptions
from pulsus.routing.evaluation.input_score import compare_inputs
from pulsus.routing.inputs.route_inputs import named_inputs

ROOT = Path(__file__).parents[2]
ROWS = ROOT / "tests/fixtures/blind_requests_3.jsonl"


def unwanted(wanted: Mapping[str, JsonValue], filled: Mapping[str, InputValue]) -> list[str]:
    """Return the values of a plan's steps that the row does not name, each parameter once."""
    named = {(v.text, str(v.value)) for name, v in filled.items() if name in wanted}
    return [
        f"{name}: filled {value.value!r} from {value.text!r}, wanted nothing"
        for name, value in filled.items()
        if "." in name
        and value.source == "request"
        and name not in wanted
        # A parameter that two steps share has the same words in both.
        and (value.text, str(value.value)) not in named
    ]


def main() -> int:
    """Print the counts; with --wrong also each row that is not wholly right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="?", type=Path, default=ROWS)
    parser.add_argument("--wrong", action="store_true")
    parser.add_argument("--policy", choices=("select", "compose", "generate"))
    asked = parser.parse_args()
    router = CommandSession(ROOT, "text", -1, {}, False).app.router(None)
    counts: Counter[str] = Counter()
    for line in asked.rows.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if asked.policy not in (None, row["policy"]):
            continue
        counts["rows"] += 1
        try:
            outcome = router.route(row["query"], RouteOptions(explain=True))
        except PulsusError as error:
            counts["errors"] += 1
            print(f"{row['id']}: {error.code}: {row['query']}", file=sys.stderr)
            continue
        tools = [tool.id for tool in outcome.decision.selected]
        right = tools == row["tools"]
        filled = named_inputs(outcome) if right else {}
        offered = replace(outcome, inputs={**outcome.inputs, **outcome.proposed})
        wrong = compare_inputs(row["inputs"], filled) if right else ()
        still = compare_inputs(row["inputs"], named_inputs(offered)) if right else ()
        more = unwanted(row["inputs"], filled)
        told = [*(each.sentence for each in wrong), *more]
        counts["policy right"] += outcome.decision.policy == row["policy"]
        counts["tools right"] += right
        counts["tools and values right"] += right and not told
        counts["tools right, values right or proposed"] += right and not still and not more
        counts["values filled"] += sum(one.source == "request" for one in filled.values())
        counts["values filled wrong"] += sum(each.what != "missing" for each in wrong) + len(more)
        if asked.wrong and (told or not right):
            print(f"{row['id']}: {row['query']}\n    {tools}")
            print("".join(f"    {said}\n" for said in told), end="")
            if right and outcome.unused:
                print(f"    unused: {', '.join(map(repr, outcome.unused))}")
    print(json.dumps(counts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
