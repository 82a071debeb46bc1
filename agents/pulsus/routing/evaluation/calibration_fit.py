"""Calibration fitted to requests with known answers (`pulsus eval --calibrate`). Pure.

Refused here (CALIBRATION_REFUSED): fewer than 30 requests, or a fit that is worse than the
calibration in use. `routing/evaluation/calibration_file.py` stores the result. The regression is
`routing/evaluation/logistic.py`.

The population: each request as it is, and each that some tool fits once more with those tools
taken out of the catalogue: nothing fits then. Imports numpy; a refit imports scikit-learn.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pulsus.core.rankers.calibration import Calibration
from pulsus.core.rankers.calibration_signals import FALLING, NAMES
from pulsus.core.types import Ranked
from pulsus.errors import CalibrationRefused
from pulsus.routing.evaluation import logistic
from pulsus.routing.evaluation.dataset import GoldenRow
from pulsus.routing.evaluation.reliability import Prediction, log_loss

COPY = 0.3
"""Requests that nothing fits, beside each that some tool fits: copies stand in for those that are
not among the rows (`copy_weight`)."""

MIN_REQUESTS = 30
"""Fewer say more about themselves than about the catalogue."""

FOLDS = 5

RIDGE = 1.0
"""Strength of the pull towards the shipped weights, for each signal; 0.3 to 30 measure alike."""

RIDGE_LEVEL = 0.3
"""The same of the intercept: how often the top tool is right differs most between catalogues."""

Look = Callable[[str, Collection[str]], Sequence[Ranked]]
"""The candidates of a request in the catalogue without these ids, best first."""


Split = Callable[[str], Sequence[str]]
"""The clauses of a request."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The top candidate of one request. `signals` is None if there was no candidate.

    `request` is shared by a request and its copy: they are never parted by a fold.
    """

    request: str
    signals: Mapping[str, float] | None
    right: bool
    fits: bool
    weight: float

    def stated(self, calibration: Calibration) -> Prediction:
        """Return the prediction of that calibration."""
        p = calibration.p(self.signals) if self.signals is not None else 0.0
        return Prediction(p, self.right, self.fits, self.weight)


@dataclass(frozen=True, slots=True)
class Refit:
    """A calibration of its own, and what every sample was given by a fit that had not seen it.

    `before` is what the one in use (`against`) says of the same samples, in the same order.
    """

    calibration: Calibration
    before: tuple[Prediction, ...]
    after: tuple[Prediction, ...]
    against: Calibration


def collect_samples(
    rows: Sequence[GoldenRow], look: Look, split: Split | None = None
) -> Iterator[Sample]:
    """Yield each request's top candidate, and its copy's.

    A request for several steps that `split` cuts into as many clauses as it has tools is these
    clauses, each with its own tool: τ less the slack applies to each of them.
    """
    weight = copy_weight(rows)
    for row in rows:
        for part in _clause_rows(row, split):
            fits = bool(part.tools)
            yield _first_candidate_sample(
                row.query, part, look(part.query, ()), fits=fits, weight=1.0
            )
            if fits and weight:
                found = look(part.query, part.tools)
                yield _first_candidate_sample(row.query, part, found, fits=False, weight=weight)


def copy_weight(rows: Sequence[GoldenRow]) -> float:
    """Return the weight of a copy of a request without its tools, from 0 to `COPY`.

    Rows that nothing fits are real requests. A copy is harder, because it has every word of a tool
    that was removed. So copies only make up for missing rows of that kind.
    """
    fit = sum(bool(row.tools) for row in rows)
    return max(0.0, COPY - (len(rows) - fit) / fit) if fit else COPY


def refit(found: Sequence[Sample], prior: Calibration, in_use: Calibration | None = None) -> Refit:
    """Return the prior moved by these samples, judged by cross-validation on the same requests.

    The fold of a request depends on its words alone. So a request stays in its fold when others
    are added, and its copy is always in the same one.

    `in_use` is what it would take the place of, the prior where left out. Raises CalibrationRefused
    for too few requests, or where every answer is right or wrong.
    """
    against = in_use or prior
    require_enough(len({s.request for s in found}), against)
    _require_both_answers(found)
    from sklearn.model_selection import PredefinedSplit  # takes a second to import

    after: list[Prediction] = [Prediction(0.0, right=False, fits=False)] * len(found)
    for rest, held_out in PredefinedSplit([_fold_number(s.request) for s in found]).split():
        model = fit_map([found[n] for n in rest], prior)
        for n in held_out:
            after[n] = found[n].stated(model)
    before = tuple(s.stated(against) for s in found)
    return Refit(fit_map(found, prior), before, tuple(after), against)


def require_better(fit: Refit, requests: int) -> None:
    """Raise CalibrationRefused where what is in use says more of these requests than the fit.

    Compared is the log loss, out of fold: neither has seen the request it is judged on.
    """
    before, after = log_loss(fit.before), log_loss(fit.after)
    if after > before:
        raise CalibrationRefused(
            f"a calibration on these {requests} requests would be worse out of fold than "
            f"{describe_calibration(fit.against)}: log loss {after:.4f} against {before:.4f}; "
            f"{describe_calibration(fit.against)} stays in use",
            hint="collect more requests with their right tools, and give them together with those "
            "of the last calibration; --force stores it all the same",
            requests=requests,
            log_loss={"in_use": round(before, 6), "fitted": round(after, 6)},
        )


def describe_calibration(calibration: Calibration) -> str:
    """A calibration in a few words: whose it is, its version, what it was fitted to."""
    told = calibration.provenance
    source = "project's" if told.get("source") == "project" else "shipped"
    on = (
        f" on {told['requests']} requests" if source == "project's" and told.get("requests") else ""
    )
    return f"the {source} calibration (version {told.get('version', 1)}{on})"


def require_enough(requests: int, in_use: Calibration) -> None:
    """Raise CalibrationRefused for too few requests: known before anything is measured."""
    if requests < MIN_REQUESTS:
        raise CalibrationRefused(
            f"{requests} requests are too few to calibrate on, {MIN_REQUESTS} are the least",
            hint="collect more requests with their right tools; "
            f"{describe_calibration(in_use)} stays in use",
            requests=requests,
            least=MIN_REQUESTS,
        )


def fit_map(found: Sequence[Sample], prior: Calibration) -> Calibration:
    """Return the likeliest calibration given these samples and the prior's weights."""
    used = [s for s in found if uses_calibration(s)]
    if not used:
        return prior
    middle = np.array([prior.spread.get(name, (0.0, 1.0))[0] for name in NAMES])
    scale = np.array([prior.spread.get(name, (0.0, 1.0))[1] for name in NAMES])
    raw = np.array([prior.coefficients.get(name, 0.0) for name in NAMES])
    x = np.array([[(s.signals or {}).get(name, 0.0) for name in NAMES] for s in used])
    start = np.append(raw * scale, prior.intercept + float(raw @ middle))
    beta = logistic.fit(
        (x - middle) / scale,
        np.array([float(s.right) for s in used]),
        np.array([s.weight for s in used]),
        prior=start,
        ridge=np.array([RIDGE] * len(NAMES) + [RIDGE_LEVEL]),
        signs=[-1 if name in FALLING else 1 for name in NAMES],
    )
    weights = beta[:-1] / scale
    intercept = float(beta[-1] - weights @ middle)
    named = {name: round(float(w), 4) for name, w in zip(NAMES, weights, strict=True)}
    return replace(prior, intercept=round(intercept, 4), coefficients=named)


