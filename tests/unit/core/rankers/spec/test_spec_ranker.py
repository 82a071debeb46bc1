"""The specification's ranking (§4, §5): worked examples, τ, tie-breakers, filters."""

import functools
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pulsus.config.settings import RankerConfig
from pulsus.core.rankers.spec.spec_ranker import SpecRanker
from pulsus.core.types import Catalogue, ParsedIntent, ToolHistory
from pulsus.routing.search.ranking.catalogue_ranking import CatalogueRanking
from pulsus.routing.search.searcher import Searcher
from tests.ranking import CATALOGUE, tool

NOW = datetime(2026, 3, 1, tzinfo=UTC)
DISK, FILES, MEMORY = "storage/usage/disk_usage", "storage/usage/big_files", "memory/usage/memory"
TOOLS = (
    tool(DISK, "Show disk space.", kind="read"),
    tool(FILES, "List big files.", kind="read"),
    tool(MEMORY, "Show memory.", kind="write"),
)


@functools.cache
def spec():
    return SpecRanker.build(TOOLS)


def served(tool_id, accepted, *, failed=0, days_ago=0):
    last = NOW - timedelta(days=days_ago)
    return {tool_id: ToolHistory(tool_id, 0, accepted, failed, last)}


def ids(found):
    return [ranked.tool.id for ranked in found]


def search(tools, request, history=None, config=None):
    index = SpecRanker.build(tools, config)
    catalogue = Catalogue(Path("/w"), index.tools)
    searcher = Searcher(CatalogueRanking(catalogue, index, history or {}, NOW), 8)
    return searcher.search(ParsedIntent(None, None, request, 0.0))


def test_the_score_is_the_weighted_sum_of_the_specification():
    # "show disk", without history. Names (test_features.py): disk usage 12/19, big files 6/18,
    # memory: only "o" is common with "disk show", 2·1/15. Docs: 0.782408, 0, 0.366447.
    #   disk_usage 0.40 · 0.631579 + 0.40 · 0.782408 = 0.252632 + 0.312963 = 0.565595
    #   memory     0.40 · 0.133333 + 0.40 · 0.366447 = 0.053333 + 0.146579 = 0.199912
    #   big_files  0.40 · 0.333333 + 0.40 · 0        = 0.133333
    found = spec().rank("show disk")
    assert ids(found) == [DISK, MEMORY, FILES]
    assert [r.score for r in found] == pytest.approx([0.565595, 0.199912, 0.133333], abs=1e-6)
    assert [r.p for r in found] == [r.score for r in found]
    assert found[0].features == pytest.approx(
        {"name": 12 / 19, "doc": 0.782408, "history": 0.0}, abs=1e-6
    )
    assert dict(found[0].weights) == {"name": 0.4, "doc": 0.4, "history": 0.2}


def test_history_lifts_a_tool_over_tau():
    # 8 accepted of 8 + 2 trials at zero is 0.8; 0.20 · 0.8 = 0.16.
    #   0.565595 + 0.16 = 0.725595, above τ = 0.60; without the history it is below.
    # After one half-life (90 days) the history is 0.4: 0.565595 + 0.08 = 0.645595.
    assert search(TOOLS, "show disk").choice.policy == "generate"
    found = search(TOOLS, "show disk", served(DISK, 8))
    assert found.choice.policy == "select"
    assert found.candidates[0].score == pytest.approx(0.725595, abs=1e-6)
    old = search(TOOLS, "show disk", served(DISK, 8, days_ago=90))
    assert old.candidates[0].score == pytest.approx(0.645595, abs=1e-6)


def test_failures_lower_the_history():
    # 8 / (8 + 6 + 2) = 0.5
    found = spec().rank("show disk", history=served(DISK, 8, failed=6), now=NOW)
    assert found[0].features["history"] == pytest.approx(0.5)


def test_weights_and_tau_come_from_the_settings():
    # Only the name counts: 12/19 = 0.631579, and the weights are divided by their sum.
    config = RankerConfig(weights={"name": 3.0, "doc": 0.0, "history": 0.0}, threshold=0.63)
    found = search(TOOLS, "show disk", config=config)
    assert found.candidates[0].score == pytest.approx(12 / 19)
    assert found.choice.policy == "select"
    above = RankerConfig(weights=config.weights, threshold=0.64)
    assert search(TOOLS, "show disk", config=above).choice.policy == "generate"


def test_two_good_clauses_are_composed():
    config = RankerConfig(weights={"name": 1.0, "doc": 0.0, "history": 0.0})
    found = search(TOOLS, "show the disk usage, then show the memory", config=config)
    assert found.choice.policy == "compose"
    assert ids(found.choice.chosen) == [DISK, MEMORY]


