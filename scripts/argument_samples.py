"""The rows that scripts/fit_arguments.py fits on, read for their tools, with right values marked.

A row is {id, query, tool {name, description, parameters}, gold {input: [acceptable values]},
may_omit [input]}; or {id, query, policy, tools [id], inputs} about the tools of this catalogue,
as in tests/fixtures/blind_requests_*.jsonl.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from pulsus.cli.command_session import CommandSession
from pulsus.core.arguments.contract_inputs import from_arguments
from pulsus.core.arguments.features.request_reading import RequestReading, read_request
from pulsus.core.arguments.inputs import Fillable, from_schema
from pulsus.routing.delivery.route_run import RouteOptions
from pulsus.routing.evaluation.input_score import same_value
from pulsus.routing.inputs.plan_steps import list_steps
from pulsus.routing.router import Router

ROOT = Path(__file__).parents[1]
FOLDS = 5
"""Rows of one id are in one fold."""
OWN_WEIGHT = 2.0
"""Rows of a set about infrastructure count twice, because our tools are about it."""


@dataclass(frozen=True)
class Sample:
    """A row with its values: for each input which values are right, and if none may be."""

    row: dict[str, Any]
    fold: int
    weight: float
    reading: RequestReading
    right: list[list[bool]]
    empty: list[bool]


def load(paths: Sequence[Path], own: Sequence[str]) -> list[Sample]:
    """Return the rows of all sets, read for their tools."""
    samples: list[Sample] = []
    for path in paths:
        weight = OWN_WEIGHT if path.name.startswith(tuple(own)) else 1.0
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            rows = catalogue_rows(row) if "tools" in row else [(row, from_schema(row["tool"]))]
            samples.extend(make_sample(one, tool, row["id"], weight) for one, tool in rows)
    return samples


def make_sample(row: dict[str, Any], tool: Fillable, name: str, weight: float) -> Sample:
    """Return the row read for its tool; rows of one `name` are in one fold."""
    now = datetime.fromisoformat(row["now"]) if row.get("now") else None
    reading = read_request(row["query"], tool, now)
    right, empty = [], []
    for one, pairs in reading.options:
        gold = row["gold"].get(one.name) or []
        single = one.name not in row.get("several", ())
        good = [single and any(same_value(c.value, g, _spelling) for g in gold) for c, _ in pairs]
        must = bool(gold) and one.name not in row["may_omit"]
        right.append(good)
        empty.append(not must or not any(good))
    fold = int(hashlib.sha256(name.encode()).hexdigest(), 16) % FOLDS
    return Sample(row, fold, weight, reading, right, empty)


def catalogue_rows(row: dict[str, Any]) -> Iterator[tuple[dict[str, Any], Fillable]]:
    """Yield a row for each tool of a request, with the words that routing gives the tool.

    A request that is not routed to its tools is left out.
    """
    outcome = catalogue_router().route(row["query"], RouteOptions(explain=True))
    if not row["tools"] or [tool.id for tool in outcome.decision.selected] != row["tools"]:
        return
    for n, step in enumerate(list_steps(outcome)):
        tool = step.tool
        # Inputs that the grammar of row tools reads are not fitted.
        closed = step.fixed | step.row_inputs.names
        shown = tuple(arg for arg in tool.args if arg.name not in closed)
        gold = {}
        for arg in shown:
            given = row["inputs"].get(arg.name, row["inputs"].get(f"{tool.name}.{arg.name}"))
            if given is not None:
                gold[arg.name] = (
                    given["any"] if isinstance(given, dict) and set(given) == {"any"} else [given]
                )
        text = step.clause or row["query"]
        fillable = from_arguments(shown, tool.id, tool.summary)
        defaults = {one.name: one.default for one in fillable.inputs}
        omit = [name for name, values in gold.items() if defaults.get(name) in values]
        one = {"id": f"{row['id']}#{n}", "query": text, "gold": gold, "may_omit": omit}
        yield one, fillable


@cache
def catalogue_router() -> Router:
    """Return the router of this project."""
    return CommandSession(ROOT, "text", -1, {}, False).app.router(None)


def _spelling(text: str) -> str:
    """Return a text of a public set without case, blanks and `,./-_*^`; a number as it is."""
    try:
        return str(float(text))
    except ValueError:
        return re.sub(r"[ ,./\-_*^]", "", text).lower().replace("'", '"')
