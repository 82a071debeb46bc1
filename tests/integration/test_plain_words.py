"""Requests in plain words select the right tool, or none, and never its opposite.

Each group of requests is a failure that a new user met.
"""

import shutil
from pathlib import Path

import pytest

from pulsus.cli.command_session import CommandSession
from pulsus.routing.delivery.route_run import RouteOptions

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    """Return a function from a request to its outcome, over the shipped catalogue."""
    project = tmp_path_factory.mktemp("plain") / "project"
    for folder in ("config", "workflows"):
        shutil.copytree(ROOT / folder, project / folder)
    router = CommandSession(project, "text", -1, {}, False).app.router(None)
    return lambda request: router.route(request, RouteOptions(explain=True))


def tools(outcome):
    return [tool.id for tool in outcome.decision.selected]


@pytest.mark.parametrize(
    ("request_text", "tool"),
    [
        ("how many lines of app.log contain ERROR", "logs/errors/error_counts"),
        ("does backup.tar contain etc/hosts", "backup/archive/archive_contents"),
        ("how many containers are running", "containers/list/container_list"),
    ],
)
def test_a_verb_that_asks_is_no_noun_of_a_domain(ask, request_text, tool):
    assert tools(ask(request_text)) == [tool]


@pytest.mark.parametrize(
    "request_text",
    [
        "files changed in the last 2 days",
        "files modified since yesterday below /srv",
        "delete files changed in the last 2 days in /srv",
    ],
)
def test_a_request_for_changed_files_selects_no_tool_for_unchanged_ones(ask, request_text):
    found = ask(request_text)
    assert {"storage/age/stale_files", "storage/cleanup/delete_old_files"}.isdisjoint(tools(found))


@pytest.mark.parametrize(
    ("request_text", "inputs"),
    [
        ("show the setting workers in the config file", {"key": "workers"}),
        ("what is the value of workers in app.yaml", {"key": "workers", "path": "app.yaml"}),
        ("print the value of workers from app.yaml", {"key": "workers", "path": "app.yaml"}),
        ("which value has workers in app.yaml", {"key": "workers", "path": "app.yaml"}),
        ("what is the timeout in proxy.ini", {"key": "timeout", "path": "proxy.ini"}),
    ],
)
def test_a_question_about_a_setting_reads_it(ask, request_text, inputs):
    found = ask(request_text)
    assert tools(found) == ["config/read/config_value"]
    assert {n: v.value for n, v in found.inputs.items() if v.source == "request"} == inputs


@pytest.mark.parametrize(
    "request_text",
    [
        "show set_config_line",
        "list files to delete in /tmp",
        "print the remove date of user bob",
        "which users would be removed",
        "show me the backup of /etc",
        "what would restore_config do",
        "how many cron jobs were removed",
        "list deleted files",
    ],
)
def test_a_question_never_selects_a_tool_that_writes(ask, request_text):
    assert [t.id for t in ask(request_text).decision.selected if t.kind == "write"] == []


@pytest.mark.parametrize(
    ("request_text", "tool", "name"),
    [
        ("is rsyslog running", "services/status/service_status", "rsyslog"),
        ("is postfix up and running?", "services/status/service_status", "postfix"),
        ("is cron active", "services/status/service_status", "cron"),
        ("which shell does user marta have", "system/users/user_account", "marta"),
    ],
)
def test_a_name_that_the_catalogue_does_not_know_does_not_speak_against_its_tool(
    ask, request_text, tool, name
):
    found = ask(request_text)
    assert tools(found) == [tool]
    assert name in [value.value for value in found.inputs.values()]


def test_rows_of_a_file_are_not_looked_for_by_a_tool_that_does_something_else(ask):
    found = ask("keep rows of orders.csv with amount over 6")
    assert tools(found) == []
    assert "op" not in found.proposed


@pytest.mark.parametrize(
    ("request_text", "steps"),
    [
        (
            "set workers to 16 in app.yaml, then compute its sha256",
            ["config/edit/set_config_line", "shared/hash/hash_file"],
        ),
        (
            "set timeout to 30 in proxy.ini, then check its syntax",
            ["config/edit/set_config_line", "config/lint/lint_config"],
        ),
    ],
)
def test_a_change_of_a_file_is_a_step_of_the_plan(ask, request_text, steps):
    found = ask(request_text)
    assert tools(found) == steps
    assert found.failure is None


@pytest.mark.parametrize(
    "name", ["cron", "@cron", "docker", "disk", "backup", "log", "certbot", "memcached", "ssh"]
)
@pytest.mark.parametrize("form", ["is {} running", "is the {} service running"])
def test_is_name_running_asks_for_a_service_also_if_another_tool_has_the_name(ask, name, form):
    found = ask(form.format(name))
    assert tools(found) == ["services/status/service_status"]
    assert found.inputs["name"].value == name.lstrip("@")


def test_a_question_for_cron_jobs_stays_one(ask):
    assert tools(ask("which cron jobs run")) == ["services/schedule/cron_jobs"]


@pytest.mark.parametrize(
    "request_text",
    ["who logged in recently", "who logged in today", "did anyone log in today", "recent logins"],
)
def test_a_question_for_logins_selects_no_tool_for_files(ask, request_text):
    assert tools(ask(request_text)) == []


@pytest.mark.parametrize("adverb", ["recently", "lately", "today", "now"])
def test_an_adverb_of_time_is_no_folder_and_no_name(ask, adverb):
    for request_text in (f"files changed {adverb}", f"cron jobs of root {adverb}"):
        found = ask(request_text)
        said = [*found.inputs.values(), *found.proposed.values()]
        assert adverb not in [value.value for value in said]


def test_two_services_of_one_question_are_not_dropped_silently(ask):
    found = ask("are nginx and redis running")
    assert found.left_out == ("nginx", "redis")
