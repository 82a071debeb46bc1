"""A calibration fitted to requests of one's own."""

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pulsus.core.rankers.calibration import Calibration, shipped_calibration
from pulsus.core.rankers.calibration_signals import FALLING, NAMES
from pulsus.errors import CalibrationRefused
from pulsus.routing.evaluation import calibration_fit, logistic
from pulsus.routing.evaluation.calibration_fit import (
    COPY,
    Sample,
    collect_samples,
    data_hash,
    fit_map,
    refit,
)
from pulsus.routing.evaluation.dataset import GoldenRow
from pulsus.routing.evaluation.reliability import Prediction, ece, log_loss
from tests.ranking import ranked

PLAIN = Calibration(0.0, {"strength": 1.0}, {}, dict.fromkeys(NAMES, (0.0, 1.0)))


def sample(n, strength, right, *, fits=True, weight=1.0, **more):
    told = {**dict.fromkeys(NAMES, 0.0), "strength": strength, **more}
    return Sample(f"request {n}", told, right, fits, weight)


def many(count, share, seed=0):
    """Requests that are right more often than the shipped weights say, `share` more by strength."""
    rng = random.Random(seed)
    found = []
    for n in range(count):
        strength = rng.uniform(-2, 2)
        found.append(sample(n, strength, rng.random() < 1 / (1 + np.exp(-share - 2 * strength))))
    return found


def test_each_request_comes_with_a_copy_that_nothing_fits():
    asked = []

    def look(text, without):
        asked.append((text, tuple(without)))
        return [] if without else [ranked("shared/x/a", 0.9)]

    found = list(collect_samples([GoldenRow("one", ("shared/x/a",))], look))
    assert asked == [("one", ()), ("one", ("shared/x/a",))]
    assert [(s.right, s.fits, s.weight) for s in found] == [
        (True, True, 1.0),
        (False, False, COPY),
    ]
    assert found[1].stated(shipped_calibration()).p == 0.0


@pytest.mark.parametrize(("nothing", "weight"), [(0, COPY), (1, COPY - 0.1), (3, 0.0), (9, 0.0)])
def test_requests_that_nothing_fits_take_the_place_of_copies(nothing, weight):
    fit = [GoldenRow(f"request {n}", ("shared/x/a",)) for n in range(10)]
    rows = [*fit, *(GoldenRow(f"nothing {n}", ()) for n in range(nothing))]
    found = list(collect_samples(rows, lambda text, without: [ranked("shared/x/a", 0.9)]))
    copies = [s.weight for s in found if s.request.startswith("request") and not s.fits]
    assert copies == pytest.approx([weight] * 10 if weight else [])
    assert sum(s.weight for s in found if not s.fits) >= 3.0 - 1e-9


def test_a_request_for_several_steps_is_calibrated_clause_by_clause():
    def look(text, without):
        return [ranked("shared/x/a" if "first" in text else "shared/x/z", 0.9)]

    row = GoldenRow("first then second", ("shared/x/a", "shared/x/b"), "compose")
    parts = list(collect_samples([row], look, lambda query: query.split(" then ")))
    assert [(s.right, s.fits) for s in parts[::2]] == [(True, True), (False, True)]
    assert {s.request for s in parts} == {"first then second"}
    whole = list(collect_samples([row], look, lambda query: [query]))
    assert len(whole) == 2


@pytest.mark.seconds
def test_a_refit_comes_closer_to_the_truth_on_requests_it_has_not_seen():
    fitted = refit(many(400, 1.5), PLAIN)
    assert (ece(fitted.after) or 1.0) < (ece(fitted.before) or 0.0)


def test_no_request_is_judged_by_a_fit_that_has_seen_it():
    """The out-of-fold p of a request does not change with its own label."""
    found = many(60, 0.0)
    flipped = [replace(found[0], right=not found[0].right), *found[1:]]
    assert refit(found, PLAIN).after[0].p == refit(flipped, PLAIN).after[0].p


