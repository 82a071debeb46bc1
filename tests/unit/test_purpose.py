"""Requests for a change against tools that only read (spec §6)."""

import pytest

from pulsus.core.rankers.purpose import caution, commands, groups_of
from tests.ranking import tool


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ("delete the largest files", ("delete",)),
        ("please restart nginx", ("restart",)),
        ("I need to kill the process", ("kill",)),
        ("could you just reboot web01?", ("reboot",)),
        ("find old logs and remove them", ("remove",)),
        ("find old logs, then compress them", ("compress",)),
        ("stop nginx; start apache", ("stop", "start")),
        ("add a user called bob", ("add",)),
    ],
)
def test_a_command_for_a_change_is_seen(request_text, expected):
    assert commands(request_text) == expected


@pytest.mark.parametrize(
    "request_text",
    [
        "list deleted files",
        "packages to update",
        "when was the last reboot",
        "which services need a restart",
        "create a report of disk usage",
        "format as a markdown table",
        "write a summary of the log",
        "is the firewall block list long",
        "",
    ],
)
def test_a_description_commands_nothing(request_text):
    assert commands(request_text) == ()


def odds(request_text, subject):
    return caution(commands(request_text), groups_of(request_text), subject)


READ = tool("storage/usage/biggest_files", "List the largest files.", kind="read")
DELETE = tool("storage/clean/delete_files", "Delete old files.", kind="write")
RESTART = tool("services/control/restart_service", "Restart a service.", kind="write")
PLOT = tool("analysis/visualise/plot_matrix", "Plot a matrix.", kind="write")
DEDUPE = tool("shared/rows/unique_rows", "Remove duplicate rows.", kind="read")
UNDECLARED = tool("storage/clean/delete_all", "Delete all.")


@pytest.mark.parametrize(
    ("request_text", "subject"),
    [
        pytest.param("delete the largest files", READ, id="change asked of a reader"),
        pytest.param("show old files", DELETE, id="question put to a deleter"),
        pytest.param("restart nginx", DELETE, id="another change"),
    ],
)
def test_request_and_tool_at_odds_say_why(request_text, subject):
    assert odds(request_text, subject)


@pytest.mark.parametrize(
    ("request_text", "subject"),
    [
        pytest.param("show the largest files", READ, id="question, reader"),
        pytest.param("remove old files", DELETE, id="the same change in another word"),
        pytest.param("restart nginx", RESTART, id="the change itself"),
        pytest.param("show a matrix", PLOT, id="writes, but names no change"),
        pytest.param("remove duplicate rows", DEDUPE, id="changes only the rows it is given"),
        pytest.param("show everything", UNDECLARED, id="kind undeclared"),
    ],
)
def test_request_and_tool_in_accord_raise_no_caution(request_text, subject):
    assert odds(request_text, subject) is None
