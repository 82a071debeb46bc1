"""A name that a request says is neither dropped nor replaced by a path."""

import pytest

from pulsus.core.arguments.filler import fill
from pulsus.core.arguments.inputs import from_schema
from pulsus.routing.inputs.unfollowed_names import find_unfollowed_names


def tool(name, said, /, **inputs):
    properties = {
        n: {"type": "string", "description": d, "default": v} for n, (d, v) in inputs.items()
    }
    return from_schema(
        {"name": name, "description": said, "parameters": {"properties": properties}}
    )


CRON = tool("cron_jobs", "Show cron jobs.", user=("The user whose crontab is read.", "root"))
CREATE = tool("create_user", "Create a user.", user=("The login name.", ""))
STATUS = tool("service_status", "Show services.", name=("Only services with this name.", ""))
OPEN = tool("open_files", "Show open files of processes.", proc=("Where processes are.", "/proc"))
LATENCY = tool("tcp_latency", "Measure the latency to a host.", host=("The host.", ""))


def values(request, of):
    return {v.name: v.value for v in fill(request, of).values}


def filled(request, of):
    return {v.name: v.value for v in fill(request, of).filled}


@pytest.mark.parametrize("name", ["www-data", "backup7", "jan"])
def test_the_jobs_of_another_user_are_not_shown(name):
    assert filled(f"show cron jobs of user {name}", CRON) == {"user": name}


def test_a_path_is_no_user():
    assert values("create a user deploy with home /srv/deploy", CREATE) == {"user": "deploy"}


@pytest.mark.parametrize("words", ["fail to start", "crash", "stop", "not start"])
def test_the_service_of_a_why_question_is_not_dropped(words):
    assert filled(f"why did nginx {words}", STATUS)["name"] == "nginx"


def test_an_open_file_is_not_where_processes_are():
    assert values("which process has /var/log/dpkg.log open", OPEN) == {}
    assert values("open files of processes in /mnt/root/proc", OPEN) != {"proc": "/proc"}


@pytest.mark.parametrize("host", ["nosuch.example.invalid", "www.example.com.au", "db.corp.zone"])
def test_a_host_is_not_cut_to_another_one(host):
    assert values(f"latency to {host}", LATENCY).get("host", host) == host


@pytest.mark.parametrize(
    ("request_text", "words"),
    [
        ("failed logins as root", "as root"),
        ("who logged in as jan", "as jan"),
        ("failed logins from 10.9.8.1", "from 10.9.8.1"),
        ("show cron jobs of user www-data", "of user www-data"),
        ("why did nginx fail to start", "why did nginx"),
    ],
)
def test_a_name_that_no_input_took_is_left_out_aloud(request_text, words):
    assert [said for _, said in find_unfollowed_names(request_text, request_text)] == [words]
    used = request_text.replace(words.split()[-1], " " * len(words.split()[-1]))
    assert list(find_unfollowed_names(request_text, used)) == []


def test_a_format_is_no_name():
    assert list(find_unfollowed_names("logged in as table", "logged in as table")) == []
