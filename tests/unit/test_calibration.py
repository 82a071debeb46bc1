"""From signals to p (spec §5 τ)."""

import pytest

from pulsus.core.rankers.calibration import NAMED, Calibration, load, shipped
from pulsus.core.rankers.signals import FALLING, NAMES, VERSION, Standing, signals

PLAIN = Calibration(0.0, {"coverage": 2.0, "rivals": -1.0}, {})


def test_p_is_a_half_where_nothing_speaks_for_or_against():
    assert PLAIN.p({}) == pytest.approx(0.5)


def test_p_stays_a_probability_at_any_strength():
    assert 0 <= PLAIN.p({"coverage": -1e9}) < PLAIN.p({"coverage": 1e9}) <= 1


def test_a_named_tool_is_sure_and_two_named_tools_are_not():
    assert PLAIN.p({"named": 1.0, "coverage": -9}) == NAMED
    assert PLAIN.p({"named": 0.5, "coverage": -9}) < 0.5


def test_caution_keeps_even_the_surest_candidate_below_tau():
    sure = {"coverage": 2.0}
    assert PLAIN.p(sure) > 0.97
    assert PLAIN.p({**sure, "caution": 1.0}) < 0.6


def test_a_named_tool_at_odds_with_the_request_is_not_sure():
    assert PLAIN.p({"named": 1.0, "caution": 1.0}) < 0.1


def test_the_shipped_model_knows_its_signals_and_where_they_come_from():
    model = shipped()
    assert set(model.coefficients) == set(NAMES)
    assert model.provenance["fitted_by"] == "scripts/fit_calibration.py"
    assert model.provenance["sets"]
    assert model.provenance["signals"] == VERSION
    assert set(model.spread) == set(NAMES)


def test_more_evidence_never_lowers_p():
    for name, weight in shipped().coefficients.items():
        assert weight <= 0 if name in FALLING else weight >= 0


def test_a_calibration_without_its_parts_is_refused():
    with pytest.raises(KeyError):
        load("{}")


def standing(score, coverage=0.5, named=False):
    return Standing(
        score=score,
        match=score,
        coverage=coverage,
        covered=1.0,
        overlap=0.5,
        name=0.5,
        name_cover=0.5,
        missed=1,
        named=named,
        cautious=False,
    )


def test_margins_are_against_the_best_other_candidate():
    first, second, third = signals([standing(0.9), standing(0.5), standing(0.4)], 10)
    assert (first["margin"], second["margin"], third["margin"]) == pytest.approx((0.4, -0.4, -0.5))


def test_an_only_candidate_has_its_score_as_margin():
    (only,) = signals([standing(0.9)], 10)
    assert (only["margin"], only["rivals"]) == (0.9, 0.0)


def test_no_candidate_has_no_signals():
    assert signals([], 10) == []


def test_a_history_all_tools_share_makes_no_rivals():
    near = [standing(0.5)._replace(match=0.5), standing(0.4)._replace(match=0.4)]
    shifted = [s._replace(score=s.score + 0.1) for s in near]
    before, after = (signals(s, 10)[0]["rivals"] for s in (near, shifted))
    assert before == after


def test_a_candidate_is_contested_by_the_next_four_and_leads_the_last_of_them():
    first, *_, last = signals([standing(1 - n / 10, 0.9 - n / 10) for n in range(7)], 10)
    assert first["contested"] == pytest.approx(0.8)
    assert first["lead"] == pytest.approx(0.4)
    assert last["contested"] == pytest.approx(0.9)
    assert last["lead"] == pytest.approx(0.4 - 0.7)


def test_a_candidate_that_few_contest_leads_by_its_whole_score():
    (first, _) = signals([standing(0.9), standing(0.5)], 10)
    assert first["lead"] == 0.9


def test_strength_tells_a_long_match_from_a_short_one_of_the_same_share():
    short, long = (signals([standing(0.5)._replace(covered=c)], 10)[0]["strength"] for c in (2, 9))
    assert long > short > 0
    assert signals([standing(0.5)._replace(coverage=0.0)], 10)[0]["strength"] == 0
