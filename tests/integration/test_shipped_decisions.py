"""Decisions on the shipped catalogue for requests that are easily misread."""

import re
from pathlib import Path

import pytest

from pulsus import bootstrap

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def search():
    app = bootstrap.build(ROOT, {"cache_enabled": False})
    parser, searcher = app.parser(), app.searcher(past=False)
    return lambda request: searcher.search(parser.parse(request))


def decided(found):
    return found.choice.policy, [r.tool.name for r in found.choice.chosen]


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("request_text", "tools"),
    [
        ("summarise the matrix m.csv and plot the summary", ["summarize_matrix", "plot_matrix"]),
        ("summarise the matrix and plot the summary", ["summarize_matrix", "plot_matrix"]),
        ("5 biggest files in /etc as a table", ["biggest_files", "markdown_table"]),
    ],
)
def test_a_request_for_two_things_is_a_plan_of_two_steps(search, request_text, tools):
    assert decided(search(request_text)) == ("compose", tools)


@pytest.mark.parametrize(
    "request_text", ["biggest files in /var/log and plot", "show memory and draw a chart"]
)
def test_no_plan_draws_a_value_that_no_step_gives(search, request_text):
    found = search(request_text)
    assert decided(found) == ("generate", [])
    refused = r"plot_matrix cannot serve '[^']*': no earlier step clearly gives 'summary'"
    assert re.search(refused, found.choice.reason)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("df -h", "disk_usage"),
        ("docker ps", "container_list"),
        ("ip route show", "route_table"),
        ("systemctl status nginx", "service_status"),
        ("unzip -l site.zip", "archive_contents"),
        ("crontab -l", "cron_jobs"),
    ],
)
def test_a_read_command_in_a_request_selects_the_matching_tool(search, line, name):
    assert decided(search(line)) == ("select", [name])


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("tar xzf site.tgz", "restore_backup"),
        ("tar czf /backup/site.tgz /srv/site", "create_backup"),
        ("chown -R app:app /srv/app", "set_permissions"),
        ("find /srv/out -mtime +30 -delete", "delete_old_files"),
    ],
)
def test_a_changing_command_selects_the_tool_that_makes_the_change(search, line, name):
    assert decided(search(line)) == ("select", [name])


@pytest.mark.parametrize(
    "line",
    [
        "is everything below /srv/www owned by www-data?",
        "what is Port set to in /etc/ssh/sshd_config",
        "is sync.sh in root's crontab, and with which schedule",
        "which files in /srv/out are older than 30 days",
    ],
)
def test_a_question_never_selects_a_tool_that_changes_things(search, line):
    found = search(line)
    assert [r.tool.kind for r in found.choice.chosen] == ["read"]


@pytest.mark.parametrize(
    "line",
    [
        "ip route add",
        "ip link set eth0 down",
        "docker stop web",
        "systemctl stop nginx",
        "crontab -r",
        "sysctl -w vm.swappiness=10",
        "apt upgrade",
        "terraform plan",
        "kubectl get pods",
        "ip addr show",
    ],
)
def test_a_command_without_a_matching_tool_selects_none(search, line):
    assert decided(search(line)) == ("generate", [])


def test_rows_are_sorted_by_a_column_of_any_name(search):
    assert decided(search("top rows by cpu column")) == ("select", ["top_rows"])
    assert decided(search("top cpu processes")) == ("select", ["top_processes"])
