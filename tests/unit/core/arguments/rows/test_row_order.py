"""An order in words has the column, the number of rows and the direction that a person means."""

import pytest

from pulsus.core.arguments.rows.row_order import find_order
from tests.unit.core.arguments.rows.shipped_columns import columns_of


def order(tool, text, *, own=True):
    read = find_order(text, columns_of(tool), own=own)
    return (read.column.name if read.column else None, read.count, read.descending)


@pytest.mark.parametrize(
    ("tool", "text", "wanted"),
    [
        ("open_files", "sorted by sockets, 10 rows", ("sockets", 10, None)),
        ("access_log_summary", "5 worst", (None, 5, None)),
        ("prometheus_metrics", "give me the 15 highest by value", ("value", 15, True)),
        ("interface_counters", "the 3 cards with most rx_dropped", ("rx_dropped", 3, True)),
        ("certificate_expiry", "the 6 certs with the fewest days left", ("days_left", 6, False)),
        ("certificate_expiry", "by days_left, lowest first, just 5", ("days_left", 5, False)),
        ("container_stats", "4 with the most memory in bytes", ("memory_bytes", 4, True)),
        ("stale_files", "the 15 heaviest", ("bytes", 15, True)),
        ("stale_files", "the five oldest", ("age_days", 5, True)),
        ("stale_files", "the five newest", ("age_days", 5, False)),
        ("biggest_files", "top 3 by size", ("bytes", 3, None)),
        ("biggest_files", "sort by modified, oldest first", ("modified", None, False)),
        ("archive_contents", "ten biggest members (bytes)", ("bytes", 10, True)),
        ("summarize_json", "20 with the smallest count, ascending", ("count", 20, False)),
        ("metric_delta", "which 8 climb fastest per second?", ("per_second", 8, True)),
        ("top_processes", "sort by cpu", ("cpu_percent", None, None)),
    ],
)
def test_an_order_is_read(tool, text, wanted):
    assert order(tool, text) == wanted


@pytest.mark.parametrize(
    ("tool", "text"),
    [
        ("top_processes", "sort by memory"),  # bytes or percent
        ("interface_counters", "sort by errors"),  # received, sent or new
        ("interface_counters", "that dropped most received packets"),  # two columns are named
    ],
)
def test_a_column_that_is_not_clear_is_not_guessed(tool, text):
    assert order(tool, text)[0] is None


def test_the_number_beside_the_order_counts_before_that_of_an_earlier_step():
    text = "of the 300 busiest paths in /logs/a.gz the ten with most errors"
    assert order("access_log_summary", text, own=False) == ("errors", 10, True)


def test_two_numbers_of_rows_are_no_number():
    assert order("stale_files", "top 5, or top 10")[1] is None


def test_opposite_directions_are_no_direction():
    assert order("stale_files", "sort by bytes ascending, no, descending")[2] is None
