"""Decide whether a stated probability can be believed."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pulsus.routing.evaluation.reliability import (
    Prediction,
    bins,
    calibration_metrics,
    ece,
    to_json,
)

SAID = st.builds(
    Prediction,
    st.floats(0, 1),
    st.booleans(),
    st.booleans(),
    st.floats(0.1, 1),
)


def test_exact_predictions_have_no_calibration_error():
    said = [Prediction(0.25, right=n == 0, fits=True) for n in range(4)]
    assert ece(said) == pytest.approx(0.0)


def test_a_sure_wrong_answer_costs_its_whole_weight():
    said = [
        Prediction(1.0, right=False, fits=True),
        Prediction(0.0, right=False, fits=False, weight=3.0),
    ]
    assert ece(said) == pytest.approx(0.25)


def test_a_copy_counts_by_its_weight():
    said = [
        Prediction(0.9, right=True, fits=True),
        Prediction(0.9, right=False, fits=False, weight=0.3),
    ]
    found = calibration_metrics(said, 0.6)
    assert found.precision_at_tau == 1.0
    assert found.precision_mixed == pytest.approx(1 / 1.3)
    assert found.coverage_at_tau == 1.0
    assert found.out_of_catalogue_below_tau == 0.0


def test_a_constant_has_a_good_ece_and_covers_nothing():
    said = [Prediction(0.4, right=n < 4, fits=True) for n in range(10)]
    found = calibration_metrics(said, 0.6)
    assert found.ece == pytest.approx(0.0)
    assert found.coverage_at_tau == 0.0
    assert found.precision_at_tau is None


def test_no_prediction_gives_no_figure():
    assert ece([]) is None
    assert set(vars_of(calibration_metrics([], 0.6)).values()) == {None}


def vars_of(found):
    return {name: getattr(found, name) for name in type(found).__slots__}


@given(st.lists(SAID, min_size=1))
def test_ece_stays_between_nothing_and_one_and_bins_hold_everything(said):
    found = bins(said)
    assert 0 <= (ece(said) or 0.0) <= 1 + 1e-9
    assert sum(one.weight for one in found) == pytest.approx(sum(s.weight for s in said))
    assert all(one.low - 1e-9 <= one.p <= one.high + 1e-9 for one in found)
    assert len(to_json(found)) == len(found) <= 10


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60))
def test_bins_without_weights_are_those_of_scikit_learn(pairs):
    from sklearn.calibration import calibration_curve

    # On the edge of two bins scikit-learn takes the lower one.
    assume(all(abs(p * 10 - round(p * 10)) > 1e-9 for p, _ in pairs))
    found = bins([Prediction(p, right=right, fits=True) for p, right in pairs])
    right, p = calibration_curve([r for _, r in pairs], [p for p, _ in pairs], n_bins=10)
    assert [b.p for b in found] == pytest.approx(p.tolist())
    assert [b.right for b in found] == pytest.approx(right.tolist())
