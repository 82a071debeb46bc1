"""Ids (docs: run-, route-)."""

import re
from datetime import datetime, timedelta, timezone

import pytest

from pulsus.core.telemetry.ids import route_id, run_id, utc_now
from tests.promotions import NOON


def test_a_run_id_is_the_utc_time_and_six_hex_digits():
    assert run_id(NOON, lambda n: b"\xab\xcd\xef"[:n]) == "run-20260301-120000-abcdef"
    east = NOON.astimezone(timezone(timedelta(hours=9)))
    assert run_id(east, lambda n: bytes(n)) == "run-20260301-120000-000000"


def test_a_naive_time_is_refused():
    with pytest.raises(ValueError, match="aware"):
        run_id(datetime(2026, 3, 1), lambda n: bytes(n))  # noqa: DTZ001 - the point of the test


def test_a_route_id_depends_on_request_and_catalogue_alone():
    one = route_id("disk usage", "d1")
    assert re.fullmatch(r"route-[0-9a-f]{8}", one)
    assert one == route_id("disk usage", "d1")
    assert len({one, route_id("disk usage", "d2"), route_id("disk usag", "ed1")}) == 3


def test_any_text_has_a_route_id():
    assert route_id("\udc80 \x00 τ", "")


def test_now_is_aware():
    assert utc_now().utcoffset() == timedelta(0)
