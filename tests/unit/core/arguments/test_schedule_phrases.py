"""Schedules and commands in plain words, for a cron entry."""

import pytest

from pulsus.core.arguments.contract_inputs import from_arguments
from pulsus.core.arguments.schedule_phrases import find_command, find_schedule
from pulsus.core.arguments.write_choices import propose_write_choices
from pulsus.core.types import ArgSpec


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("every night at 3:30", "30 3 * * *"),
        ("each day at 6 pm", "0 18 * * *"),
        ("daily at midnight", "0 0 * * *"),
        ("every 15 minutes", "*/15 * * * *"),
        ("every 6 hours", "0 */6 * * *"),
        ("every hour", "0 * * * *"),
        ("every Monday at 7:05", "5 7 * * 1"),
        ("every weekday at noon", "0 12 * * 1-5"),
        ("monthly", "0 0 1 * *"),
        ("every 60 minutes", "0 * * * *"),
        ("at 2 every night", "0 2 * * *"),
        ("at 6:30 each morning", "30 6 * * *"),
    ],
)
def test_words_for_a_time_become_the_fields_of_cron(text, fields):
    found = find_schedule(f"run /opt/dump {text}, please")
    assert found is not None
    assert found.value == fields


@pytest.mark.parametrize(
    "text",
    [
        "every 7 minutes",  # cron would begin anew each hour
        "every 0 minutes",
        "every 61 minutes",
        "every day at 25:00",
        "every day at 13 pm",
        "every hour at 3:30",
        "every day and every week",
        "every morning",
        "every morning at 3 pm",
        "at 2 every night at 3",
        "once",
    ],
)
def test_a_time_that_cron_cannot_say_is_not_guessed(text):
    assert find_schedule(text) is None


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("that runs /usr/local/bin/cleanup every night", "/usr/local/bin/cleanup"),
        ('run "tar -czf /a.tgz /b" weekly', "tar -czf /a.tgz /b"),
        ("executes ./job.sh --all at noon", "./job.sh --all"),
        ("start /opt/x.sh daily", "/opt/x.sh"),
        ("schedule /opt/r.py for every monday", "/opt/r.py"),
        ("remove the cron job for /opt/x.sh", "/opt/x.sh"),
        ("delete the crontab line of ./x.sh", "./x.sh"),
        ("unschedule /opt/x.sh", "/opt/x.sh"),
        ("remove the cron job of /etc/cron.d/x", None),
        ("runs every night", None),
        ("runs well", None),
    ],
)
def test_only_words_that_look_like_a_command_are_one(text, command):
    found = find_command(text)
    assert (found.value if found else None) == command


def test_the_command_of_a_cron_entry_is_not_taken_as_its_file():
    inputs = from_arguments(
        [
            ArgSpec("schedule", "str", True, None, "When: `15 3 * * *`, or @daily."),
            ArgSpec("command", "str", True, None, "What to run, in one line."),
            ArgSpec("file", "str", False, "''", "A crontab."),
        ],
        "set_cron_entry",
        "Add a cron job.",
    ).inputs
    found = propose_write_choices("add a job that runs /opt/dump every day at 6:15", inputs)
    assert {one.name: one.value for one in found} == {
        "schedule": "15 6 * * *",
        "command": "/opt/dump",
    }
