"""Fit and judge agents/pulsus/core/rankers/calibration.json on routing sets.

    .venv/bin/python scripts/fit_calibration.py BENCH_DIR [--write] [--json FILE] [--plot FILE]

BENCH_DIR holds folders with `tools.jsonl` ({id, name, description, params?}) and `queries.jsonl`
({query, tools}); those with fewer than 149 requests are left out. The population is that of
`pulsus eval --calibrate`: the first 500 requests of each set, and each once more with its tools
taken out, label 0, weight 0.3; every set weighs the same. Fitted are also, with less weight, the
same requests in small parts of each set (a project's own catalogue is small) and with other
requests of the set remembered; judged is the whole catalogue without a past.

Printed are the figures on sets the fit has not seen (sets that share a catalogue are left out
together), then those after a refit on 100 of a set's own requests, judged on the others, over
several draws. `--write` stores the fit over all sets, `--plot` draws both judgements and the worst
set. `--select` tries which signals to use, `--cache DIR` keeps what was ranked.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from calibration_sets import CODE, SMALL, Found, gather
from pulsus.core.rankers import calibration_signals
from pulsus.core.rankers.calibration import Calibration, shipped_calibration
from pulsus.core.rankers.calibration_signals import FALLING, NAMES
from pulsus.routing.evaluation import calibration_fit, logistic, reliability_plot
from pulsus.routing.evaluation.calibration_fit import Sample
from pulsus.routing.evaluation.reliability import (
    CalibrationMetrics,
    Prediction,
    bins,
    calibration_metrics,
    to_json,
)

USED = (
    "size",
    "strength",
    "rarest",
    "heard",
    "lead",
    "shared",
    "name_words",
    "alike_lead",
    "recalled",
    "recalled_lead",
)
"""Signals of the shipped fit: those that a set not seen in the fit gains by (`--select`)."""

ASKING = 4 / 3
"""The weight of copies in the shipped fit beside their weight in the judgement: on a catalogue that
no project calibrated p is held a little low, since a question costs less than the wrong tool."""

OWN = 100
DRAWS = 6
TAU = 0.6
RIDGE = 30.0
SET_WEIGHT = 600.0
"""The weight of each set's samples together, in requests; `RIDGE` is measured against it."""
SMALL_WEIGHT = 100.0
"""The same of the requests in small parts of the set."""
PAST_WEIGHT = 100.0
"""The same of the requests in a catalogue with a past."""

TARGET = CODE / "core/rankers/calibration.json"
FIGURES = ("ece", "precision_at_tau", "precision_mixed", "coverage_at_tau")
OUTSIDE = "out_of_catalogue_below_tau"


Sets = Mapping[str, Found]
Said = Mapping[str, Sequence[Prediction]]


def fit(sets: Sequence[Found], used: Sequence[str] = USED) -> Calibration:
    """Return the calibration of these sets; signals that are not `used` get 0.

    Signs are held to what each signal means, so that more evidence never lowers p and the model
    stays sensible on catalogues unlike these.
    """
    weighed = [
        (sample, _weight(sample) * total / sum(_weight(s) for s in part))
        for found in sets
        for part, total in (
            (found.whole, SET_WEIGHT),
            (found.small, SMALL_WEIGHT),
            (found.past, PAST_WEIGHT),
        )
        for sample in part
        if calibration_fit.uses_calibration(sample)
    ]
    every = np.array([[(s.signals or {})[n] for n in NAMES] for s, _ in weighed])
    label = np.array([float(s.right) for s, _ in weighed])
    weight = np.array([w for _, w in weighed])
    middle, scale = every.mean(axis=0), every.std(axis=0) + 1e-9
    at = [NAMES.index(name) for name in used]
    beta = logistic.fit(
        ((every - middle) / scale)[:, at],
        label,
        weight,
        prior=np.zeros(len(used) + 1),
        ridge=np.array([RIDGE] * len(used) + [0.0]),
        signs=[-1 if name in FALLING else 1 for name in used],
    )
    raw = beta[:-1] / scale[at]
    found = dict.fromkeys(NAMES, 0.0)
    found.update({name: round(float(c), 4) for name, c in zip(used, raw, strict=True)})
    spread = {
        n: (round(float(m), 4), round(float(s), 4))
        for n, m, s in zip(NAMES, middle, scale, strict=True)
    }
    return Calibration(round(float(beta[-1] - raw @ middle[at]), 4), found, {}, spread)


def _weight(sample: Sample) -> float:
    return sample.weight * (ASKING if sample.weight < 1 else 1.0)


def unseen(sets: Sets, used: Sequence[str] = USED) -> dict[str, Calibration]:
    """For each set the fit over the sets of other catalogues."""
    return {
        name: fit([s for n, s in sets.items() if _family(n) != _family(name)], used)
        for name in sets
    }


def _family(name: str) -> str:
    """Sets of one catalogue: `metatool` and `metatool-multi`."""
    return name.split("-")[0]


def after_refit(found: Sequence[Sample], prior: Calibration) -> list[Prediction]:
    """Return what refits on `OWN` requests say of the others, over all draws."""
    requests = list(dict.fromkeys(s.request for s in found))
    said: list[Prediction] = []
    for draw in range(DRAWS):
        own = set(random.Random(draw).sample(requests, OWN))
        model = calibration_fit.fit_map([s for s in found if s.request in own], prior)
        said += [s.stated(model) for s in found if s.request not in own]
    return said


