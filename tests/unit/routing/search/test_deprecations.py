"""A deprecated tool is selected only where nothing else fits, and not after its sunset."""

from dataclasses import replace
from datetime import date, timedelta

import pytest

from pulsus.core.rankers.lexical_ranker import Ranker
from pulsus.core.storage.records.promotion_records import PromotionRecord
from pulsus.core.telemetry.ids import utc_now
from pulsus.core.types import Catalogue, ParsedIntent
from pulsus.routing.search.deprecations import Deprecations
from pulsus.routing.search.ranking.catalogue_ranking import CatalogueRanking
from pulsus.routing.search.searcher import Searcher
from tests.ranking import CATALOGUE, tool

SUNSET = date(2026, 6, 30)


def asked(one):
    """A request in the tool's own words."""
    return f"{one.name.replace('_', ' ')}: {one.summary}"


def record(one, replacement):
    return PromotionRecord(
        id="rev-20260301-001",
        run_id=None,
        route_id=None,
        name=f"{one.name}.py",
        domain=one.domain or "shared",
        action=one.action,
        description="",
        status="deprecated",
        created_by="pulsus",
        created_at="2026-03-01T12:00:00+00:00",
        version="1.0.0",
        tool_hash="sha256:0",
        event="deprecate",
        replacement=replacement,
        sunset=SUNSET.isoformat(),
    )


def searched(text, today, gone, tools=CATALOGUE):
    index = Ranker.build(tools)
    known = Deprecations.of([record(each, "other/tool/here") for each in gone], today)
    ranking = CatalogueRanking(
        Catalogue(tools[0].path.parent, tools), known.without(index), {}, utc_now()
    )
    late = Searcher(replace(ranking, index=known.without(index, sunset_only=True)), 8)
    searcher = Searcher(ranking, 8, deprecations=known, last_resort=late)
    return searcher.search(ParsedIntent(None, None, text, 0.0))


@pytest.fixture(scope="module")
def wanted():
    """A tool that its own words select."""
    for one in CATALOGUE:
        found = searched(asked(one), SUNSET, [])
        if found.choice.policy == "select" and found.choice.chosen[0].tool is one:
            return one
    raise AssertionError("no tool of the test catalogue is selected by its own words")


def test_a_tool_that_is_not_deprecated_is_selected_without_a_note(wanted):
    assert searched(asked(wanted), SUNSET, []).notes == ()


def test_a_deprecated_tool_is_selected_with_a_note_where_nothing_else_fits(wanted):
    found = searched(asked(wanted), SUNSET, CATALOGUE)
    assert found.choice.chosen[0].tool is wanted
    assert found.notes == (
        f"{wanted.id} is deprecated: use other/tool/here; not selected after 2026-06-30",
    )


def test_after_its_sunset_a_tool_is_never_selected(wanted):
    found = searched(asked(wanted), SUNSET + timedelta(days=1), CATALOGUE)
    assert found.choice.policy == "generate"
    assert found.candidates == ()


def test_while_its_replacement_answers_a_deprecated_tool_is_not_considered(wanted):
    moved = tool("other/place/" + wanted.name, wanted.summary, kind=wanted.kind)
    found = searched(asked(wanted), SUNSET, [wanted], (*CATALOGUE, moved))
    assert found.choice.chosen[0].tool is moved
    assert found.notes == ()
    assert all(ranked.tool is not wanted for ranked in found.candidates)
