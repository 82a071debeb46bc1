"""Past routes and how tools fared (spec §4, §10)."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from pulsus.core.memory import past_routes
from pulsus.core.storage.records import promotion_records
from pulsus.core.storage.records.promotion_target import Target
from pulsus.core.telemetry.redaction import Redactor
from pulsus.core.types import ToolHistory
from pulsus.errors import MetadataCorrupt, StateCorrupt
from tests.promotions import NOON, promoted

ROUTE = past_routes.PastRoute(NOON, "run-1", "route-1", "disk usage", ("s/u/disk",), "accepted")


def recorded(folder, *routes):
    for route in routes:
        past_routes.record_route(folder, route, Redactor())


def test_routes_are_read_back_in_order(tmp_path):
    routes = [ROUTE, replace(ROUTE, outcome="rejected", tools=("a/b/c", "s/u/disk"), route_id=None)]
    recorded(tmp_path, *routes)
    assert past_routes.load_routes(tmp_path) == tuple(routes)


def test_nothing_stored_is_no_history(tmp_path):
    assert past_routes.load_routes(tmp_path / "nowhere") == ()
    assert past_routes.history(promotion_records.read_all(tmp_path / "nowhere"), ()) == {}


def test_a_secret_in_a_request_is_not_kept(tmp_path):
    recorded(tmp_path, replace(ROUTE, request="log in with password=hunter2 please"))
    assert "hunter2" not in (tmp_path / past_routes.FILE_NAME).read_text(encoding="utf-8")


def test_a_row_cut_short_is_ignored_and_repaired_by_the_next(tmp_path):
    recorded(tmp_path, ROUTE)
    path = tmp_path / past_routes.FILE_NAME
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:30])
    assert past_routes.load_routes(tmp_path) == (ROUTE,)
    recorded(tmp_path, ROUTE)
    assert path.read_bytes() == whole * 2


@pytest.mark.parametrize(
    "bad",
    [
        "{",
        "[]",
        "{}",
        json.dumps({"ts": "2026-03-01T12:00:00", "outcome": "accepted"}),
        json.dumps({"ts": "0001-01-01T00:00:00+14:00", "outcome": "accepted"}),
        json.dumps({"ts": "2026-03-01T12:00:00+00:00", "outcome": "great"}),
        json.dumps({"ts": "2026-03-01T12:00:00+00:00", "outcome": "failed", "tools": "a"}),
    ],
)
def test_a_corrupt_row_is_named_with_the_fix(tmp_path, bad):
    recorded(tmp_path, ROUTE)
    with (tmp_path / past_routes.FILE_NAME).open("a", encoding="utf-8") as file:
        file.write(bad + "\n")
    with pytest.raises(StateCorrupt, match=r"accepted\.jsonl: line 2: ") as caught:
        past_routes.load_routes(tmp_path)
    assert "delete that line" in caught.value.hint


def test_only_the_latest_routes_of_a_very_long_file_are_read(tmp_path):
    recorded(tmp_path, replace(ROUTE, request="x" * 5000))
    path = tmp_path / past_routes.FILE_NAME
    path.write_bytes(path.read_bytes() * 1000)
    recorded(tmp_path, ROUTE)
    found = past_routes.load_routes(tmp_path)
    assert found[-1] == ROUTE
    assert 700 < len(found) < 1000


def test_history_counts_promotions_and_outcomes_and_knows_the_last_success(tmp_path):
    promoted(tmp_path, target=Target("s", "u", "disk"))
    late = datetime(2026, 3, 5, 2, 0, tzinfo=timezone(timedelta(hours=4)))
    past = [
        replace(ROUTE, ts=late),
        ROUTE,
        replace(ROUTE, outcome="ran"),
        replace(ROUTE, outcome="failed"),
        replace(ROUTE, outcome="rejected", tools=("a/b/c", "a/b/c")),
    ]
    assert past_routes.history(promotion_records.read_all(tmp_path / "workflows"), past) == {
        "a/b/c": ToolHistory("a/b/c", 0, 0, 1, None),
        "s/u/disk": ToolHistory("s/u/disk", 1, 2, 1, datetime(2026, 3, 4, 22, 0, tzinfo=UTC), 1),
    }


def test_history_of_a_promoted_tool_that_was_never_routed_to(tmp_path):
    promoted(tmp_path, target=Target(None, "u", "disk"))
    assert past_routes.history(promotion_records.read_all(tmp_path / "workflows"), ()) == {
        "shared/u/disk": ToolHistory("shared/u/disk", 1, 0, 0, NOON)
    }


def test_history_is_not_guessed_from_corrupt_records(tmp_path):
    folder = tmp_path / "domains/a/b"
    folder.mkdir(parents=True)
    (folder / "metadata.jsonl").write_text("oops\n", encoding="utf-8")
    with pytest.raises(MetadataCorrupt):
        past_routes.history(promotion_records.read_all(tmp_path), ())
