"""Invariants of ranking for every request and catalogue (spec §3, §5)."""

import random
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pulsus.core.compose.selection.choose_policy import PolicyChoice
from pulsus.core.compose.selection.request_split import split_request
from pulsus.core.rankers.lexical_ranker import Ranker
from pulsus.core.rankers.tie_breaks import RankedCandidate, tie_key
from pulsus.core.text.tokens import clean, stems
from pulsus.routing.clarify import apply_answer, clarifying_question
from pulsus.routing.prompt_parser import PromptParser
from pulsus.routing.search.search_result import SearchResult
from tests.example_counts import examples
from tests.ranking import CATALOGUE, tool

INDEX = Ranker.build(CATALOGUE)
PARSER = PromptParser.learn(CATALOGUE)
PLACES = {(t.domain, t.action) for t in CATALOGUE}
WORDS = sorted({w for t in CATALOGUE for w in f"{t.name} {t.summary}".replace("_", " ").split()})

catalogue_words = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
requests = st.one_of(st.text(max_size=200), catalogue_words)


@given(requests)
def test_scores_features_and_p_stay_in_range_and_in_order(request_text):
    found = INDEX.rank(request_text, limit=50)
    assert [r.rank for r in found] == list(range(1, len(found) + 1))
    for r in found:
        assert 0 <= r.score <= 1
        assert 0 <= r.p <= 1
        assert all(0 <= value <= 1 for value in r.features.values())
    assert all(a.p >= b.p for a, b in pairwise(found))


@pytest.mark.parametrize("seed", range(20))
def test_file_order_changes_no_answer(seed):
    shuffled = list(CATALOGUE)
    random.Random(seed).shuffle(shuffled)
    index = Ranker.build(shuffled)
    for request in ("largest files", "show usage", "list open ports and errors", "list"):
        assert index.rank(request) == INDEX.rank(request)


candidates = st.builds(
    RankedCandidate,
    tool=st.builds(
        lambda place, action, name: tool(f"{place}/{action}/{name}"),
        st.sampled_from(["shared", "a", "b"]),
        st.sampled_from(["x", "y"]),
        st.sampled_from(["one", "two"]),
    ),
    features=st.fixed_dictionaries({"history": st.sampled_from([0.0, 0.5])}),
    score=st.sampled_from([0.1, 0.5]),
)


@given(st.lists(candidates, max_size=8, unique_by=lambda c: c.tool.id), st.randoms())
def test_the_order_is_total_and_stable_under_shuffling(found, rng):
    again = list(found)
    rng.shuffle(again)
    assert sorted(again, key=tie_key) == sorted(found, key=tie_key)
    assert len({tie_key(c) for c in found}) == len(found)


@given(st.text(max_size=300))
def test_parsing_never_fails_and_names_only_what_exists(text):
    found = PARSER.parse(text)
    assert found.intent == text
    assert 0 <= found.confidence <= 1
    assert found.domain is None or found.domain in {d for d, _ in PLACES}
    assert found.action is None or (found.domain, found.action) in PLACES


@given(requests, st.text(max_size=30))
def test_any_answer_gives_an_intent_of_the_catalogue(request_text, answer):
    reading = PARSER.read(request_text)
    before = SearchResult(
        INDEX.rank(request_text), (), PolicyChoice("generate", (), "nothing fits"), widened=False
    )
    asked = clarifying_question(reading, before, max_options=4)
    if asked is None:
        return
    assert 1 <= len(asked.options) <= 4
    assert asked.default in (None, *asked.options)
    found, after = apply_answer(reading, before, replace(asked, answer=answer), lambda *_: before)
    assert found.action is None or (found.domain, found.action) in PLACES
    assert 0 <= found.confidence <= 1
    assert {r.tool.id for r in after.candidates} == {r.tool.id for r in before.candidates}


@settings(max_examples=examples(50), suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.lists(st.sampled_from([*WORDS, "and", "then", ",", ".", "as a"]), max_size=14))
@example(["Count", "who", "a"])
def test_clauses_are_distinct_and_sure_or_the_request_is_whole(said):
    text = " ".join(said)
    found = split_request(text, lambda t: INDEX.rank(t, limit=3), floor=0.55)
    if len(found) > 1:
        tops = [c.candidates[0] for c in found]
        assert len({t.tool.id for t in tops}) == len(tops)
        assert all(t.p >= 0.55 for t in tops)
    elif found:
        assert found[0].text == clean(text)


@given(st.text(max_size=200))
def test_cleaning_twice_is_cleaning_once(text):
    assert clean(clean(text)) == clean(text)
    assert stems(clean(text)) == stems(clean(clean(text)))


@given(catalogue_words, st.floats(0, 1), st.floats(0, 1))
def test_ranking_depends_on_nothing_but_its_arguments(request_text, name, doc):
    weights = {"name": name, "doc": doc, "history": 0.2}
    index = replace(INDEX, config=replace(INDEX.config, weights=weights))
    assert index.rank(request_text) == index.rank(request_text)
