"""From signals to p (spec §5 τ)."""

import pytest

from pulsus.core.rankers.calibration import (
    NAMED,
    Calibration,
    load_calibration,
    shipped_calibration,
)
from pulsus.core.rankers.calibration_signals import (
    FALLING,
    NAMES,
    VERSION,
    CandidateDetail,
    CandidateSignals,
    calibration_signals,
)

PLAIN = Calibration(0.0, {"coverage": 2.0, "size": -1.0}, {})


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
    model = shipped_calibration()
    assert set(model.coefficients) == set(NAMES)
    assert model.provenance["fitted_by"] == "scripts/fit_calibration.py"
    assert model.provenance["sets"]
    assert model.provenance["signals"] == VERSION
    assert set(model.spread) == set(NAMES)


def test_more_evidence_never_lowers_p():
    for name, weight in shipped_calibration().coefficients.items():
        assert weight <= 0 if name in FALLING else weight >= 0


def test_a_calibration_without_its_parts_is_refused():
    with pytest.raises(KeyError):
        load_calibration("{}")


def standing(score, coverage=0.5, *, named=False, covered=1.0):
    return CandidateSignals(
        score=score,
        match=score,
        coverage=coverage,
        covered=covered,
        overlap=0.5,
        name=0.5,
        name_cover=0.5,
        missed=1,
        named=named,
        cautious=False,
    )


def told(standings, *looked_up, shown=None):
    """The signals of these candidates; what is not said of them is nothing."""
    known = (*looked_up, *[CandidateDetail()] * len(standings))
    return calibration_signals(standings, 10, lambda at: known[at], shown)


def test_margins_are_against_the_best_other_candidate():
    first, second, third = told([standing(0.9), standing(0.5), standing(0.4)])
    assert (first["margin"], second["margin"], third["margin"]) == pytest.approx((0.4, -0.4, -0.5))


def test_an_only_candidate_has_its_score_as_margin_and_all_of_it_as_lead():
    (only,) = told([standing(0.9)])
    assert (only["margin"], only["lead"], only["shared"]) == (0.9, 1.0, 0.0)


def test_no_candidate_has_no_signals():
    assert told([]) == []


def test_a_candidate_leads_by_what_the_fifth_lacks_of_its_score():
    first, *_, last = told([standing(1 - n / 10) for n in range(7)])
    assert first["lead"] == pytest.approx(1 - 0.6 / 1.0)
    assert last["lead"] == pytest.approx(1 - 0.7 / 0.4)


def test_a_candidate_whose_words_the_next_has_too_is_told_apart_by_none():
    same, fewer = CandidateDetail(frozenset({1, 2})), CandidateDetail(frozenset({2}))
    pair = [standing(0.9), standing(0.8)]
    assert told(pair, same, same)[0]["shared"] == 1.0
    assert told(pair, same, fewer)[0]["shared"] == 0.5
    assert told(pair, fewer, same)[0]["shared"] == 1.0
    assert told(pair)[0]["shared"] == 0.0


def test_two_words_of_a_name_are_more_than_one():
    one, two = (
        told([standing(0.9)], CandidateDetail(in_name=1)),
        told([standing(0.9)], CandidateDetail(in_name=2)),
    )
    assert two[0]["name_words"] > one[0]["name_words"] > 0


def test_likeness_is_against_the_best_of_the_next():
    pair = [standing(0.9), standing(0.8)]
    first, second = told(pair, CandidateDetail(alike=0.5), CandidateDetail(alike=0.2))
    assert (first["alike_lead"], second["alike_lead"]) == pytest.approx((0.3, -0.3))


def test_strength_tells_a_long_match_from_a_short_one_of_the_same_share():
    short, long = (told([standing(0.5, covered=c)])[0]["strength"] for c in (2, 9))
    assert long > short > 0
    assert told([standing(0.5, coverage=0.0)])[0]["strength"] == 0


def test_details_are_looked_up_only_of_what_is_shown_and_its_best_rivals():
    asked = set()

    def detail(at):
        asked.add(at)
        return CandidateDetail()

    calibration_signals([standing(1 - n / 100) for n in range(30)], 10, detail, 1)
    assert asked == {0, 1, 2, 3, 4}


def test_a_tool_remembered_for_requests_like_this_is_surer():
    past, none = CandidateDetail(recalled=0.8), CandidateDetail()
    pair = [standing(0.9), standing(0.8)]
    with_past, without = told(pair, past, none)[0], told(pair, none, none)[0]
    assert (with_past["recalled"], with_past["recalled_lead"]) == pytest.approx((0.8, 0.8))
    assert shipped_calibration().p(with_past) > shipped_calibration().p(without)
    against = told(pair, CandidateDetail(recalled=-0.5), none)[0]
    assert shipped_calibration().p(against) < shipped_calibration().p(without)
