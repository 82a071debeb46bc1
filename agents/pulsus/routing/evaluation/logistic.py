"""Maximum a posteriori logistic regression with fixed signs: it fits a calibration. Pure.

scikit-learn's `LogisticRegression` cannot replace this fit, for two reasons:

- It has no limits on signs. More evidence for a tool must never lower p, also on a catalogue that
  is unlike those of the fit.
- It pulls coefficients towards 0 only. A refit pulls them towards the shipped ones (ADR 17).

Where neither matters, both give the same coefficients; test_logistic.py compares them.

Only a fit imports this module: it needs numpy, which no request may import.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_STEPS = 100
_CLOSE = 1e-8
_FAR = 30.0


def fit(
    x: Floats, y: Floats, weights: Floats, *, prior: Floats, ridge: Floats, signs: Sequence[int]
) -> Floats:
    """Coefficients, the intercept last, that make labels `y` (0 or 1) and `prior` likeliest.

    Minimises the weighted log-loss plus half the `ridge`-weighted squared distance to `prior`
    (length: columns of `x` plus one). A sign of 1 keeps that coefficient at 0 or above, -1 at 0 or
    below, 0 leaves it free. Projected Newton steps: the same input gives the same output.
    """
    z = np.hstack([x, np.ones((len(x), 1))])
    held = np.array([*signs, 0])

    def project(beta: Floats) -> Floats:
        return np.where(held * beta < 0, 0.0, beta)

    def loss(beta: Floats) -> float:
        odds = z @ beta
        likely = (weights * (np.logaddexp(0.0, odds) - y * odds)).sum()
        return float(likely + (ridge * (beta - prior) ** 2).sum() / 2)

    beta = project(prior)
    now = loss(beta)
    for _ in range(_STEPS):
        p = probabilities(z @ beta)
        slope = z.T @ (weights * (p - y)) + ridge * (beta - prior)
        free = ~((held != 0) & (beta == 0.0) & (held * slope > 0))
        curve = (z * (weights * p * (1 - p))[:, None]).T @ z + np.diag(ridge + _CLOSE)
        step = np.zeros_like(beta)
        step[free] = np.linalg.solve(curve[np.ix_(free, free)], slope[free])
        size, new = 1.0, project(beta - step)
        while loss(new) > now and size > _CLOSE:
            size /= 2
            new = project(beta - size * step)
        moved = float(np.abs(new - beta).max())
        if loss(new) > now or moved < _CLOSE:
            break
        beta, now = new, loss(new)
    return beta


def probabilities(odds: Floats) -> Floats:
    """Return the probabilities of these log-odds."""
    found: Floats = 1 / (1 + np.exp(-np.clip(odds, -_FAR, _FAR)))
    return found
