"""A tool that is not allowed is never a candidate, however well it fits."""

import pytest

from pulsus.config.settings import AccessConfig
from pulsus.core.rankers.lexical_ranker import Ranker
from pulsus.core.telemetry.ids import utc_now
from pulsus.core.types import Catalogue, ParsedIntent
from pulsus.routing.search.access_filter import AccessFilter, access_filter
from pulsus.routing.search.ranking.catalogue_ranking import CatalogueRanking
from pulsus.routing.search.searcher import Searcher
from tests.ranking import CATALOGUE, tool

INDEX = Ranker.build(CATALOGUE)


def searched(request, **config):
    root = CATALOGUE[0].path.parent
    access = AccessFilter(AccessConfig(**config))
    ranking = CatalogueRanking(Catalogue(root, CATALOGUE), INDEX, {}, utc_now(), access=access)
    return Searcher(ranking, 8).search(ParsedIntent(None, None, request, 0.0))


@pytest.mark.parametrize(
    ("config", "tool_id", "allowed"),
    [
        ({}, "a/b/c", True),
        ({"deny": ("a/*",)}, "a/b/c", False),
        ({"deny": ("a",)}, "a/b/c", True),
        ({"allow": ("x/*",)}, "a/b/c", False),
        ({"allow": ("a/*",), "deny": ("*/c",)}, "a/b/c", False),
        ({"allow": ("a/*",), "deny": ("*/c",)}, "a/b/d", True),
        ({"allow": ()}, "a/b/c", False),
        ({"deny": ("c",)}, "a/b/c", False),
        ({"deny": ("c*",)}, "a/b/cd", False),
        ({"allow": ("c",)}, "a/b/d", False),
        ({"deny": ("b/c",)}, "a/b/c", True),
    ],
)
def test_deny_wins_over_allow(config, tool_id, allowed):
    found = AccessFilter(AccessConfig(**config))
    assert found.allows(tool_id) is allowed
    assert (found.refusal(tool(tool_id)) is None) is allowed


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"deny": ("a/*",)}, "not allowed by access.deny pattern 'a/*'"),
        ({"allow": ("x/*",)}, "allowed by no access.allow pattern of x/*"),
        ({"kinds": ("read",)}, "kind write, --kind read was given"),
    ],
)
def test_a_refusal_names_the_filter(config, reason):
    assert AccessFilter(AccessConfig(**config)).refusal(tool("a/b/c", kind="write")) == reason


def test_settings_that_let_everything_through_cost_nothing():
    assert access_filter(AccessConfig()) is None


def test_a_denied_tool_is_no_candidate_even_by_its_name():
    request = "storage/usage/biggest_files"
    assert searched(request).choice.chosen[0].tool.id == request
    found = searched(request, deny=("storage/usage/*",))
    assert not [r for r in found.candidates if r.tool.id.startswith("storage/usage/")]


def test_a_denied_tool_is_no_step_of_a_plan():
    request = "summarize the matrix, then plot the matrix as a heatmap picture"
    assert searched(request).choice.policy == "compose"
    found = searched(request, deny=("analysis/visualise/*",))
    ids = {r.tool.id for clause in found.subintents for r in clause.candidates}
    assert "analysis/visualise/plot_matrix" not in ids


def test_only_the_kinds_asked_for_compete():
    found = searched("delete old files", kinds=("read",))
    assert found.candidates
    assert {r.tool.kind for r in found.candidates} == {"read"}


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"deny": ("*",)}, "access.deny = ['*']"),
        ({"allow": ("storag/*",)}, "access.allow = ['storag/*']"),
        ({"kinds": ("resolve",)}, "--kind resolve"),
    ],
)
def test_where_no_tool_is_left_the_filter_is_named(config, named):
    found = searched("how full are the disks", **config)
    assert found.filtered
    assert found.choice.reason == f"the filters {named} exclude all {len(CATALOGUE)} tools"


def test_where_some_tools_are_left_but_none_shares_a_word_the_filter_is_named():
    found = searched("how full are the disks", allow=("services/*",))
    assert not found.filtered
    assert found.choice.reason.endswith("is let through by access.allow = ['services/*']")


@pytest.mark.parametrize(
    ("pattern", "meant"),
    [
        ("storage/usage/disk_usge", "storage/usage/disk_usage"),
        ("disk_usge", "storage/usage/disk_usage"),
        ("storag/*", "storage/usage"),
        ("zzzzzz", "`pulsus tools list`"),
    ],
)
def test_a_pattern_without_a_tool_gets_a_suggestion(pattern, meant):
    ids = [t.id for t in CATALOGUE]
    for key in ("deny", "allow"):
        (line,) = AccessFilter(AccessConfig(**{key: (pattern,)})).unmatched(ids)
        assert f"access.{key} pattern {pattern!r} is of no tool" in line
        assert meant in line
    assert AccessFilter(AccessConfig(deny=("disk_usage", "storage/*"))).unmatched(ids) == ()
