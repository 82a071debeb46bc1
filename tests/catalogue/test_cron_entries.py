"""Cron entries are added, changed, removed and found."""

import pwd
import shutil
import subprocess

import pytest

from tests.changes import change, tree, undo, unverified
from tests.throwaway_root import in_throwaway_root

SET = "services/schedule/set_cron_entry"
REMOVE = "services/schedule/remove_cron_entry"
READ = "services/schedule/cron_entry"
TABLE = """SHELL=/bin/sh
# nightly
15 3 * * *\troot  /opt/bin/dump.sh --all
@daily daemon /opt/bin/dump.sh --all
"""


@pytest.fixture
def table(tmp_path):
    file = tmp_path / "dump"
    file.write_text(TABLE, encoding="utf-8")
    file.chmod(0o600)
    return file


def test_set_cron_entry_changes_nothing_in_a_dry_run(load, table):
    before = tree(table.parent)
    result = load(SET).run("@hourly", "/opt/bin/dump.sh --all", file=str(table), dry_run=True)
    assert (result["changed"], result["previous_schedule"]) == (True, "15 3 * * *")
    assert load(SET).run("@hourly", "x", file=str(table.parent / "n"), dry_run=True)["created"]
    assert tree(table.parent) == before


def test_a_new_entry_is_added_and_removed_again(table):
    inputs = {"schedule": "*/5 8-18 * * mon-fri", "command": "/opt/x", "file": str(table)}
    result = change(SET, **inputs)
    assert table.read_text(encoding="utf-8") == f"{TABLE}*/5 8-18 * * mon-fri root /opt/x\n"
    assert table.stat().st_mode & 0o777 == 0o600
    assert change(SET, **inputs)["changed"] is False
    undo(SET, inputs, result)
    assert table.read_text(encoding="utf-8") == TABLE
    assert [path.name for path in table.parent.iterdir()] == ["dump"]


def test_a_changed_schedule_gets_its_former_one_back(table):
    inputs = {"schedule": "0  4 * * 7", "command": "/opt/bin/dump.sh --all", "user": "daemon",
              "file": str(table)}  # fmt: skip
    result = change(SET, **inputs)
    assert result["schedule"] == "0 4 * * 7"
    wanted = TABLE.replace("@daily daemon", "0 4 * * 7 daemon")
    assert table.read_text(encoding="utf-8") == wanted
    undo(SET, inputs, result)
    assert table.read_text(encoding="utf-8") == TABLE


def test_a_new_file_is_readable_and_its_undo_deletes_it(tmp_path):
    file = tmp_path / "fresh"
    inputs = {"schedule": "@daily", "command": "/opt/x", "file": str(file)}
    result = change(SET, **inputs)
    assert file.read_text(encoding="utf-8") == "@daily root /opt/x\n"
    assert file.stat().st_mode & 0o777 == 0o644
    undo(SET, inputs, result)
    assert list(tmp_path.iterdir()) == []


def test_remove_cron_entry_leaves_the_rest_and_does_nothing_twice(load, table):
    inputs = {"command": "/opt/bin/dump.sh --all", "file": str(table)}
    before = tree(table.parent)
    assert load(REMOVE).run(**inputs, dry_run=True)["removed_schedule"] == "15 3 * * *"
    assert tree(table.parent) == before
    change(REMOVE, **inputs)
    wanted = TABLE.replace("15 3 * * *\troot  /opt/bin/dump.sh --all\n", "")
    assert table.read_text(encoding="utf-8") == wanted
    assert change(REMOVE, **inputs)["changed"] is False
    assert change(REMOVE, command="x", file=str(table.parent / "no"))["changed"] is False


