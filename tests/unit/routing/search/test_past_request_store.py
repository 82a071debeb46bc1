"""A project remembers manifests first, then routes, in one file (ADR 16)."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pulsus.core.memory.feedback_weights import TOLD, weighted_past_requests
from pulsus.core.memory.past_routes import PastRoute
from pulsus.core.memory.request_index import RequestSegment
from pulsus.core.types import Manifest
from pulsus.routing.search import past_request_store
from pulsus.routing.search.past_request_store import MemoryStore
from tests.ranking import tool

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
DISK, FILES = "storage/usage/disk_usage", "storage/usage/biggest_files"
TOOLS = (tool(FILES, "List the biggest files."), tool(DISK, "Show how full each disk is."))
ROUTE = PastRoute(NOON, "run-1", None, "how full are the disks", (DISK,), "accepted")


def routes(count):
    return tuple(
        replace(ROUTE, run_id=f"run-{n}", request=f"find big thing number {n}", tools=(FILES,))
        for n in range(count)
    )


def remembering(folder, now=NOON):
    return MemoryStore(90.0, now, folder)


def counted_anew(monkeypatch):
    """The sizes of the segments that are made from here on."""
    sizes = []
    made = RequestSegment.of

    def of(past, counts, half_life):
        sizes.append(len(past))
        return made(past, counts, half_life)

    monkeypatch.setattr(RequestSegment, "of", of)
    return sizes


def test_a_stored_memory_is_used_and_only_new_routes_are_counted(tmp_path, monkeypatch):
    remembering(tmp_path).memory(TOOLS, routes(20))
    sizes = counted_anew(monkeypatch)
    kept = remembering(tmp_path).memory(TOOLS, routes(21))
    assert sizes == [1]
    anew = MemoryStore(90.0, NOON).memory(TOOLS, routes(21))
    text = "find big thing number 20"
    assert kept.recall(text).keys() == anew.recall(text).keys()
    for tool_id, found in kept.recall(text).items():
        assert found.value == pytest.approx(anew.recall(text)[tool_id].value)
        assert found.text == pytest.approx(anew.recall(text)[tool_id].text)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda r, t: (routes(40), t), id="memory has doubled"),
        pytest.param(lambda r, t: (r[1:], t), id="a route is gone"),
        pytest.param(lambda r, t: ((replace(r[0], request="x y"), *r[1:]), t), id="one was edited"),
        pytest.param(lambda r, t: (r, t[:1]), id="a tool is gone"),
    ],
)
def test_a_memory_of_something_else_is_counted_anew(change, tmp_path, monkeypatch):
    past = routes(20)
    remembering(tmp_path).memory(TOOLS, past)
    past, tools = change(past, TOOLS)
    sizes = counted_anew(monkeypatch)
    remembering(tmp_path).memory(tools, past)
    assert sizes == [len(past)]


def test_a_damaged_file_is_counted_anew(tmp_path, monkeypatch):
    remembering(tmp_path).memory(TOOLS, routes(5))
    (tmp_path / "index" / past_request_store.FILE_NAME).write_bytes(b"{}\nrubbish")
    sizes = counted_anew(monkeypatch)
    remembering(tmp_path).memory(TOOLS, routes(5))
    assert sizes == [5]


def test_the_same_file_fades_as_time_goes_by(tmp_path):
    early = remembering(tmp_path).memory(TOOLS, (ROUTE,)).recall(ROUTE.request)[DISK]
    later = NOON + timedelta(days=180)
    late = remembering(tmp_path, later).memory(TOOLS, (ROUTE,)).recall(ROUTE.request)[DISK]
    assert late.value < early.value
    assert late.text < early.text


def test_requests_of_a_manifest_are_remembered():
    hints = Manifest(Path("/w/tool.yaml"), requests=("is there room left",))
    seeded = replace(TOOLS[1], manifest=hints)
    memory = MemoryStore(90.0, NOON + timedelta(days=9_000)).memory((TOOLS[0], seeded), ())
    assert memory.recall("room left")[DISK].value > 0.5


def test_a_failed_run_says_nothing_and_a_rejected_one_speaks_against():
    failed, rejected = (replace(ROUTE, outcome=outcome) for outcome in ("failed", "rejected"))
    assert list(weighted_past_requests([failed], 90.0)) == []
    (past,) = weighted_past_requests([rejected], 90.0)
    assert (past.right, past.wrong) == ((), (DISK,))


def test_the_last_feedback_on_a_run_counts_like_two_runs():
    first = replace(ROUTE, tools=(FILES,), is_feedback=True)
    last = replace(ROUTE, wrong=(FILES,), is_feedback=True)
    (past,) = weighted_past_requests([first, last], 90.0)
    assert (past.right, past.wrong, past.count) == ((DISK,), (FILES,), TOLD)


def test_feedback_on_a_stored_route_counts_the_memory_again(tmp_path):
    first = replace(ROUTE, tools=(FILES,), is_feedback=True)
    more = (*routes(20), first)
    remembering(tmp_path).memory(TOOLS, more)
    told = remembering(tmp_path).memory(TOOLS, (*more, replace(first, tools=(DISK,))))
    assert max(told.recall(ROUTE.request).items(), key=lambda kv: kv[1].value)[0] == DISK