def report(title: str, said: Said) -> dict[str, Any]:
    """Print one table and give its figures."""
    judged = {name: calibration_metrics(found, TAU) for name, found in said.items()}
    names = (*FIGURES, OUTSIDE)
    print(f"\n{title}\n| set | {' | '.join(names)} |\n| --- |{' --- |' * len(names)}")
    for name, one in judged.items():
        print(f"| {name} | {' | '.join(_shown(one, n) for n in names)} |")
    mean = {n: fmean(_values(judged, n)) for n in names}
    worst = {n: (max if n == "ece" else min)(_values(judged, n)) for n in names}
    for label, row in (("mean", mean), ("worst", worst)):
        print(f"| **{label}** | {' | '.join(f'{row[n]:.3f}' for n in names)} |")
    tables = {name: to_json(bins(found)) for name, found in said.items()}
    sets = {name: asdict(one) for name, one in judged.items()}
    return {"mean": mean, "worst": worst, "sets": sets, "reliability": tables}


def plot(path: Path, alone: Said, own: Said) -> None:
    """Draw both judgements, every set weighing the same, and the worst set of the first."""
    worst = max(alone, key=lambda name: calibration_metrics(alone[name], TAU).ece or 0.0)
    curves = {
        f"as shipped, {len(alone)} sets not seen": bins(_pooled(alone)),
        f"worst of them, {worst}": bins(alone[worst]),
        f"after a refit on {OWN} requests": bins(_pooled(own)),
    }
    reliability_plot.draw_reliability(path, curves, tau=TAU)


def _pooled(said: Said) -> list[Prediction]:
    totals = {name: sum(s.weight for s in found) for name, found in said.items()}
    return [replace(s, weight=s.weight / totals[n]) for n, found in said.items() for s in found]


def _values(judged: Mapping[str, CalibrationMetrics], name: str) -> list[float]:
    return [v for one in judged.values() if (v := getattr(one, name)) is not None]


def _shown(one: CalibrationMetrics, name: str) -> str:
    value = getattr(one, name)
    return "-" if value is None else f"{value:.3f}"


def log_loss(sets: Sets, used: Sequence[str]) -> float:
    """Mean over sets of the weighted log-loss of a fit that has not seen the set."""
    losses = []
    for name, model in unseen(sets, used).items():
        said = [s.stated(model) for s in sets[name].whole]
        total = -sum(s.weight * float(np.log(max(s.p if s.right else 1 - s.p, 1e-3))) for s in said)
        losses.append(total / sum(s.weight for s in said))
    return fmean(losses)


def select(sets: Sets) -> None:
    """Print which signal helps most on unseen sets, one after another."""
    used: list[str] = ["size"]
    for _ in range(8):
        tried = sorted((log_loss(sets, [*used, n]), n) for n in NAMES if n not in used)
        used.append(tried[0][1])
        said = {n: [s.stated(m) for s in sets[n].whole] for n, m in unseen(sets, used).items()}
        judged = [calibration_metrics(s, TAU) for s in said.values()]
        shown = "  ".join(
            f"{n} {fmean(v := [getattr(j, n) or 0.0 for j in judged]):.3f}"
            f"/{(max if n == 'ece' else min)(v):.3f}"
            for n in (*FIGURES, OUTSIDE)
        )
        print(f"{tried[0][0]:.4f} + {used[-1]:16} {shown}  next {[n for _, n in tried[1:4]]}")


def main(argv: Sequence[str] | None = None) -> None:
    """Fit, judge, and write with `--write`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("bench", type=Path)
    parser.add_argument("--write", action="store_true", help="store the fit over all sets")
    parser.add_argument("--select", action="store_true", help="try which signals to use")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the figures")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw them (.svg, .png)")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep what was ranked")
    options = parser.parse_args(argv)
    sets = gather(options.bench, options.cache)
    if options.select:
        select(sets)
        return
    models = unseen(sets)
    alone = {name: [s.stated(models[name]) for s in found.whole] for name, found in sets.items()}
    remembering = {n: [s.stated(models[n]) for s in found.past] for n, found in sets.items()}
    own = {name: after_refit(found.whole, models[name]) for name, found in sets.items()}
    kept = {
        "unseen": report("As shipped, on sets the fit has not seen", alone),
        "unseen_with_past": report(
            "The same with other requests remembered", {n: s for n, s in remembering.items() if s}
        ),
        "refit": report(f"After a refit on {OWN} own requests, on the others", own),
    }
    model = fit(list(sets.values()))
    print(json.dumps({"intercept": model.intercept, "coefficients": model.coefficients}, indent=2))
    if options.plot:
        plot(options.plot, alone, own)
    if options.json:
        options.json.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")
    if options.write:
        TARGET.write_text(json.dumps(_document(model, sets), indent=2) + "\n", encoding="utf-8")


def _document(model: Calibration, sets: Sets) -> dict[str, Any]:
    told = {
        "source": "shipped",
        "version": int(shipped_calibration().provenance.get("version", 1)) + 1,
        "signals": calibration_signals.VERSION,
        "fitted_by": "scripts/fit_calibration.py",
        "sets": {name: len(found.whole) for name, found in sets.items()},
        "copy_weight": calibration_fit.COPY,
        "small_catalogues": {"tools": SMALL, "weight": SMALL_WEIGHT / SET_WEIGHT},
        "label": "the top candidate is one of the tools the request is meant for",
    }
    return {
        "intercept": model.intercept,
        "coefficients": model.coefficients,
        "spread": model.spread,
        "provenance": told,
    }


if __name__ == "__main__":
    main()
