"""Bare names of services and users in a request."""

import pytest

from pulsus.core.arguments.filler import fill
from pulsus.core.arguments.inputs import from_schema
from pulsus.core.arguments.subject_names import find_subject_name, names_coded_setting


def tool(**inputs):
    properties = {
        name: {"type": "string", "default": "", "description": text}
        for name, text in inputs.items()
    }
    return from_schema(
        {
            "name": "service_status",
            "description": "Show the status of services.",
            "parameters": {"type": "object", "properties": properties},
        }
    )


SERVICES = tool(
    name="Only services whose name contains this text.",
    state="Only services in this state: `running`, `active`, `activating`.",
)


def values(request, of=SERVICES, **more):
    return {v.name: (v.value, v.state) for v in fill(request, of, **more).values}


@pytest.mark.parametrize("request_text", ["is sshd up", "is sshd still up?", "Is sshd failing"])
def test_the_subject_of_a_question_is_not_dropped(request_text):
    assert values(request_text)["name"] == ("sshd", "fill")


@pytest.mark.parametrize(
    ("request_text", "name"),
    [
        ("is the ssh service running", "ssh"),
        ("is the service nginx active", "nginx"),
        ("is the mysql daemon up", "mysql"),
        ("is @cron running", "cron"),
        ("check if the cups service is running", "cups"),
        ("nginx service status", "nginx"),
        ("the status of the nginx service", "nginx"),
    ],
)
def test_the_name_of_a_service_is_not_dropped_beside_the_word_service(request_text, name):
    assert values(request_text)["name"] == (name, "fill")


def test_a_word_of_the_contract_is_a_name_if_only_a_service_can_be_meant():
    assert values("is status running")["name"] == ("status", "fill")
    assert "name" not in values("is status ok")


def test_a_name_behind_of_is_asked_about_and_not_left_out():
    (value,) = fill("status of sshd", SERVICES).values
    assert (value.value, value.state, value.unclear) == ("sshd", "propose", True)


def test_a_tool_that_writes_gets_the_name_as_a_proposal():
    assert values("is sshd up", only_propose=True)["name"] == ("sshd", "propose")


@pytest.mark.parametrize(
    "request_text",
    [
        "is everything up",
        "is it running",
        "is the server up",
        "status of services",
        "status of today",
        "is sshd up, and is nginx up",
        "is sshd a service",
    ],
)
def test_a_word_that_is_no_name_is_not_taken(request_text):
    assert find_subject_name(request_text, SERVICES) is None


def test_of_two_inputs_for_names_none_is_guessed():
    both = tool(user="The user.", service="The service.")
    assert find_subject_name("is sshd up", both) is None


def test_a_choice_is_not_taken_for_one_that_begins_like_it():
    closed = tool(name="The service.", state="One of `active`, `activating`.")
    assert values("show active ones", closed)["state"] == ("active", "fill")


FOLDERS = from_schema(
    {
        "name": "biggest_files",
        "description": "List the largest files below a folder.",
        "parameters": {
            "type": "object",
            "properties": {"folder": {"type": "string", "description": "Where to start."}},
            "required": ["folder"],
        },
    }
)


@pytest.mark.parametrize(
    ("request_text", "state"),
    [
        ("how big is the folder svc", "fill"),
        ("back up the directory data to x.tar.gz", "fill"),
        ("the 5 largest files below logs", "propose"),
        ("unpack it into restore, please", "propose"),
        ("biggest files in logs", "propose"),
    ],
)
def test_a_bare_folder_is_not_dropped(request_text, state):
    ((_, found),) = values(request_text, FOLDERS).values()
    assert found == state


@pytest.mark.parametrize(
    "request_text",
    [
        "logged in recently",
        "who logged in today",
        "files changed in lately",
        "biggest files in total",
        "largest files in megabytes",
        "list folder sizes in detail",
    ],
)
def test_a_word_behind_in_that_is_no_folder_is_not_taken(request_text):
    assert values(request_text, FOLDERS) == {}


