"""Fit the model that fills inputs from requests (agents/pulsus/core/arguments, ADR 36).

  python scripts/fit_arguments.py SET.jsonl ... [--write] [--own PREFIX ...]

argument_samples.py describes the rows of a set. Rows whose set has an --own prefix count twice:
they are about infrastructure, as our tools are. Without --write the model is judged by five-fold
cross-validation, and nothing is written. Needs scikit-learn and scipy (make setup).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from sklearn.ensemble import GradientBoostingClassifier

from argument_samples import FOLDS, Sample, load
from pulsus.core.arguments.argument_model import FILE, ArgumentModel, parse_model
from pulsus.core.arguments.assignment import best_assignment, with_second_choices
from pulsus.core.arguments.candidates.candidate import Candidate
from pulsus.core.arguments.candidates.fill_limits import limit_of, raise_sure
from pulsus.core.arguments.features.confidence_features import confidence_features
from pulsus.core.arguments.filler import score_options
from pulsus.core.arguments.inputs import Input

L2 = 2.0
LEAST_COUNT = 3
"""Features that occur less often get no weight."""
LEAST_WEIGHT = 0.05
TREES, DEPTH, RATE = 150, 4, 0.05


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
            (c, raise_sure(model.probability(c.features), c.features, c.one, c.candidate, text))
            for c in held
            for text in [c.sample.reading.found.request]
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