@pytest.mark.parametrize(
    ("winner", "loser", "history", "reason"),
    [
        pytest.param(
            tool("d/a/same"),
            tool("shared/a/same", path=Path("/w/same.py")),
            {},
            "domain tool over shared tool",
            id="domain",
        ),
        pytest.param(
            tool("d/b/same", path=Path("/w/deep/down/same.py")),
            tool("d/a/same", path=Path("/w/same.py")),
            served("d/b/same", 4),
            "higher history",
            id="history",
        ),
        pytest.param(
            tool("d/b/same", path=Path("/w/same.py")),
            tool("d/a/same", path=Path("/w/deep/same.py")),
            {},
            "shallower path",
            id="path",
        ),
        pytest.param(
            tool("d/b/same", path=Path("/w/x/a.py")),
            tool("d/a/same", path=Path("/w/x/b.py")),
            {},
            "lexicographic by filename",
            id="file name",
        ),
    ],
)
def test_equal_scores_are_ordered_by_the_tie_breakers_of_the_spec(winner, loser, history, reason):
    config = RankerConfig(weights={"name": 0.5, "doc": 0.5, "history": 0.0})
    for tools in ((winner, loser), (loser, winner)):
        found = SpecRanker.build(tools, config).rank("same", history=history, now=NOW)
        assert ids(found) == [winner.id, loser.id]
        assert found[0].score == found[1].score
        assert found[0].tie_break == reason


def test_an_explanation_names_the_words_and_the_costliest_feature():
    first, second, third = spec().rank("show disk please")
    assert first.matched == {"name": ("disk",), "doc": ("show", "disk")}
    assert first.unmatched == ("please",)
    assert first.signals["coverage"] == pytest.approx(2 / 3)
    # doc costs 0.40 · (0.782408 - 0.366447) = 0.166, the name 0.40 · (0.57 - 0.22) = 0.14
    assert second.why_not == f"doc 0.37 against 0.78 of {DISK}"
    assert third.unmatched == ("show", "disk", "please")


def test_an_anti_intent_lowers_the_doc_feature():
    # The request says both words of the anti-intent: 0.5 is taken from 0.782408 - but another
    # word in the catalogue changes no count here, because anti-intents are no keywords.
    shy = tool(DISK, "Show disk space.", anti_intents=("show disk",))
    found = SpecRanker.build((shy, *TOOLS[1:])).rank("show disk")
    assert found[0].features["doc"] == pytest.approx(0.282408, abs=1e-6)


class Meaning:
    def similar(self, text):
        return {0: 1.0, 1: -0.5}


def test_embeddings_are_a_half_of_the_doc_feature():
    # In id order the tools are memory, big_files, disk_usage; a negative cosine counts as 0.
    #   memory 0.5 · 0.366447 + 0.5 · 1 = 0.683224    disk_usage 0.5 · 0.782408 = 0.391204
    found = SpecRanker.build(TOOLS, dense=Meaning()).rank("show disk")
    doc = {r.tool.id: r.features["doc"] for r in found}
    assert doc == pytest.approx({MEMORY: 0.683224, FILES: 0.0, DISK: 0.391204}, abs=1e-6)


class Loud:
    name = "loud"

    def __call__(self, intent, tool):
        return 7.0 if tool.id == FILES else -1.0


def test_a_plugin_feature_counts_with_its_weight_within_bounds():
    config = RankerConfig(weights={"name": 0.0, "doc": 0.0, "history": 0.0, "loud": 1.0})
    found = SpecRanker.build(TOOLS, config, features=[Loud()]).rank("show disk")
    assert (found[0].tool.id, found[0].score, found[1].score) == (FILES, 1.0, 0.0)
    with pytest.raises(ValueError, match="two ranking features are called loud"):
        SpecRanker.build(TOOLS, features=[Loud(), Loud()])


def test_filters_leave_a_tool_out_and_keep_the_scores_of_the_others():
    scores = {r.tool.id: r.score for r in spec().rank("show disk")}
    for found in (
        spec().rank("show disk", without=[DISK]),
        spec().rank("show disk", tools=[FILES, MEMORY]),
        spec().rank("show disk", allowed=lambda tool_id: tool_id != DISK),
        spec().hiding([DISK]).rank("show disk"),
    ):
        assert ids(found) == [MEMORY, FILES]
        assert [r.score for r in found] == [scores[MEMORY], scores[FILES]]
        assert [r.rank for r in found] == [1, 2]
    assert ids(spec().rank("show disk", kinds=["write"])) == [MEMORY]
    assert spec().rank("show disk", tools=[]) == ()


def test_an_included_tool_is_shown_with_its_own_rank_beyond_the_limit():
    index = SpecRanker.build(CATALOGUE)
    every = index.rank("show disk usage", limit=len(CATALOGUE))
    assert len(every) == len(CATALOGUE)
    last = every[-1]
    found = index.rank("show disk usage", limit=2, include=[last.tool.id])
    assert [(r.tool.id, r.rank) for r in found] == [(r.tool.id, r.rank) for r in (*every[:2], last)]


def test_history_without_a_time_is_an_error():
    with pytest.raises(ValueError, match="give `now`"):
        spec().rank("show disk", history=served(DISK, 1))