def uses_calibration(sample: Sample) -> bool:
    """Return True if p comes from the weights: not for a named tool, nor for one at odds."""
    told = sample.signals
    return told is not None and not (told.get("named") or told.get("caution"))


def data_hash(rows: Sequence[GoldenRow]) -> str:
    """Return the digest of the requests and their answers, in any order of the file."""
    lines = sorted(json.dumps([r.query, list(r.tools), r.any_of]) for r in rows)
    return "sha256:" + hashlib.sha256("\n".join(lines).encode("utf-8")).hexdigest()


def _clause_rows(row: GoldenRow, split: Split | None) -> Sequence[GoldenRow]:
    if split is None or row.policy != "compose":
        return [row]
    clauses = split(row.query)
    if len(clauses) != len(row.tools):
        return [row]
    return [GoldenRow(text, (tool,)) for text, tool in zip(clauses, row.tools, strict=True)]


def _first_candidate_sample(
    request: str, row: GoldenRow, found: Sequence[Ranked], *, fits: bool, weight: float
) -> Sample:
    if not found:
        return Sample(request, None, right=False, fits=fits, weight=weight)
    right = fits and found[0].tool.id in row.tools
    return Sample(request, found[0].signals, right, fits, weight)


def _require_both_answers(found: Sequence[Sample]) -> None:
    requests = {s.request for s in found}
    if len({s.right for s in found}) < 2:
        raise CalibrationRefused(
            f"the first tool is right for none of {len(requests)} requests: there is nothing to"
            " tell right from wrong by",
            hint="check the ids of the requests' tools against `pulsus tools list`",
            requests=len(requests),
        )


def _fold_number(request: str) -> int:
    return hashlib.sha256(request.encode("utf-8", "replace")).digest()[0] % FOLDS
