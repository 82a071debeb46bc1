"""Meaning and hints take nothing from what a request's words say."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulsus.core.types import Passage
from pulsus.routing.intent.folder_priors import apply_doc_prior, apply_embedding_prior
from pulsus.routing.prompt_parser import PromptParser
from tests.ranking import tool

PLACES = (("net", "ports"), ("storage", "usage"), (None, "convert"))
unit = st.floats(0, 1)
shares = st.lists(unit, min_size=3, max_size=3).map(
    lambda v: {p: s / max(1.0, sum(v)) for p, s in zip(PLACES, v, strict=True)}
)
similar = st.dictionaries(st.integers(0, 2), st.floats(-1, 1), max_size=3)
passages = st.lists(
    st.builds(
        Passage,
        source=st.just("docs/a.md"),
        heading=st.just(""),
        score=unit,
        places=st.lists(st.sampled_from((*PLACES, ("no", "where"))), max_size=3).map(tuple),
    ),
    max_size=3,
)


@given(shares, similar, passages)
def test_no_folder_is_ever_less_likely_than_its_words_make_it(found, likeness, told):
    leaned = apply_doc_prior(apply_embedding_prior(found, PLACES, likeness), PLACES, told)
    assert all(leaned[place] >= share for place, share in found.items())


@given(shares, similar, passages)
def test_shares_never_exceed_one_and_name_only_known_folders(found, likeness, told):
    leaned = apply_doc_prior(apply_embedding_prior(found, PLACES, likeness), PLACES, told)
    assert sum(leaned.values()) <= 1 + 1e-9
    assert set(leaned) <= set(PLACES)


@given(shares, passages)
def test_a_hint_never_unseats_a_folder_that_words_make_likelier_than_not(found, told):
    leaned = apply_doc_prior(found, PLACES, told)
    for place, share in found.items():
        if share > 0.5:
            assert max(leaned, key=lambda p: leaned[p]) == place


TOOLS = [
    tool("net/ports/open_ports", "List the listening sockets."),
    tool("storage/usage/disk_usage", "Show how full each file system is."),
]


class Fixed:
    """Likeness and passages that were given."""

    def __init__(self, similar=None, passages=()):
        self._similar = similar or {}
        self._passages = tuple(passages)

    def similar(self, text):
        return self._similar

    def passages(self, text):
        return self._passages


def test_meaning_finds_the_folder_that_no_word_names():
    bare = PromptParser.learn(TOOLS).parse("how much room is left")
    meant = replace(PromptParser.learn(TOOLS), meaning=Fixed({0: 0.1, 1: 0.55}))
    assert bare.domain is None
    found = meant.parse("how much room is left")
    assert (found.domain, found.action) == ("storage", "usage")
    assert found.confidence > 0.55


def test_likeness_that_is_vague_says_nothing():
    meant = replace(PromptParser.learn(TOOLS), meaning=Fixed({0: 0.19, 1: 0.15}))
    assert meant.parse("how much room is left").confidence == 0


def test_exact_words_keep_their_folder_whatever_meaning_says():
    words = PromptParser.learn(TOOLS).parse("disk usage of the storage file system")
    meant = replace(PromptParser.learn(TOOLS), meaning=Fixed({0: 0.9, 1: 0.1}))
    found = meant.parse("disk usage of the storage file system")
    assert (found.domain, found.action) == (words.domain, words.action) == ("storage", "usage")
    assert found.confidence >= words.confidence


def test_a_hint_picks_a_folder_without_raising_confidence():
    hint = Passage("docs/a.md", "Room", 1.0, (("storage", "usage"),))
    reading = replace(PromptParser.learn(TOOLS), library=Fixed(passages=[hint])).read(
        "how much room is left"
    )
    assert (reading.intent.domain, reading.intent.action) == ("storage", "usage")
    assert reading.intent.confidence == 0
    assert reading.passages == (hint,)


@pytest.mark.parametrize("score", [0.0, 0.4, 1.0])
def test_a_hint_never_carries_a_request_over_the_confidence_threshold(score):
    hint = Passage("docs/a.md", "Room", score, (("storage", "usage"),))
    for text in ("list", "storage", "file sockets", "nothing known", "usage of sockets"):
        plain = PromptParser.learn(TOOLS).parse(text)
        hinted = replace(PromptParser.learn(TOOLS), library=Fixed(passages=[hint])).parse(text)
        assert hinted.confidence <= max(plain.confidence, 0)
