"""Fit the model that fills inputs from requests (agents/pulsus/core/arguments, ADR 36).

  python scripts/fit_arguments.py SET.jsonl ... [--write] [--own PREFIX ...]

A row is {id, query, tool {name, description, parameters}, gold {input: [acceptable values]},
may_omit [input]}; or {id, query, policy, tools [id], inputs} about the tools of this catalogue,
as in tests/fixtures/blind_requests_*.jsonl. Rows whose set has an --own prefix count twice:
they are about infrastructure, as our tools are. Without --write the model is judged by five-fold
cross-validation, and nothing is written. Needs scikit-learn and scipy (make setup).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from sklearn.ensemble import GradientBoostingClassifier

from pulsus.cli.command_session import CommandSession
from pulsus.core.arguments.argument_model import FILE, ArgumentModel, parse_model
from pulsus.core.arguments.assignment import best_assignment, with_second_choices
from pulsus.core.arguments.candidates.candidate import Candidate
from pulsus.core.arguments.contract_inputs import from_arguments
from pulsus.core.arguments.features.confidence_features import confidence_features
from pulsus.core.arguments.features.request_reading import RequestReading, read_request
from pulsus.core.arguments.filler import limit_of, raise_pair, score_options
from pulsus.core.arguments.inputs import Fillable, Input, from_schema
from pulsus.routing.delivery.route_run import RouteOptions
from pulsus.routing.inputs.plan_steps import list_steps
from pulsus.routing.router import Router

ROOT = Path(__file__).parents[1]
OWN_WEIGHT = 2.0
L2 = 2.0
LEAST_COUNT = 3
"""Features that occur less often get no weight."""
LEAST_WEIGHT = 0.05
FOLDS = 5
TREES, DEPTH, RATE = 150, 4, 0.05


@dataclass(frozen=True)
class Sample:
    """A row with its values: for each input which values are right, and if none may be."""

    row: dict[str, Any]
    fold: int
    weight: float
    reading: RequestReading
    right: list[list[bool]]
    empty: list[bool]


@dataclass(frozen=True)
class Choice:
    """A value that the assignment chose, with the numbers for its confidence."""

    sample: Sample
    one: Input
    candidate: Candidate
    features: dict[str, float]
    right: bool


@dataclass(frozen=True)
class ChoiceRow:
    """The options of one input: the features of each, and which are right."""

    features: list[dict[str, float]]
    right: list[bool]
    weight: float


def same(value: object, gold: object) -> bool:
    """Return True if a value is an acceptable one: texts without case, blanks and `,./-_*^`."""
    if isinstance(value, bool) or isinstance(gold, bool):
        return str(value).lower() == str(gold).lower()
    if isinstance(gold, list) or isinstance(value, list):
        return (
            isinstance(gold, list)
            and isinstance(value, list)
            and len(gold) == len(value)
            and all(map(same, value, gold))
        )
    try:
        return abs(float(str(value)) - float(str(gold))) <= 1e-9 * max(1.0, abs(float(str(gold))))
    except ValueError:
        bare = [
            re.sub(r"[ ,./\-_*^]", "", str(one)).lower().replace("'", '"') for one in (value, gold)
        ]
        return bare[0] == bare[1]


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
        good = [single and any(same(c.value, g) for g in gold) for c, _ in pairs]
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


def fit_weights(samples: Sequence[Sample]) -> dict[str, float]:
    """Return the weights of a conditional logit: for each input, one of its values or none."""
    rows = [row for sample in samples for row in choice_rows(sample)]
    counts = Counter(name for row in rows for features in row.features for name in features)
    names = [name for name, count in counts.items() if count >= LEAST_COUNT]
    rows = [row for row in rows if len(row.features) > 1]
    table = _table([features for row in rows for features in row.features], names)
    turned = table.T.tocsr()
    sizes = np.array([len(row.right) for row in rows])
    first = np.cumsum(sizes) - sizes
    group = np.repeat(np.arange(len(rows)), sizes)
    good = np.concatenate([row.right for row in rows])
    weight = np.array([row.weight for row in rows])

    def loss(w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        scores = table @ w
        shifted = np.exp(scores - np.maximum.reduceat(scores, first)[group])
        p = shifted / np.add.reduceat(shifted, first)[group]
        hit = np.where(good, p, 0.0)
        total = np.maximum(np.add.reduceat(hit, first), 1e-12)
        slope = turned @ (weight[group] * (p - hit / total[group])) + L2 * w
        return float(-(weight * np.log(total)).sum() + 0.5 * L2 * (w @ w)), slope

    found = minimize(
        loss, np.zeros(len(names)), jac=True, method="L-BFGS-B", options={"maxiter": 150}
    )
    return {
        n: round(float(w), 3) for n, w in zip(names, found.x, strict=True) if abs(w) > LEAST_WEIGHT
    }


def choice_rows(sample: Sample) -> Iterator[ChoiceRow]:
    """Yield a row for each input of a sample: "none", its values, and which are right."""
    for n, (one, pairs) in enumerate(sample.reading.options):
        features = [sample.reading.null[one.name], *(f for _, f in pairs)]
        yield ChoiceRow(features, [sample.empty[n], *sample.right[n]], sample.weight)


def _table(rows: Sequence[dict[str, float]], names: Sequence[str]) -> Any:
    """Return the features as a sparse matrix: a line for each row, a column for each name."""
    places = {name: place for place, name in enumerate(names)}
    ends: list[int] = [0]
    columns: list[int] = []
    values: list[float] = []
    for features in rows:
        known = [(places[name], value) for name, value in features.items() if name in places]
        columns.extend(place for place, _ in known)
        values.extend(value for _, value in known)
        ends.append(len(columns))
    return csr_matrix((values, columns, ends), shape=(len(rows), len(names)))


def choices(samples: Sequence[Sample], weights: dict[str, float]) -> list[Choice]:
    """Return the values that the weights choose, but for defaults that no row speaks of."""
    model = ArgumentModel(weights, (), 0.0, ())
    result = []
    for sample in samples:
        options = score_options(sample.reading, model)
        if not options:
            continue
        picks = best_assignment(options)
        tried = with_second_choices(options, picks)
        for n, features in enumerate(confidence_features(options, picks, tried, sample.reading)):
            one, candidate = sample.reading.options[n][0], options[n][tried[n]][1]
            if candidate is None or candidate.value == one.default:
                continue
            result.append(Choice(sample, one, candidate, features, sample.right[n][tried[n] - 1]))
    return result


def fit_trees(found: Sequence[Choice]) -> dict[str, Any]:
    """Return the names of the numbers, the start and the trees of the confidence."""
    names = sorted({name for choice in found for name in choice.features})
    table = np.array([[c.features.get(name, 0.0) for name in names] for c in found])
    boosted = GradientBoostingClassifier(
        n_estimators=TREES, max_depth=DEPTH, learning_rate=RATE, subsample=0.6,
        min_samples_leaf=12, max_features=0.5, random_state=2,
    )  # fmt: skip
    boosted.fit(table, [c.right for c in found], sample_weight=[c.sample.weight for c in found])
    share = float(boosted.init_.class_prior_[1])
    return {
        "names": names,
        "start": round(float(np.log(share / (1 - share))), 6),
        "trees": [_nodes(tree[0].tree_) for tree in boosted.estimators_],
    }


def _nodes(tree: Any) -> list[list[float]]:
    return [
        [round(RATE * float(tree.value[n][0][0]), 5)]
        if tree.children_left[n] < 0
        else [
            int(tree.feature[n]),
            round(float(tree.threshold[n]), 6),
            int(tree.children_left[n]),
            int(tree.children_right[n]),
        ]
        for n in range(tree.node_count)
    ]


def judge(samples: Sequence[Sample]) -> list[tuple[Choice, float]]:
    """Return every choice with its probability, both made without the row's own fold."""
    found: list[Choice] = []
    for fold in range(FOLDS):
        weights = fit_weights([s for s in samples if s.fold != fold])
        found.extend(choices([s for s in samples if s.fold == fold], weights))
    result: list[tuple[Choice, float]] = []
    for fold in range(FOLDS):
        trees = fit_trees([c for c in found if c.sample.fold != fold])
        model = parse_model({"weights": {}, **trees})
        held = [c for c in found if c.sample.fold == fold]
        result.extend(
            (c, raise_pair(model.probability(c.features), c.features, c.one, c.candidate))
            for c in held
        )
    return result


