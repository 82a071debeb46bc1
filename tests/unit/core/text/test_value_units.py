"""Numbers get the unit that their name announces."""

import time

import pytest

from pulsus.core.text.value_units import short_heading, with_unit


@pytest.mark.parametrize(
    ("name", "number", "shown"),
    [
        ("size_bytes", 1288490188, "1.2 GiB"),
        ("bytes", 0, "0 B"),
        ("bytes", 1023, "1023 B"),
        ("bytes", 1024, "1.0 KiB"),
        ("bytes", 1048575, "1.0 MiB"),
        ("delta_bytes", -2048, "-2.0 KiB"),
        ("rx_bytes_per_second", 3 * 1024**2, "3.0 MiB/s"),
        ("used_percent", 81.53, "81.5 %"),
        ("limit_percent", 90, "90 %"),
        ("loss_percent", 0.004, "0.004 %"),
        ("uptime_seconds", 7512.3, "2 h 5 min"),
        ("seconds", 0.31, "0.31 s"),
        ("offset_seconds", -0.00042, "-0.42 ms"),
        ("age_seconds", 59.97, "1 min"),
        ("age_seconds", 3600, "1 h"),
        ("age_seconds", 200_000, "2 d 7 h"),
        ("average_ms", 12.345, "12.3 ms"),
        ("milliseconds", 1500, "1.5 s"),
        ("errors_per_second", 2.5, "2.5"),
        ("count", 12345678, "12345678"),
        ("load", 0.1 + 0.2, "0.3"),
        ("pid", 4194304, "4194304"),
        ("age_seconds", float("inf"), "inf"),
        ("size_bytes", 10**400, str(10**400)),
    ],
)
def test_a_number_is_shown_in_the_unit_of_its_name(name, number, shown):
    assert with_unit(name, number) == shown


def test_a_timestamp_is_a_moment_and_no_duration(monkeypatch):
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    assert with_unit("timestamp_ms", 1732374000000) == "2024-11-23 15:00:00"
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("size_bytes", "size"),
        ("used_percent", "used %"),
        ("percent", "%"),
        ("bytes", "bytes"),
        ("rx_bytes_per_second", "rx/s"),
        ("age_days", "age_days"),
    ],
)
def test_a_heading_loses_only_the_unit_that_its_cells_show(name, short):
    assert short_heading(name) == short
