"""A condition in words has the column, the operator and the value that a person means, or none."""

import pytest

from pulsus.core.arguments.rows.conditions import find_conditions
from tests.unit.core.arguments.rows.shipped_columns import about, columns_of


def found(tool, text, **options):
    return find_conditions(text, columns_of(tool), about(tool), **options)


def sure(tool, text, **options):
    return [(c.column.name, c.op, c.value) for c in found(tool, text, **options) if c.sure]


SURE = """
disk_usage | keep rows with used_percent over 80 | used_percent > 80
disk_usage | those past 85% full | used_percent > 85
disk_usage | where inode use is over 70 % | inodes_used_percent > 70
disk_usage | mounts with less than 2 GB free | free_bytes < 2147483648
disk_usage | over 60 percent of their inodes used | inodes_used_percent > 60
top_processes | keep user www-data | user == www-data
top_processes | only those owned by www-data | user == www-data
top_processes | not owned by root | user != root
top_processes | everything but user root | user != root
top_processes | filter on user root or postgres | user in ['root', 'postgres']
top_processes | those holding over 1 GiB | memory_bytes > 1073741824
top_processes | keep name matching ^java | name matches ^java
top_processes | memory percent greater than or equal to 2.5 | memory_percent >= 2.5
cron_jobs | whose command contains rsync | command contains rsync
listening_ports | only where reach is everywhere | reach == everywhere
listening_ports | only reach this machine | reach == this machine
verify_checksums | files whose status is not ok | status != ok
verify_checksums | the files that are missing | status == missing
authorized_keys | weak ones only (weak = true) | weak == True
authorized_keys | drop the weak ones | weak == False
duplicate_entries | only where count is at least 5 | count >= 5
duplicate_entries | keep a count of 5 or higher | count >= 5
duplicate_entries | that show up more than 3 times | count > 3
open_files | more than 500 sockets open | sockets > 500
open_files | 500 or more sockets | sockets >= 500
container_list | keep exit code 137 (oom) | exit_code == 137
container_list | that aren't healthy | health != healthy
container_log_summary | but drop anything with a count below 10 | count >= 10
error_counts | the ones whose message says 'timeout' | message contains timeout
log_window | minus those whose text has 'healthz' in it | text not_contains healthz
prometheus_metrics | with 'lag' in the name | name contains lag
access_log_summary | only paths starting with /v2/ | path starts_with /v2/
access_log_summary | the ones beginning with /api/v2 | path starts_with /api/v2
access_log_summary | paths with 10+ errors | errors >= 10
lint_config | drop the warnings i.e. severity error only | severity == error
lint_config | errors only, no warnings | severity == error
risky_permissions | skip setgid | risk != setgid
risky_permissions | world writable only | risk == world_writable
stuck_processes | zombies only (not the D ones) | state == zombie
stuck_processes | that started more than an hour ago | age_seconds > 3600
backup_freshness | only the series which aren't ok | ok == False
backup_freshness | older than 2 days | age_hours > 48
backup_freshness | series that are not ok (30 hours is our limit) | ok == False
certificate_expiry | expired ones | state == expired
certificate_expiry | less than three weeks left | days_left < 21
tcp_latency | attempts that took longer than 40 ms | milliseconds > 40
local_users | with root rights | root_rights == True
local_users | whose pasword is locked | password == locked
local_users | shell equal to /bin/bash | shell == /bin/bash
pending_updates | pacakges beginning with linux- | package starts_with linux-
mount_table | options contain noexec | options contains noexec
mount_table | read only mounts | read_only == True
env_diff | only missing and extra | status in ['missing', 'extra']
stale_files | bigger than 100 MB | bytes > 104857600
kernel_parameters | expected is not empty | expected not_empty None
"""


@pytest.mark.parametrize("line", SURE.strip().splitlines())
def test_a_condition_is_read_with_its_column_operator_and_value(line):
    tool, text, wanted = (part.strip() for part in line.split("|"))
    assert [f"{c} {op} {value}" for c, op, value in sure(tool, text)] == [wanted]


@pytest.mark.parametrize(
    ("tool", "text"),
    [
        ("disk_usage", "where it matters"),
        ("disk_usage", "above 80 %"),  # two columns of percents
        ("disk_usage", "used_percent between 50 and 80"),
        ("container_stats", "memory over 5"),  # bytes or percent
        ("interface_counters", "dropped > 0"),  # received or sent
        ("access_log_summary", "paths are long"),
        ("error_counts", "message contains connection refused"),  # where does the text end
        ("top_processes", "path lies in /srv"),
        ("top_processes", "name contains java or python"),
        ("disk_usage", "used_percent over 80 megabytes"),
        ("memory_summary", "those above the 80 mark"),
        ("authorized_keys", "weak keys below 2048"),  # bits are meant, and not named
        ("top_processes", "user root and cpu_percent between 5 and 10"),
    ],
)
def test_a_condition_that_is_not_clear_is_never_filled(tool, text):
    assert sure(tool, text) == []


def test_a_word_that_changes_the_meaning_of_a_column_makes_the_condition_doubtful():
    assert [one.sure for one in found("top_processes", "free memory below 10%")] == [False]


def test_a_value_that_belongs_to_another_column_is_not_compared_with_the_nearest_one():
    # "series" is a column too.
    assert sure("backup_freshness", "series that are not ok") == [("ok", "==", False)]


def test_two_conditions_are_both_returned():
    text = "sub is running and enabled is disabled"
    assert len(found("service_status", text)) == 2


def test_outside_its_clause_a_condition_names_its_column():
    assert found("stuck_processes", "more than an hour", named=True) == []
    assert found("stuck_processes", "age_seconds over 60", named=True)


def test_the_words_of_a_condition_are_its_place_in_the_text():
    text = "please keep only used_percent over 80 today"
    (one,) = found("disk_usage", text)
    assert text[one.start : one.end] == "used_percent over 80"


@pytest.mark.parametrize(
    "text", ["failed logins per user root", "count them per invalid user", "for each user root"]
)
def test_words_that_group_rows_leave_no_row_out(text):
    assert found("failed_logins", text) == []


def test_a_condition_in_a_clause_that_groups_rows_still_counts():
    assert sure("failed_logins", "per source and keep attempts over 3") == [("attempts", ">", 3)]
