"""The fit of a calibration, against scikit-learn's where both can do the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pulsus.routing.evaluation import logistic

SEEDS = st.integers(0, 10_000)


def data(seed, *, signals=3, rows=200):
    """Weighted rows whose labels follow random coefficients."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, signals))
    truth = rng.normal(size=signals)
    y = (rng.random(rows) < 1 / (1 + np.exp(-(x @ truth + 0.3)))).astype(float)
    return x, y, rng.uniform(0.3, 1.0, rows)


def own_fit(x, y, weights, *, ridge, signs, prior=None):
    signals = x.shape[1]
    return logistic.fit(
        x,
        y,
        weights,
        prior=np.zeros(signals + 1) if prior is None else prior,
        ridge=np.array([ridge] * signals + [0.0]),  # scikit-learn does not penalise the intercept
        signs=signs,
    )


def sklearn_fit(x, y, weights, *, ridge):
    from sklearn.linear_model import LogisticRegression  # takes a second to import

    model = LogisticRegression(C=1 / ridge, tol=1e-10, max_iter=10_000)
    model.fit(x, y, sample_weight=weights)
    return np.append(model.coef_[0], model.intercept_)


@pytest.mark.seconds
@given(SEEDS, st.sampled_from([0.3, 1.0, 30.0]))
@settings(deadline=None, max_examples=25)
def test_without_signs_the_fit_is_that_of_scikit_learn(seed, ridge):
    x, y, weights = data(seed)
    found = own_fit(x, y, weights, ridge=ridge, signs=[0, 0, 0])
    assert found == pytest.approx(sklearn_fit(x, y, weights, ridge=ridge), abs=1e-4)


@given(SEEDS)
@settings(deadline=None, max_examples=25)
def test_signs_that_the_data_follow_change_nothing(seed):
    x, y, weights = data(seed)
    free = sklearn_fit(x, y, weights, ridge=1.0)
    signs = np.sign(free[:-1]).astype(int).tolist()
    assert own_fit(x, y, weights, ridge=1.0, signs=signs) == pytest.approx(free, abs=1e-4)


@pytest.mark.seconds
@given(SEEDS)
@settings(deadline=None, max_examples=25)
def test_a_coefficient_of_the_wrong_sign_is_zero_and_the_others_are_fitted_without_it(seed):
    x, y, weights = data(seed, signals=2)
    free = sklearn_fit(x, y, weights, ridge=1.0)
    signs = [-int(np.sign(free[0])), 0]
    found = own_fit(x, y, weights, ridge=1.0, signs=signs)
    rest = sklearn_fit(x[:, 1:], y, weights, ridge=1.0)
    assert found == pytest.approx([0.0, *rest], abs=1e-4)


def test_a_strong_pull_keeps_the_prior():
    x, y, weights = data(1)
    prior = np.array([0.5, -0.25, 1.0, 0.0])
    found = own_fit(x, y, weights, ridge=1e9, signs=[1, -1, 1], prior=prior)
    assert found[:-1] == pytest.approx(prior[:-1], abs=1e-6)