@pytest.mark.parametrize(
    ("schedule", "message"),
    [
        ("0 3 * *", "has 4 fields"),
        ("@sometimes", "has 1 fields"),
        ("60 * * * *", "minute '60' is out of range"),
        ("* 24 * * *", "hour '24' is out of range"),
        ("* * 0 * *", "day of month '0' is out of range"),
        ("* * * 13 *", "month '13' is out of range"),
        ("* * * * 8", "day of week '8' is out of range"),
        ("5-1 * * * *", "is out of range"),
        ("*/0 * * * *", "is out of range"),
        ("a * * * *", "is not understood"),
        ("* * * mon *", "is not understood"),
        ("1;2 * * * *", "is not understood"),
    ],
)
def test_a_schedule_that_cron_would_not_run_is_refused(load, table, schedule, message):
    with pytest.raises(ValueError, match=message):
        load(SET).run(schedule, "/opt/x", file=str(table))
    assert table.read_text(encoding="utf-8") == TABLE


@pytest.mark.parametrize("schedule", ["0,30 * * jan-mar sun", "1-9/2 0 1 */3 7", "@reboot"])
def test_a_schedule_of_names_steps_and_lists_is_accepted(table, schedule):
    change(SET, schedule=schedule, command="/opt/x", file=str(table))


def test_names_that_cron_ignores_users_that_do_not_exist_and_two_lines_are_refused(load, tmp_path):
    tool = load(SET)
    for name in ("backup.sh", ".hidden", "a~"):
        with pytest.raises(ValueError, match="would be ignored by cron"):
            tool.run("@daily", "/opt/x", file=str(tmp_path / name))
    with pytest.raises(ValueError, match="does not exist here"):
        tool.run("@daily", "/opt/x", "no-such-user", str(tmp_path / "a"))
    for command in ("", "a\n* * * * * root b"):
        with pytest.raises(ValueError, match="has to be one line"):
            tool.run("@daily", command, file=str(tmp_path / "a"))
    (tmp_path / "link").symlink_to("/etc/crontab")
    with pytest.raises(ValueError, match="is a link"):
        tool.run("@daily", "/opt/x", file=str(tmp_path / "link"))
    (tmp_path / "twice").write_text("@daily root x\n@hourly root x\n", encoding="utf-8")
    with pytest.raises(ValueError, match="2 entries run 'x'"):
        tool.run("@weekly", "x", file=str(tmp_path / "twice"))
    with pytest.raises(ValueError, match="2 entries run 'x'"):
        load(REMOVE).run("x", file=str(tmp_path / "twice"))


def test_an_entry_is_unverified_if_it_is_gone(load, table):
    inputs = {"schedule": "@daily", "command": "/opt/x", "file": str(table)}
    result = load(SET).run(**inputs)
    table.write_text(TABLE, encoding="utf-8")
    assert "count" in unverified(SET, inputs, result)


def test_cron_entry_tells_users_apart(load, table):
    tool = load(READ)
    assert tool.run("/opt/bin/dump.sh --all", "daemon", str(table))["schedule"] == "@daily"
    assert tool.run("/opt/bin/dump.sh", "daemon", str(table))["found"] is False
    assert tool.run("x", file=str(table.parent / "absent"))["found"] is False


def crontab_of(user):
    done = subprocess.run(
        ["crontab", "-u", user, "-l"], capture_output=True, text=True, check=False
    )
    return done.stdout


def change_crontabs():
    user = pwd.getpwnam("daemon").pw_name
    inputs = {"schedule": "15 3 * * *", "command": "/opt/bin/dump.sh 100%", "user": user}
    first = change(SET, **inputs)
    added = crontab_of(user)
    second = change(SET, **{**inputs, "schedule": "@daily"})
    changed = crontab_of(user)
    undo(SET, {**inputs, "schedule": "@daily"}, second)
    back = crontab_of(user)
    undo(SET, inputs, first)
    again = change(REMOVE, command=inputs["command"], user=user)["changed"]
    return [added, changed, back, crontab_of(user), again]


@pytest.mark.seconds
@pytest.mark.skipif(shutil.which("crontab") is None, reason="cron is not installed")
def test_the_crontab_of_a_user_is_changed_by_the_program_crontab_and_put_back():
    line = "15 3 * * * /opt/bin/dump.sh 100%\n"
    found = in_throwaway_root(change_crontabs, real_root=True)
    assert found == [line, line.replace("15 3 * * *", "@daily"), line, "", False]
