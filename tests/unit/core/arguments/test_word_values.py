"""Plain words that stand for a value: days, and one row."""

from datetime import datetime, timedelta, timezone

import pytest

from pulsus.core.arguments.filler import fill
from pulsus.core.arguments.inputs import from_schema

NOW = datetime(2026, 3, 1, 0, 30, tzinfo=timezone(timedelta(hours=9)))


def tool(**inputs):
    properties = {
        name: {"type": kind, "default": default, "description": text}
        for name, (kind, default, text) in inputs.items()
    }
    return from_schema(
        {
            "name": "recent_files",
            "description": "List the newest files.",
            "parameters": {"type": "object", "properties": properties},
        }
    )


FILES = tool(
    since=("string", "", "Only files changed at this date or time or later."),
    until=("string", "", "Only files changed before this date or time."),
)
LINES = tool(limit=("integer", 20, "How many lines to show."))


def values(request, of, **more):
    return {v.name: (v.value, v.state) for v in fill(request, of, now=NOW, **more).values}


@pytest.mark.parametrize(
    ("request_text", "since", "until"),
    [
        ("which files were modified today", "2026-03-01", None),
        ("what changed since yesterday", "2026-02-28", None),
        ("files of yesterday", "2026-02-28", "2026-03-01"),
    ],
)
def test_a_day_in_words_is_no_lost_restriction(request_text, since, until):
    found = values(request_text, FILES)
    assert found["since"] == (since, "fill")
    assert found.get("until", (None,))[0] == until


def test_two_days_in_one_request_are_not_guessed():
    assert values("changed yesterday, not today", FILES) == {}


def test_a_day_needs_the_moment_of_the_request():
    assert fill("files changed today", FILES).values == ()


@pytest.mark.parametrize(
    ("request_text", "limit"),
    [
        ("what is the last line of app.log", 1),
        ("show the most recent error message", 1),
        ("the last lines of app.log", None),
        ("the last 5 lines", 5),
    ],
)
def test_one_line_is_asked_for_and_not_the_usual_number(request_text, limit):
    assert values(request_text, LINES).get("limit", (None,))[0] == limit


def test_a_tool_that_changes_something_gets_no_value_from_such_words():
    assert values("delete the files of yesterday", FILES, only_propose=True) == {}


REPEATS = from_schema(
    {
        "name": "duplicate_entries",
        "description": "Find repeated lines or rows in a file.",
        "parameters": {
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "The file."},
                "columns": {
                    "type": "array",
                    "items": {"type": "string"},
                    "default": None,
                    "description": "Names of CSV columns that make two rows equal.",
                },
                "limit": {"type": "integer", "default": 20, "description": "How many to list."},
            },
        },
    }
)


@pytest.mark.parametrize(
    "request_text",
    [
        "does the same sku appear twice in stock.csv",
        "duplicate sku values in stock.csv",
        "duplicates by sku in stock.csv",
        "is any sku listed twice in stock.csv",
        "are there rows with the same sku in play/stock.csv",
        "which sku occurs more than once in stock.csv",
    ],
)
def test_repeated_values_of_one_column_are_not_looked_for_in_whole_rows(request_text):
    """The answer was that nothing is repeated, because whole rows were compared."""
    found = values(request_text, REPEATS)
    assert found["columns"] == (["sku"], "fill")
    assert "limit" not in found


@pytest.mark.parametrize(
    "request_text",
    [
        "does the same line appear twice in stock.csv",
        "duplicate rows in stock.csv",
        "does the same word appear twice in notes.txt",
        "is anything listed twice in stock.csv",
        "does the same name appear twice in notes.txt",
    ],
)
def test_repeated_lines_name_no_column(request_text):
    assert "columns" not in values(request_text, REPEATS)