def fit(samples: Sequence[Sample]) -> dict[str, Any]:
    """Return the model's document: weights of all rows, trees of choices out of fold."""
    found: list[Choice] = []
    for fold in range(FOLDS):
        weights = fit_weights([s for s in samples if s.fold != fold])
        found.extend(choices([s for s in samples if s.fold == fold], weights))
    return {"weights": fit_weights(samples), **fit_trees(found)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit, and either write the model or print the answers out of fold as JSON lines."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--own", nargs="*", default=["own", "golden", "blind"])
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args(arguments)
    samples = load(asked.sets, asked.own)
    if asked.write:
        FILE.write_text(json.dumps(fit(samples), separators=(",", ":")) + "\n", encoding="utf-8")
        print(f"{len(samples)} rows; wrote {FILE} ({FILE.stat().st_size} bytes)", file=sys.stderr)
        return 0
    answers: dict[str, dict[str, dict[str, Any]]] = {
        s.row["id"]: {"args": {}, "confidence": {}} for s in samples
    }
    for choice, p in judge(samples):
        if p >= limit_of(choice.one, choice.candidate):
            answer = answers[choice.sample.row["id"]]
            answer["args"][choice.one.name] = choice.candidate.value
            answer["confidence"][choice.one.name] = round(p, 4)
    for name, answer in answers.items():
        print(json.dumps({"id": name, **answer}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
