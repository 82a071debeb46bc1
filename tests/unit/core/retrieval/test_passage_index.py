"""Passages are found by their words, and by meaning where vectors are at hand."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulsus.core.retrieval.document_passages import DocSection
from pulsus.core.retrieval.passage_index import FIRST, PassageIndex, from_json, to_json

SECTIONS = [
    DocSection(
        "docs/a.md", "Sourdough", "Feed the starter, then bake the loaf.", (("oven", "bake"),)
    ),
    DocSection(
        "docs/b.md", "Rollback", "Write the journal before a rollback.", (), ("db/undo/undo",)
    ),
    DocSection("docs/c.md", "Disks", "How full each file system is.", (("storage", "usage"),)),
]
SHELF = PassageIndex.of(SECTIONS)


class Fixed:
    """A likeness that was given."""

    def __init__(self, similar):
        self._similar = similar

    def similar(self, text):
        return self._similar


def test_the_passage_that_says_the_words_comes_first():
    (found,) = SHELF.passages("what is written to the journal before a rollback")
    assert (found.source, found.heading, found.tools) == (
        "docs/b.md",
        "Rollback",
        ("db/undo/undo",),
    )


def test_words_that_nothing_says_find_nothing():
    assert SHELF.passages("quantum chromodynamics") == ()
    assert SHELF.passages("") == ()
    assert PassageIndex.of([]).passages("rollback") == ()


def test_one_common_word_of_many_is_not_enough():
    assert SHELF.passages("full employment policy of northern countries") == ()


def test_meaning_finds_a_passage_that_shares_no_word():
    found = PassageIndex(SHELF.cards, SHELF.lengths, SHELF.postings, Fixed({2: 0.7, 0: 0.1}))
    assert [p.source for p in found.passages("room left on drives")] == ["docs/c.md"]


@given(st.text(max_size=60), st.dictionaries(st.integers(0, 2), st.floats(-1, 1)))
def test_scores_lie_in_the_unit_interval_best_first(text, similar):
    for meaning in (None, Fixed(similar)):
        found = PassageIndex(SHELF.cards, SHELF.lengths, SHELF.postings, meaning).passages(text)
        scores = [p.score for p in found]
        assert scores == sorted(scores, reverse=True)
        assert len(found) <= FIRST
        assert all(0 <= score <= 1 for score in scores)


def test_json_gives_back_an_equal_shelf():
    assert from_json(json.loads(json.dumps(to_json(SHELF)))) == SHELF


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param({"lengths": [1]}, id="lengths"),
        pytest.param({"postings": {"x": [[9, 1]]}}, id="a passage that is not there"),
        pytest.param({"postings": {"x": [[0]]}}, id="a short posting"),
        pytest.param({"cards": [["only a source"]]}, id="a short card"),
    ],
)
def test_damaged_json_is_refused(damage):
    with pytest.raises(ValueError, match=r"\w"):
        from_json(json.loads(json.dumps(to_json(SHELF))) | damage)
