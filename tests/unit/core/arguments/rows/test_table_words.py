"""A table has the columns and the title that a request names, and no others."""

import pytest

from pulsus.core.arguments.rows.table_words import find_columns, find_title
from tests.unit.core.arguments.rows.shipped_columns import columns_of


def columns(tool, text, *, own=True):
    return find_columns(text, columns_of(tool), own=own)[0]


@pytest.mark.parametrize(
    ("tool", "text", "wanted"),
    [
        (
            "backup_freshness",
            "a table with series, age_hours and problems",
            "series age_hours problems",
        ),
        ("local_users", "table of user uid and home", "user uid home"),
        ("local_users", "in a table: user, uid, shell", "user uid shell"),
        ("cron_jobs", "as table (schedule, command)", "schedule command"),
        ("mount_table", "as a table, columns mount + device", "mount device"),
        ("disk_usage", "a table w/ mount and inodes_used_percent", "mount inodes_used_percent"),
        ("env_diff", "in a table with name and status cols for PAY-902", "name status"),
        ("container_stats", "list name and pids only in a table", "name pids"),
        (
            "certificate_expiry",
            "with subject, not_after and days_left",
            "subject not_after days_left",
        ),
        ("listening_ports", "md table with port, program and pid please", "port program pid"),
        ("mount_table", "table, only the column mount", "mount"),
    ],
)
def test_the_listed_columns_are_read_in_order(tool, text, wanted):
    assert columns(tool, text) == wanted.split()


@pytest.mark.parametrize(
    ("tool", "text"),
    [
        ("local_users", "a table for the user list"),
        ("local_users", "a table with user, foo and shell"),  # foo is no column
        ("local_users", "as a markdown table"),
        ("disk_usage", "the mount with the error as a table"),
    ],
)
def test_words_that_are_no_list_of_columns_leave_all_columns(tool, text):
    assert columns(tool, text) == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("markdown table titled 'Patch window' -> /tmp/patch.md", "Patch window"),
        ("as table, headline 'prod vs stage', write it", "prod vs stage"),
        ("table under the title “Key cleanup” please", "Key cleanup"),
        ("as a table headed Night shift", "Night shift"),
        ("table called Edge9 noise; drop into /tmp/a.md", "Edge9 noise"),
        ("table titled Where did /var go", "Where did /var go"),
    ],
)
def test_a_title_is_read_as_it_is_written(text, wanted):
    found = find_title(text)
    assert found is not None
    assert (found.text, found.sure) == (wanted, True)


def test_a_title_whose_end_is_not_clear_is_doubtful():
    found = find_title("table titled Disks and save it")
    assert found is not None
    assert not found.sure


def test_a_ticket_number_is_no_title():
    assert find_title("as table for SEC-912") is None
