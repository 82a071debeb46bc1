"""The golden requests: floors, and the same answers for any order of files."""

import random
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from pulsus import bootstrap
from pulsus.core.rankers.scorer import RankIndex
from pulsus.routing import golden
from pulsus.routing.evaluate import evaluate
from pulsus.routing.prompt_parser import PromptParser

ROOT = Path(__file__).parents[2]
QUERIES = ROOT / "config" / "golden.jsonl"
FLOORS = {"hit_at_1": 0.92, "policy_accuracy": 0.93, "out_of_catalogue_below_tau": 0.90}


@pytest.fixture(scope="module")
def app():
    return bootstrap.build(ROOT, {"cache_enabled": False})


@pytest.fixture(scope="module")
def rows():
    return golden.load_queries(QUERIES)


def answers(app, rows, tools):
    """Policy and chosen tools of every request, over a catalogue found in this order."""
    parser = PromptParser.learn(tools, app.synonyms)
    index = RankIndex.build(tools, app.settings.ranker, synonyms=app.synonyms)
    catalogue = replace(app.catalogue, tools=tuple(tools))
    searcher = replace(app.searcher(), catalogue=catalogue, index=index)
    found = (searcher.search(parser.parse(row.query)) for row in rows)
    return [(f.choice.policy, tuple(r.tool.id for r in f.choice.chosen)) for f in found]


def test_the_golden_requests_are_many_and_mixed(rows):
    kinds = Counter(row.policy for row in rows)
    assert len(rows) >= 300
    assert kinds["compose"] >= 40
    assert kinds["generate"] >= 40
    assert len({row.query for row in rows}) == len(rows)


def test_every_golden_tool_exists(app, rows):
    known = {tool.id for tool in app.catalogue.tools}
    assert {tool for row in rows for tool in row.tools} <= known


@pytest.mark.seconds
def test_the_golden_requests_reach_their_floors(app, rows):
    parser, searcher = app.parser(), app.searcher()
    found = {}

    def rank(query):
        found[query] = searcher.search(parser.parse(query))
        return found[query].candidates

    report = evaluate(
        rows,
        rank,
        lambda query, _: found[query].choice,
        tau=app.settings.ranker.threshold,
        tools=len(app.catalogue.tools),
        index_seconds=0.0,
        seconds=time.perf_counter,
    )
    figures = {name: getattr(report, name) for name in FLOORS}
    assert all(figures[name] >= floor for name, floor in FLOORS.items()), figures


@pytest.mark.seconds
def test_the_order_of_files_changes_no_answer(app, rows):
    # Each order is asked other requests, a third of all; every one of every order is a slow test.
    tools = list(app.catalogue.tools)
    parts = [rows[seed::60] for seed in range(20)]
    expected = iter(answers(app, [row for part in parts for row in part], tools))
    for seed, part in enumerate(parts):
        random.Random(seed).shuffle(tools)
        assert answers(app, part, tools) == [next(expected) for _ in part]


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_the_order_of_files_changes_no_answer_to_any_golden_request(app, rows):
    tools = list(app.catalogue.tools)
    expected = answers(app, rows, tools)
    for seed in range(20):
        random.Random(seed).shuffle(tools)
        assert answers(app, rows, tools) == expected
