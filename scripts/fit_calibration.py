"""Fit agents/pulsus/core/rankers/calibration.json on routing sets.

    .venv/bin/python scripts/fit_calibration.py BENCH_DIR [--write] [--loso]

BENCH_DIR holds folders with `tools.jsonl` ({id, name, description, params?}) and `queries.jsonl`
({query, tools}). Every request is ranked in the whole catalogue, in a small part of it that holds
its tools, and in both again without them: nothing fits then, label 0, weight 0.3.
`--loso` prints figures for each set with a model that has not seen it.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.preprocessing import StandardScaler

from pulsus.core.rankers.scorer import RankIndex
from pulsus.core.rankers.signals import NAMES
from pulsus.routing.golden import GoldenRow, load_queries, load_tools

ABSENT_WEIGHT = 0.3
MAX_QUERIES = 400
MAX_TOOLS = 1200
SMALL = 80
BATCH = 10
TAU = 0.6
RIDGE = 0.001
FALLING = frozenset({"missed", "rivals", "size"})
"""Signals of which more means less sure."""
TARGET = Path(__file__).parent.parent / "agents/pulsus/core/rankers/calibration.json"


@dataclass(frozen=True, slots=True)
class Sample:
    """A top candidate: was it right, and was there anything right to find."""

    signals: tuple[float, ...]
    right: bool
    present: bool


Floats = NDArray[np.float64]


def samples(folder: Path) -> list[Sample]:
    """The samples of one set, the same on every run."""
    rng = random.Random(folder.name)
    rows = [r for r in load_queries(folder / "queries.jsonl") if r.tools][:MAX_QUERIES]
    tools = load_tools(folder / "tools.jsonl")
    gold = {t for r in rows for t in r.tools}
    others = [t for t in tools if t.id not in gold]
    kept = [t for t in tools if t.id in gold]
    kept += rng.sample(others, max(0, min(len(others), MAX_TOOLS - len(kept))))
    found = list(_ranked(RankIndex.build(kept), rows, present=True))
    for start in range(0, len(rows), BATCH):
        batch = rows[start : start + BATCH]
        gold = {t for r in batch for t in r.tools}
        without = [t for t in kept if t.id not in gold]
        near = rng.sample(without, max(0, min(len(without), SMALL) - len(gold)))
        with_gold = near + [t for t in kept if t.id in gold]
        found += _ranked(RankIndex.build(without), batch, present=False)
        found += _ranked(RankIndex.build(with_gold), batch, present=True)
        found += _ranked(RankIndex.build(near), batch, present=False)
    return found


def _ranked(index: RankIndex, rows: Sequence[GoldenRow], *, present: bool) -> Iterator[Sample]:
    for row in rows:
        top = index.rank(row.query, limit=1)
        if top and not top[0].signals["named"]:
            values = tuple(top[0].signals[name] for name in NAMES)
            yield Sample(values, top[0].tool.id in row.tools, present)


def arrays(found: Sequence[Sample]) -> tuple[Floats, Floats, Floats]:
    """Signals, labels, weights."""
    return (
        np.array([s.signals for s in found]),
        np.array([float(s.right) for s in found]),
        np.array([1.0 if s.present else ABSENT_WEIGHT for s in found]),
    )


def fit(sets: Sequence[Sequence[Sample]]) -> tuple[float, dict[str, float]]:
    """Intercept and coefficients on the signals as they are; every set weighs the same.

    Signs are held to what each signal means, so that more evidence never lowers p and the model
    stays sensible on catalogues unlike these.
    """
    parts = [arrays(found) for found in sets]
    x = np.concatenate([p[0] for p in parts])
    y = np.concatenate([p[1] for p in parts])
    w = np.concatenate([p[2] / p[2].sum() for p in parts]) / len(parts)
    scaler = StandardScaler().fit(x)
    z = np.hstack([scaler.transform(x), np.ones((len(x), 1))])

    def loss(beta: Floats) -> tuple[float, Floats]:
        odds = z @ beta
        value = float((w * (np.logaddexp(0, odds) - y * odds)).sum())
        slope = z.T @ (w * (1 / (1 + np.exp(-odds)) - y))
        ridge = RIDGE * np.append(beta[:-1], 0.0)
        return value + float(ridge @ beta) / 2, slope + ridge

    bounds = [(None, 0.0) if n in FALLING else (0.0, None) for n in NAMES]
    found = minimize(loss, np.zeros(z.shape[1]), jac=True, bounds=[*bounds, (None, None)])
    raw = found.x[:-1] / scaler.scale_
    intercept = float(found.x[-1] - (raw * scaler.mean_).sum())
    return round(intercept, 4), {n: round(float(c), 4) for n, c in zip(NAMES, raw, strict=True)}


def figures(found: Sequence[Sample], intercept: float, coefficients: dict[str, float]) -> str:
    """One line: ECE over all, precision and coverage at τ, share of absent below τ."""
    x, y, w = arrays(found)
    p = 1 / (1 + np.exp(-(intercept + x @ np.array([coefficients[n] for n in NAMES]))))
    present = np.array([s.present for s in found])
    bins = np.minimum((p * 10).astype(int), 9)
    gaps = (abs(float((w[bins == b] * (p[bins == b] - y[bins == b])).sum())) for b in range(10))
    sure = present & (p >= TAU)
    return (
        f"hit {y[present].mean():.3f}  ece {sum(gaps) / w.sum():.3f}  "
        f"precision {y[sure].mean() if sure.any() else 0:.3f}  "
        f"coverage {sure.sum() / present.sum():.3f}  "
        f"absent below {(p[~present] < TAU).mean():.3f}"
    )


def main(argv: Sequence[str] | None = None) -> None:
    """Fit, report, and write with `--write`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("bench", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--loso", action="store_true")
    options = parser.parse_args(argv)
    folders = sorted(p.parent for p in options.bench.glob("*/queries.jsonl"))
    data = {folder.name: samples(folder) for folder in folders}
    model = fit(list(data.values()))
    for name, found in data.items():
        family = name.split("-")[0]
        rest = [s for n, s in data.items() if n.split("-")[0] != family]
        print(f"{name:15} {figures(found, *(fit(rest) if options.loso else model))}")
    print(json.dumps({"intercept": model[0], "coefficients": model[1]}, indent=2))
    if options.write:
        TARGET.write_text(json.dumps(_document(model, data), indent=2) + "\n", encoding="utf-8")


def _document(
    model: tuple[float, dict[str, float]], data: dict[str, list[Sample]]
) -> dict[str, Any]:
    return {
        "intercept": model[0],
        "coefficients": model[1],
        "provenance": {
            "fitted_by": "scripts/fit_calibration.py",
            "sets": {name: len(found) for name, found in data.items()},
            "absent_weight": ABSENT_WEIGHT,
            "small_catalogue": SMALL,
            "label": "the top candidate is one of the tools the request is meant for",
        },
    }


if __name__ == "__main__":
    main()
