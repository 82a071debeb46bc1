"""An upper bound fills no lower bound, and a period without a number is read as one."""

from datetime import UTC, datetime

import pytest

from pulsus.core.arguments.filler import fill
from pulsus.core.arguments.inputs import from_schema

NOW = datetime(2026, 11, 29, 20, 0, tzinfo=UTC)


def tool(name, said, **inputs):
    properties = {n: {"type": t, "description": d, "default": v} for n, (t, d, v) in inputs.items()}
    return from_schema(
        {"name": name, "description": said, "parameters": {"properties": properties}}
    )


BIGGEST = tool(
    "biggest_files",
    "List the largest files anywhere below a folder, biggest first.",
    folder=("string", "Where to look.", "."),
    min_bytes=("integer", "Leave out files smaller than this.", 1),
)
DISKS = tool(
    "disk_usage",
    "Show how full every mounted file system is.",
    limit_percent=("number", "Space use above this many percent is reported. 0 to 100.", 90.0),
)
RECENT = tool(
    "recent_files",
    "List the files below a folder that were changed lately.",
    folder=("string", "Where to look.", "."),
    days=("number", "Only files changed within this many days; of any age when 0.", 0),
    since=("string", "Only files changed at this date or later, ISO 8601.", ""),
)
PORTS = tool(
    "listening_ports",
    "List the ports on which programs listen.",
    port=("integer", "Only this port; 0 means every port.", 0),
)
PORT_RANGE = tool(
    "port_range",
    "List the ports of a range on which programs listen.",
    min_port=("integer", "The lowest port that is shown.", 0),
)


def values(request, of):
    return {v.name: v.value for v in fill(request, of, now=NOW).values}


@pytest.mark.parametrize(
    "words",
    ["under 10 MB", "below 10 MB", "smaller than 10 MB", "up to 10 MB", "no larger than 10 MB"],
)
def test_an_upper_bound_does_not_show_the_larger_files(words):
    assert "min_bytes" not in values(f"biggest files {words} in /var", BIGGEST)


@pytest.mark.parametrize(
    "words", ["bigger than 5 MB but smaller than 10 MB", "between 5 MB and 10 MB", "over 5 MB"]
)
def test_a_lower_bound_takes_the_lower_of_two_amounts(words):
    assert values(f"files {words} in /var", BIGGEST)["min_bytes"] == 5 * 1024**2


@pytest.mark.parametrize(
    "words", ["less than 10 percent free", "at least 20 percent free", "15% free", "below 50%"]
)
def test_a_free_share_is_no_limit_of_the_used_share(words):
    assert values(f"disks with {words}", DISKS) == {}
    assert values("disks over 50 percent", DISKS) == {"limit_percent": 50.0}


def test_an_excluded_bound_counts_as_its_opposite():
    assert "min_bytes" not in values("biggest files in /var except those over 10 MB", BIGGEST)


@pytest.mark.parametrize("words", ["before 2026-01-01", "until 2026-01-01"])
def test_the_end_of_a_period_is_not_its_start(words):
    assert "since" not in values(f"files in /etc changed {words}", RECENT)
    assert values("files in /etc changed since 2026-01-01", RECENT)["since"] == "2026-01-01"


@pytest.mark.parametrize(
    ("words", "days"),
    [("in the last hour", 0.041666667), ("in the last day", 1), ("in the last week", 7)],
)
def test_a_period_without_a_number_is_not_dropped(words, days):
    assert values(f"files in /var changed {words}", RECENT)["days"] == days


@pytest.mark.parametrize(
    ("words", "since"), [("this week", "2026-11-23"), ("this month", "2026-11-01")]
)
def test_a_period_of_the_calendar_gives_its_first_day(words, since):
    assert values(f"files in /var changed {words}", RECENT)["since"] == since


def test_a_tool_that_lists_what_is_too_small_takes_the_upper_bound():
    listed = {"type": "integer", "description": "A backup below this size is listed."}
    left = {"type": "integer", "description": "Leave out files smaller than this."}
    request = "which backups in ./nightly are smaller than 2 MB"
    for described, values in ((listed, {"min_bytes": 2 * 1024 * 1024}), (left, {})):
        of = from_schema({"name": "small", "parameters": {"properties": {"min_bytes": described}}})
        assert {one.name: one.value for one in fill(request, of).filled} == values


@pytest.mark.parametrize(
    "request_",
    [
        "open ports above 1024",
        "open ports below 1024",
        "which ports above 8000 are listening",
        "ports over 1000 open",
        "ports less than 1024 that are open",
        "listening ports greater than 8000",
        "open ports of at least 1024",
        "open ports above port 1024",
        "listening ports between 8000 and 9000",
        "open ports 1024 and above",
        "open ports > 1024",
    ],
)
def test_a_compared_number_is_not_the_one_port(request_):
    assert values(request_, PORTS) == {}


@pytest.mark.parametrize(
    "request_", ["what listens on port 8080", "what listens over port 8080", "is port 8080 open"]
)
def test_a_port_that_is_not_compared_is_used(request_):
    assert values(request_, PORTS) == {"port": 8080}


def test_an_input_that_is_named_as_a_bound_takes_a_compared_port():
    assert values("open ports above min port 1024", PORT_RANGE) == {"min_port": 1024}


def test_a_compared_status_is_neither_the_status_nor_a_number_of_rows():
    summary = tool(
        "access_log_summary",
        "Summarise the requests of a web server log.",
        status=("integer", "Count only requests with this status code, such as 404.", 0),
        top=("integer", "How many addresses and pages to list.", 10),
    )
    assert values("requests with status 404", summary) == {"status": 404}
    assert values("requests with status above 400", summary) == {}
    assert values("requests with status 400 or higher", summary) == {}
