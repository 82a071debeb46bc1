"""The explanation of a lower rank adds up to the score difference (spec §5)."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulsus.core.rankers import score_differences
from pulsus.core.rankers.calibration import AT_ODDS, NAMED, shipped_calibration
from pulsus.core.rankers.lexical_ranker import Ranker
from pulsus.core.types import Ranked
from tests.ranking import CATALOGUE, tool

INDEX = Ranker.build(CATALOGUE)
WORDS = sorted({w for t in CATALOGUE for w in f"{t.name} {t.summary}".replace("_", " ").split()})
requests = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)

NAMES = ("name", "doc", "history", "mine")
unit = st.floats(0, 1)
features = st.fixed_dictionaries(dict.fromkeys(NAMES, unit))
weights = st.fixed_dictionaries(dict.fromkeys(NAMES, st.sampled_from([0.0, 0.2, 0.4, 1.0]))).filter(
    lambda w: sum(w.values()) > 0
)


def candidate(values, weighing):
    score = sum(weighing[n] * values[n] for n in NAMES) / sum(weighing.values())
    return Ranked(tool("a/b/c"), values, weighing, score, 0.5, 1)


pairs = weights.flatmap(
    lambda w: st.tuples(
        features.map(lambda f: candidate(f, w)), features.map(lambda f: candidate(f, w))
    )
)


@given(pairs)
def test_the_stated_gaps_add_up_exactly_to_the_score_difference(pair):
    winner, loser = pair
    found = [g.gap for g in score_differences.gaps(winner, loser)]
    assert math.fsum(found) == pytest.approx(winner.score - loser.score, abs=1e-12)
    for digits in (3, 6):
        said = score_differences.round_to_sum(found, digits)
        assert abs(math.fsum(said) - math.fsum(found)) <= 0.5 * 10**-digits + 1e-12
        assert all(value == round(value, digits) for value in said)
        assert all(abs(s - g) < 10**-digits for s, g in zip(said, found, strict=True))


@given(requests)
def test_the_gaps_of_real_candidates_add_up_to_their_scores(request_text):
    found = INDEX.rank(request_text)
    for first, other in ((found[0], other) for other in found[1:]):
        lost_by = math.fsum(g.gap for g in score_differences.gaps(first, other))
        assert lost_by == pytest.approx(first.score - other.score, abs=1e-12)


@given(requests)
def test_the_parts_of_a_score_add_up_to_it(request_text):
    for ranked in INDEX.rank(request_text):
        assert math.fsum(score_differences.feature_contributions(ranked).values()) == pytest.approx(
            ranked.score, abs=1e-12
        )


@given(pairs)
def test_without_the_decisive_gaps_the_other_tool_would_have_won(pair):
    winner, loser = pair
    blamed = score_differences.fewest_deciding_gaps(score_differences.gaps(winner, loser))
    closed = {g.feature: g.winner for g in blamed}
    again = candidate({**loser.features, **closed}, loser.weights)
    assert again.score >= winner.score - 1e-8
    for spared in blamed:
        fewer = {name: value for name, value in closed.items() if name != spared.feature}
        still = candidate({**loser.features, **fewer}, loser.weights)
        assert still.score < winner.score, "a feature was blamed that did not matter"


@given(pairs)
def test_a_stated_change_is_enough_and_no_larger_than_needed(pair):
    winner, loser = pair
    for change in score_differences.single_feature_changes(score_differences.gaps(winner, loser)):
        assert loser.features[change.feature] < change.above <= 1
        for value, wins in ((change.above + 1e-6, True), (change.above - 1e-6, False)):
            again = candidate({**loser.features, change.feature: value}, loser.weights)
            assert (again.score > winner.score) is wins


@given(requests)
def test_the_stated_parts_of_p_give_p(request_text):
    calibration = shipped_calibration()
    for ranked in INDEX.rank(request_text):
        odds = calibration.intercept + math.fsum(
            p.push for p in score_differences.signal_contributions(calibration, ranked.signals)
        )
        p = 1 / (1 + math.exp(-odds))
        if ranked.signals.get("caution"):
            p = min(p, AT_ODDS)
        else:
            p = max(p, NAMED * ranked.signals.get("named", 0.0))
        assert p == pytest.approx(calibration.p(ranked.signals), abs=1e-9)
        assert ranked.p <= p + 1e-9


def test_equal_candidates_have_no_gap_to_state():
    one = candidate(dict.fromkeys(NAMES, 0.5), dict.fromkeys(NAMES, 0.25))
    twin = replace(one, tool=tool("a/b/d"))
    assert score_differences.fewest_deciding_gaps(score_differences.gaps(one, twin)) == ()
    assert score_differences.single_feature_changes(score_differences.gaps(one, twin)) == ()
