"""The specification's ranking for any request: bounds, order independence, honest sums."""

import functools
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pulsus.core.rankers.spec.spec_ranker import SpecRanker
from pulsus.core.rankers.tie_breaks import GRAINS
from pulsus.core.types import ToolHistory
from tests.ranking import CATALOGUE

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@functools.cache
def spec():
    return SpecRanker.build(CATALOGUE)


WORDS = sorted({word for tool in CATALOGUE for word in f"{tool.name} {tool.doc}".split()})
REQUESTS = st.one_of(
    st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join),
    st.text(max_size=40),
)
COUNTS = st.integers(0, 50)


def history_of(counts):
    return {
        tool.id: ToolHistory(tool.id, promoted, accepted, failed, NOW if promoted else None)
        for tool, (promoted, accepted, failed) in zip(CATALOGUE, counts, strict=False)
    }


HISTORIES = st.lists(st.tuples(COUNTS, COUNTS, COUNTS), max_size=16).map(history_of)


@given(REQUESTS, HISTORIES)
@settings(deadline=None)
def test_every_feature_score_and_p_lies_between_0_and_1(request, history):
    for found in spec().rank(request, history=history, now=NOW, limit=100):
        numbers = (found.score, found.p, *found.features.values(), *found.signals.values())
        assert all(0.0 <= number <= 1.0 for number in numbers)
        total = sum(found.weights[n] * found.features[n] for n in found.weights)
        assert found.score == pytest.approx(total)


@pytest.mark.seconds
@given(REQUESTS, st.permutations(CATALOGUE))
@settings(deadline=None, max_examples=50)
def test_the_order_of_the_files_does_not_change_the_ranking(request, shuffled):
    assert SpecRanker.build(shuffled).rank(request) == spec().rank(request)


@given(REQUESTS, HISTORIES, st.integers(1, 16))
@settings(deadline=None)
def test_fewer_shown_candidates_are_the_first_of_all(request, history, limit):
    every = spec().rank(request, history=history, now=NOW, limit=100)
    assert spec().rank(request, history=history, now=NOW, limit=limit) == every[:limit]
    grains = [round(r.score * GRAINS) for r in every]  # closer scores are a tie
    assert grains == sorted(grains, reverse=True)
    assert [r.rank for r in every] == list(range(1, len(CATALOGUE) + 1))


@given(st.permutations(["show", "how", "full", "the", "mounted", "filesystem", "disk", "is"]))
@settings(deadline=None)
def test_the_order_of_the_words_does_not_change_the_ranking(words):
    first = spec().rank(" ".join(words))
    plain = spec().rank("show how full the mounted filesystem disk is")
    assert [r.tool.id for r in first] == [r.tool.id for r in plain]
    assert [r.score for r in first] == pytest.approx([r.score for r in plain])