def test_the_service_to_restart_is_proposed():
    restart = from_schema(
        {
            "name": "restart_service",
            "description": "Restart a service.",
            "parameters": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "description": "The service to restart."}
                },
                "required": ["name"],
            },
        }
    )
    assert values("restart postgresql", restart)["name"] == ("postgresql", "propose")


SETTINGS = from_schema(
    {
        "name": "config_value",
        "description": "Show the value of one setting in a configuration file.",
        "parameters": {
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "The configuration file."},
                "key": {"type": "string", "description": "The name of the setting."},
                "expected": {"type": "string", "default": "", "description": "A wanted text."},
            },
            "required": ["path", "key"],
        },
    }
)


@pytest.mark.parametrize(
    ("request_text", "key", "state"),
    [
        ("what is the value of workers in app.yaml", "workers", "fill"),
        ("tell me the value of log_level in settings.toml", "log_level", "fill"),
        ("show the setting workers in the config file", "workers", "fill"),
        ("what is max_connections in /etc/db/main.ini", "max_connections", "fill"),
        ("print PermitRootLogin from /etc/ssh/sshd_config", "PermitRootLogin", "fill"),
        ("print PermitRootLogin from sshd_config", "PermitRootLogin", "fill"),
        ("which value has workers in app.yaml", "workers", "fill"),
        ("show workers in app.yaml", "workers", "propose"),
    ],
)
def test_the_setting_that_a_question_names_is_not_asked_for_again(request_text, key, state):
    assert values(request_text, SETTINGS)["key"] == (key, state)
    assert "expected" not in values(request_text, SETTINGS)


@pytest.mark.parametrize(
    "request_text", ["show the setting in app.yaml", "what is the value in app.yaml", "is it set"]
)
def test_a_word_for_a_setting_is_no_name_of_one(request_text):
    assert find_subject_name(request_text, SETTINGS) is None


LOG_LINES = from_schema(
    {
        "name": "log_lines",
        "description": "Show the last lines of a log.",
        "parameters": {
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "The log file."},
                "contains": {
                    "type": "string",
                    "default": "",
                    "description": "Only lines with this text.",
                },
            },
            "required": ["path"],
        },
    }
)


@pytest.mark.parametrize(
    ("request_text", "text"),
    [
        ("lines containing timeout in app.log", "timeout"),
        ("which lines of /var/log/mail.log mention deferred", "deferred"),
        ("all lines that contain out of memory in kern.log", "out of memory"),
        ('everything in sync.log with the word "a and b"', "a and b"),
        ("grep -i refused /srv/app.log", "refused"),
        ("lines of app.log with the word retry", "retry"),
    ],
)
def test_the_text_of_the_wanted_lines_is_not_lost(request_text, text):
    assert values(request_text, LOG_LINES)["contains"] == (text, "fill")


@pytest.mark.parametrize(
    "request_text",
    ["lines with this in app.log", "lines containing a or b in app.log", "the lines of app.log"],
)
def test_words_that_are_no_single_text_are_not_looked_for(request_text):
    assert "contains" not in values(request_text, LOG_LINES)


@pytest.mark.parametrize(
    ("request_text", "coded"),
    [
        ("show PasswordAuthentication in /etc/ssh/sshd_config", True),
        ("what is max_connections in main.ini", True),
        ("show the failed logins in /var/log/auth.log", False),
        ("show " + "aB" * 2000, False),
    ],
)
def test_a_setting_in_one_word_is_told_from_plain_words(request_text, coded):
    assert names_coded_setting(request_text) is coded


ACCOUNT = tool(user="The login name.")


def test_a_user_that_has_something_is_named():
    assert values("which shell does user marta have", ACCOUNT)["user"] == ("marta", "fill")
    assert values("show the user marta", ACCOUNT)["user"] == ("marta", "propose")


def test_an_adverb_behind_a_name_neither_joins_it_nor_hides_it():
    jobs = tool(user="Only jobs of this user.")
    assert values("jobs of deploy now", jobs)["user"][0] == "deploy"
    assert "currently" not in str(values("jobs of the root currently", jobs))
