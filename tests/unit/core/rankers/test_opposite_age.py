"""A request for files that changed lately does not get a tool for files that did not change."""

from dataclasses import replace

import pytest

from pulsus.core.rankers.opposite_age import age_asked_for, age_mismatch
from tests.ranking import tool

STALE = replace(
    tool("storage/age/stale_files"),
    summary="Find files below a folder that nobody changed for longer than N days, oldest first.",
)
FRESH = replace(
    tool("storage/age/touched_files"), summary="List the files that changed within the last N days."
)


@pytest.mark.parametrize(
    ("request_text", "age"),
    [
        ("files changed in the last 2 days", "recent"),
        ("which files were modified today in /srv", "recent"),
        ("what was written to /var/log since yesterday", "recent"),
        ("logs newer than an hour", "recent"),
        ("find /etc -mtime -1", "recent"),
        ("find /etc -newer /etc/fstab", "recent"),
        ("find /srv -mtime +90", "old"),
        ("find /srv -mtime 90", None),
        ("files not changed in the last 30 days", "old"),
        ("files that haven't been accessed in the last year", "old"),
        ("untouched for 200 days", "old"),
        ("files older than a week", "old"),
        ("files last changed more than 60 days ago", "old"),
        ("logs older than a week that changed today", None),
        ("show what changed between two documents", None),
        ("when was nginx last restarted", None),
    ],
)
def test_the_age_that_a_request_asks_for(request_text, age):
    assert age_asked_for(request_text) == age


def test_a_tool_for_old_files_is_at_odds_with_a_request_for_changed_ones():
    assert age_mismatch("recent", STALE) == (
        "the request asks for what changed lately, the tool finds what stayed unchanged for long"
    )
    assert age_mismatch("old", FRESH)
    assert age_mismatch("old", STALE) is None
    assert age_mismatch("recent", FRESH) is None
    assert age_mismatch(None, STALE) is None
    assert age_mismatch("recent", tool("storage/usage/biggest_files")) is None
