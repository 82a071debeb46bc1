"""An index that grew with its catalogue ranks like one made anew; arrays like plain sums."""

import tempfile
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pulsus.config.settings import RankerConfig
from pulsus.core.rankers import doc_feature  # numpy is loaded from here on
from pulsus.core.rankers.lexical import ngram_cosine_numpy, query_matches
from pulsus.core.rankers.lexical_ranker import Ranker
from pulsus.routing.search.ranking_index_cache import load_rank_index
from tests.example_counts import examples
from tests.ranking import CATALOGUE, tool

SAID = (
    "disk",
    "disks",
    "files",
    "file",
    "list",
    "memory",
    "usage",
    "used",
    "logs",
    "errors",
    "wxyz",
)
REQUESTS = (
    "list disk usage",
    "fils used by the dsik",
    "errors in log files",
    "memory",
    "used wxyz",
)

texts = st.lists(st.sampled_from(SAID), max_size=5).map(" ".join)
ids = st.sampled_from([f"{d}/{a}/{n}" for d in ("a", "shared") for a in "xy" for n in SAID[:4]])
kinds = st.sampled_from(["read", "write", None])
catalogues = st.dictionaries(ids, st.tuples(texts, kinds), max_size=12)


def tools_of(rows):
    made = (
        replace(tool(i, text, kind=kind), sha256=f"{text} {kind}")
        for i, (text, kind) in rows.items()
    )
    return sorted(made, key=lambda t: t.id)


def shown(index):
    return [index.rank(request, limit=50) for request in REQUESTS]


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(catalogues, min_size=2, max_size=5))
def test_a_grown_index_ranks_like_a_new_one(versions):
    with tempfile.TemporaryDirectory() as folder:
        for rows in versions:
            tools = tools_of(rows)
            index, warnings = load_rank_index(
                tools, RankerConfig(), features=(), synonyms={}, state_dir=Path(folder)
            )
            assert warnings == ()
            assert shown(index) == shown(Ranker.build(tools))


@contextmanager
def on_arrays():
    """Rank with numpy, even for few postings."""
    with (
        mock.patch.object(query_matches, "MANY", 0),
        mock.patch.object(doc_feature, "ngram_cosine", ngram_cosine_numpy.ngram_cosine),
    ):
        yield


@contextmanager
def plain():
    """Rank without numpy."""
    with (
        mock.patch.object(query_matches, "MANY", 10**9),
        mock.patch.object(doc_feature, "ngram_cosine", doc_feature.plain_ngram_cosine),
    ):
        yield


@pytest.mark.seconds
@settings(max_examples=examples(60), deadline=None)
@given(catalogues, catalogues)
def test_arrays_and_plain_sums_give_the_same_ranking(before, after):
    with tempfile.TemporaryDirectory() as folder:

        def kept(rows):
            return load_rank_index(
                tools_of(rows), RankerConfig(), features=(), synonyms={}, state_dir=Path(folder)
            )[0]

        kept(before)
        index = kept(after)  # has a base and what came since
    with on_arrays():
        arrays = shown(index)
    with plain():
        assert shown(index) == arrays


@given(st.lists(st.sampled_from(SAID + REQUESTS), max_size=8).map(" ".join))
def test_arrays_and_plain_sums_agree_on_real_tools(request_text):
    index = Ranker.build(CATALOGUE, synonyms={"wxyz": ("memory", "errors")})
    with on_arrays():
        arrays = index.rank(request_text, limit=50)
    with plain():
        assert index.rank(request_text, limit=50) == arrays