def test_a_request_and_its_copy_are_in_one_fold():
    pairs = [
        s
        for n in range(40)
        for s in (
            sample(n, 1.0, right=n % 2 == 0),
            sample(n, 0.5, right=False, fits=False, weight=COPY),
        )
    ]
    changed = [replace(s, right=not s.right) if s.request == "request 3" else s for s in pairs]
    for before, after in zip(refit(pairs, PLAIN).after, refit(changed, PLAIN).after, strict=True):
        if before.right != after.right:
            assert before.p == after.p


def test_the_same_requests_in_another_order_give_the_same_calibration():
    found = many(80, 0.5)
    shuffled = random.Random(1).sample(found, len(found))
    assert fit_map(found, PLAIN).coefficients == fit_map(shuffled, PLAIN).coefficients


def test_few_requests_move_little_and_many_move_more():
    def distance(count):
        return abs(fit_map(many(count, 2.0), PLAIN).intercept - PLAIN.intercept)

    assert distance(5) < distance(500)


def test_more_evidence_never_lowers_p_after_a_refit():
    perverse = [sample(n, n % 2, right=n % 2 == 0, contested=float(n % 2)) for n in range(60)]
    found = fit_map(perverse, shipped_calibration())
    for name, weight in found.coefficients.items():
        assert weight <= 0 if name in FALLING else weight >= 0


@pytest.mark.parametrize(
    ("found", "why"),
    [
        ([sample(n, 1.0, right=n % 2 == 0) for n in range(29)], "29 requests are too few"),
        ([sample(n, 1.0, right=False) for n in range(40)], "right for none of 40"),
    ],
    ids=["too few", "one class"],
)
def test_requests_that_say_nothing_are_refused(found, why):
    with pytest.raises(CalibrationRefused, match=why):
        refit(found, PLAIN)


def test_a_named_tool_teaches_no_weights():
    """Its p is by definition; counted in, it would make weak signals look strong."""
    named = [sample(n, -2.0, right=True, named=1.0) for n in range(100)]
    assert fit_map([*many(60, 0.0), *named], PLAIN) == fit_map(many(60, 0.0), PLAIN)


def test_the_hash_of_the_data_is_that_of_the_requests_and_answers_not_of_their_order():
    rows = [GoldenRow("a", ("x",)), GoldenRow("b", ())]
    assert data_hash(rows) == data_hash(rows[::-1])
    assert data_hash(rows) != data_hash([GoldenRow("a", ("y",)), GoldenRow("b", ())])
    assert data_hash(rows).startswith("sha256:")


@settings(max_examples=25)
@given(st.integers(0, 1000), st.floats(0.01, 50.0))
def test_the_fit_is_where_the_slope_is_level_or_held_by_a_sign(seed, ridge):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(40, 3)), (rng.random(40) < 0.4).astype(float)
    signs, prior = [1, -1, 0], np.zeros(4)
    weights, ridges = np.ones(40), np.full(4, ridge)
    beta = logistic.fit(x, y, weights, prior=prior, ridge=ridges, signs=signs)
    z = np.hstack([x, np.ones((40, 1))])
    slope = z.T @ (logistic.probabilities(z @ beta) - y) + ridges * beta
    for value, steep, sign in zip(beta, slope, [*signs, 0], strict=True):
        assert sign * value >= 0
        assert abs(steep) < 1e-3 or (value == 0 and sign * steep > 0)


def test_the_constants_are_those_of_the_protocol():
    assert (COPY, calibration_fit.MIN_REQUESTS, calibration_fit.FOLDS) == (0.3, 30, 5)


def test_a_fit_worse_than_the_calibration_in_use_is_refused():
    good = refit(many(400, 1.5), PLAIN)
    calibration_fit.require_better(good, 400)
    swapped = replace(good, before=good.after, after=good.before)
    with pytest.raises(CalibrationRefused, match="would be worse out of fold than the shipped"):
        calibration_fit.require_better(swapped, 400)


def test_log_loss_is_lowest_for_true_probabilities():
    def stated(p):
        return [Prediction(p, right=n < 7, fits=True) for n in range(10)]

    assert log_loss(stated(0.7)) < min(log_loss(stated(0.6)), log_loss(stated(0.8)))
    assert log_loss(stated(1.0)) > log_loss(stated(0.9))
    assert log_loss([]) == 0.0
