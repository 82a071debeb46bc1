"""Values of a request reach the inputs that they are meant for, and no others."""

from datetime import UTC, datetime

import pytest

from pulsus.core.arguments.filler import fill
from pulsus.core.arguments.inputs import from_schema

NOW = datetime(2026, 11, 23, 7, 0, tzinfo=UTC)
TEXT = {"type": "string"}
COUNT = {"type": "integer"}


def tool(required=None, **inputs):
    parameters = {"properties": inputs, "required": list(inputs) if required is None else required}
    about = "Report things of a server."
    return from_schema({"name": "report", "description": about, "parameters": parameters})


def filled(request, of, **options):
    return {one.name: one.value for one in fill(request, of, now=NOW, **options).filled}


def proposed(request, of):
    return {one.name: one.value for one in fill(request, of, now=NOW).values}


FOLDER = {"type": "string", "description": "The folder to search."}
LIMIT = {"type": "integer", "description": "The number of files.", "default": 10}


def test_a_path_and_a_count_reach_their_inputs():
    files = tool(folder=FOLDER, limit=LIMIT)
    got = fill("five biggest files in /var/log", files)
    assert {v.name: v.value for v in got.values} == {"folder": "/var/log", "limit": 5}
    assert {v.name: v.text for v in got.values} == {"folder": "/var/log", "limit": "five"}
    assert got.unused == ()


@pytest.mark.parametrize(
    "request_",
    [
        "{} biggest files in /tmp as a table",
        "top {} files in /tmp",
        "the {} fattest files of /tmp",
        "show me the {} biggest files under /tmp",
    ],
)
def test_a_number_word_before_a_superlative_is_as_sure_as_digits(request_):
    files = tool(folder=FOLDER, limit=LIMIT)
    by_digits, by_word = (
        {v.name: (v.value, v.p, v.state) for v in fill(request_.format(n), files).values}
        for n in ("5", "five")
    )
    assert by_word == by_digits
    assert by_word["limit"][0] == 5


@pytest.mark.parametrize(
    "request_",
    ["processes by memory, show me {}", "first {}", "the top {}", "memory hogs, list {}"],
)
def test_a_number_of_rows_to_show_is_filled_without_asking(request_):
    limit = {"type": "integer", "description": "How many processes to return.", "default": 10}
    found = fill(request_.format(4), tool(limit=limit))
    assert [(v.value, v.state) for v in found.values] == [(4, "fill")]
    assert fill(request_.format(10), tool(limit=limit)).same_as_default[0].value == 10


@pytest.mark.parametrize("request_", ["show 2026", "show 404", "show 4 GB", "show pid 4"])
def test_a_number_that_counts_no_rows_is_not_made_sure_as_a_limit(request_, monkeypatch):
    limit = {"type": "integer", "description": "How many processes to return.", "default": 10}
    found = {v.name: v.p for v in fill(request_, tool(limit=limit)).values}
    monkeypatch.setattr(
        "pulsus.core.arguments.candidates.fill_limits._is_asked_count", lambda *_: False
    )
    assert found == {v.name: v.p for v in fill(request_, tool(limit=limit)).values}


def test_a_folder_is_never_a_number():
    assert proposed("show folder 5", tool(folder=FOLDER)) == {}


@pytest.mark.parametrize("unit", ["sshd.service", "docker.socket", "logrotate.timer"])
def test_a_systemd_unit_is_a_name_and_no_file(unit):
    name = {"type": "string", "description": "Only services whose name contains this text."}
    path = {"type": "string", "description": "The path of a saved listing to read."}
    status = tool((), name=name | {"default": ""}, path=path | {"default": ""})
    assert filled(f"status of {unit}", status) == {"name": unit}
    assert proposed(f"is {unit} running", status) == {"name": unit}


def test_a_systemd_unit_in_a_folder_is_a_file():
    path = {"type": "string", "description": "The path of a unit file to read."}
    request = "check the unit file /etc/systemd/system/app.service"
    assert filled(request, tool(path=path)) == {"path": "/etc/systemd/system/app.service"}


def test_a_port_never_takes_a_number_with_a_unit():
    port = tool(port={"type": "integer", "description": "The TCP port."})
    assert filled("listen for 5 minutes on 443", port) == {"port": 443}
    assert proposed("wait 5 minutes", port) == {}


def test_a_duration_is_read_in_the_unit_of_the_input():
    assert proposed(
        "certificates that end within 2 weeks",
        tool(days={"type": "integer", "description": "Days to look ahead."}),
    ) == {"days": 14}


def test_a_time_of_day_is_the_last_such_moment_before_now():
    since = tool(since={"type": "string", "description": "Start moment, ISO 8601 date and time."})
    assert proposed("errors since 8am", since) == {"since": "2026-11-22T08:00"}
    assert proposed("errors since 6am", since) == {"since": "2026-11-23T06:00"}


@pytest.mark.parametrize("name", ["password", "dry_run", "overwrite", "allow_root", "api_key"])
def test_what_permits_something_or_is_secret_is_never_filled(name):
    for kind in ("string", "boolean"):
        request = f"set {name} to hunter2 and use {name.replace('_', ' ')}"
        assert proposed(request, tool(**{name: {"type": kind}})) == {}


def test_one_of_several_values_is_not_picked():
    host = tool(host={"type": "string", "description": "The host to ping."})
    request = "ping web01.example.com and db01.example.com"
    got = fill(request, host)
    assert got.filled == ()
    named = {*(one.text for one in got.values), *got.unused}
    assert named == {"web01.example.com", "db01.example.com"}


def test_two_files_for_one_input_are_both_named():
    path = tool(path={"type": "string", "description": "The file to read."})
    got = fill("compare /etc/a.conf and /etc/b.conf", path)
    assert got.filled == ()
    assert {*(one.text for one in got.values), *got.unused} == {"/etc/a.conf", "/etc/b.conf"}


def test_every_value_that_no_input_takes_is_named():
    got = fill("is a load of 14 too much on 10.0.0.1", tool(folder=FOLDER))
    assert (got.values, got.unused) == ((), ("14", "10.0.0.1"))


def test_only_propose_fills_nothing():
    got = fill("biggest files in /var/log", tool(folder=FOLDER), only_propose=True)
    assert got.filled == ()
    assert [(v.name, v.state) for v in got.values] == [("folder", "propose")]


def test_an_input_with_a_given_value_is_not_filled_again():
    files = tool(folder=FOLDER, limit=LIMIT)
    assert "folder" not in filled("five biggest files in /var/log", files, given=["folder"])


def test_a_long_request_gives_no_value_instead_of_a_cut_one():
    request = "biggest files in /var/log " + "x" * 100_000
    assert fill(request, tool(folder=FOLDER)) == fill("", tool(folder=FOLDER))


def test_half_a_character_in_a_request_is_no_error():
    assert filled("biggest \udcff files in /var/log", tool(folder=FOLDER)) == {"folder": "/var/log"}


def test_a_number_that_no_float_holds_is_no_value():
    assert proposed(f"the {'9' * 400} biggest files", tool(limit=LIMIT, size=COUNT)) == {}


def test_two_limits_take_the_number_of_their_own_part_of_the_sentence():
    tool = make_stats()
    request = "docker stats in /tmp/s.out, who is above 75% of its memory or 150% cpu"
    values = {one.name: one.value for one in fill(request, tool).filled}
    assert values.get("cpu_limit") in (None, 150)
    assert values.get("memory_limit") in (None, 75)


def make_stats():
    return from_schema(
        {
            "name": "containers/resources/container_stats",
            "description": "Name the containers that are busy or full in saved docker stats.",
            "parameters": {
                "properties": {
                    "path": {"type": "string", "description": "File with the saved output."},
                    "cpu_limit": {
                        "type": "number",
                        "default": 90.0,
                        "description": "Percent of one core above which it is busy.",
                    },
                    "memory_limit": {
                        "type": "number",
                        "default": 90.0,
                        "description": "Percent of its memory limit above which it is full.",
                    },
                },
                "required": ["path"],
            },
        }
    )


def test_a_path_never_becomes_a_text_that_the_contract_does_not_take_from_a_file():
    tool = from_schema(
        {
            "name": "text/count/count_words",
            "description": "Count the words of a text.",
            "parameters": {
                "properties": {"text": {"type": "string", "description": "The text."}},
                "required": ["text"],
            },
        }
    )
    found = fill("count the words in /srv/report.txt", tool)
    assert found.filled == ()
    assert [one.state for one in found.values] == ["propose"]


@pytest.mark.parametrize(
    "request_text",
    [
        "rate of http_requests from /tmp/s1.prom to /tmp/s2.prom",
        "counter changes between /srv/m1.prom and /srv/m2.prom",
    ],
)
def test_two_files_in_order_are_before_and_after(request_text):
    described = {"before": "The earlier scrape, a file.", "after": "The later scrape, a file."}
    scrapes = from_schema(
        {
            "name": "metrics/compare/metric_delta",
            "description": "Tell how counters changed between two saved scrapes.",
            "parameters": {
                "properties": {
                    name: {"type": "string", "description": said}
                    for name, said in described.items()
                },
                "required": ["before", "after"],
            },
        }
    )
    values = {one.name: str(one.value) for one in fill(request_text, scrapes).filled}
    assert sorted(values) == ["after", "before"]
    assert values["before"] < values["after"]


def test_a_path_that_is_no_copy_of_the_mount_table_is_reported_as_not_used():
    disk_usage = from_schema(
        {
            "name": "disk_usage",
            "description": "Show how full every mounted file system is.",
            "parameters": {
                "properties": {
                    "limit_percent": {
                        "type": "number",
                        "description": "Space use above this many percent is reported. 0 to 100.",
                        "default": 90.0,
                    },
                    "saved": {
                        "type": "string",
                        "description": "Saved output of df.",
                        "default": "",
                    },
                    "mounts": {
                        "type": "string",
                        "description": "The mount table of this machine.",
                        "default": "/proc/mounts",
                    },
                }
            },
        }
    )
    found = fill("how full is /var", disk_usage)
    assert (found.values, found.unused) == ((), ("/var",))
    assert proposed("show the mounts of /srv/mounts.txt", disk_usage) == {
        "mounts": "/srv/mounts.txt"
    }


@pytest.mark.parametrize(
    ("request_text", "first", "second"),
    [
        ("compare s1.env and s2.env", "s1.env", "s2.env"),
        ("diff s1.env s2.env", "s1.env", "s2.env"),
        ("compare conf/a.env with conf/b.env", "conf/a.env", "conf/b.env"),
        ("compare .env.example and .env", ".env.example", ".env"),
        ("compare .env with .env.example", ".env.example", ".env"),
    ],
)
def test_an_input_with_a_hidden_file_as_its_example_takes_one_of_two_files(
    request_text, first, second
):
    env_diff = tool(
        first={"type": "string", "description": "The reference, for example `.env.example`."},
        second={"type": "string", "description": "The file to compare it with, such as `.env`."},
    )
    assert filled(request_text, env_diff) == {"first": first, "second": second}


@pytest.mark.parametrize(
    ("request_text", "state"),
    [("group the errors in app.log", "propose"), ("group errors only, of app.log", "fill")],
)
def test_a_word_of_the_tool_alone_does_not_leave_other_levels_out(request_text, state):
    counts = from_schema(
        {
            "name": "logs/errors/error_counts",
            "description": "Group the repeated error messages of a log file and count them.",
            "parameters": {
                "properties": {
                    "path": {"type": "string", "description": "The log file."},
                    "levels": {
                        "type": "array",
                        "items": {"type": "string"},
                        "default": None,
                        "description": "Levels whose messages are grouped: `critical`, `error`, "
                        "`warning`.",
                    },
                },
                "required": ["path"],
            },
        }
    )
    found = {one.name: one for one in fill(request_text, counts).values}
    assert found["path"].state == "fill"
    assert (found["levels"].value, found["levels"].state) == (["error"], state)


ROWS = from_schema(
    {
        "name": "filter_rows",
        "description": "Keep only the rows of a result where a field meets a condition.",
        "parameters": {
            "type": "object",
            "properties": {
                "field": {"type": "string", "description": "The field to look at."},
                "op": {"type": "string", "description": "One of `==`, `<`, `>`, `contains`."},
                "by": {"type": "string", "description": "The field to sort by."},
            },
            "required": ["field", "op", "by"],
        },
    }
)


@pytest.mark.parametrize(
    "request_text",
    [
        "keep rows of orders.csv with amount over 6",
        "smallest files in /tmp",
        "sort /srv/orders.csv by amount",
    ],
)
def test_a_path_is_never_proposed_for_a_field_or_an_operator(request_text):
    paths = ("orders.csv", "/tmp", "/srv/orders.csv")
    assert not [v for v in fill(request_text, ROWS).values if v.value in paths]


def test_a_word_outside_a_closed_list_is_not_proposed():
    tool = from_schema(
        {
            "name": "container_list",
            "description": "List containers.",
            "parameters": {
                "type": "object",
                "properties": {
                    "state": {
                        "type": "string",
                        "default": "",
                        "description": "Only containers in this state: running, exited, paused; "
                        "every state when empty.",
                    }
                },
            },
        }
    )
    assert fill("how many containers are running", tool).values == ()


EXPIRY = from_schema(
    {
        "name": "certificate_expiry",
        "description": "Show when the TLS certificate of a site, or a certificate file, runs out.",
        "parameters": {
            "properties": {
                "host": {
                    "type": "string",
                    "default": "",
                    "description": "The site, for example `example.org`; give this or `file`.",
                },
                "file": {
                    "type": "string",
                    "default": "",
                    "description": "A certificate file; give this or `host`.",
                },
                "ca_file": {
                    "type": "string",
                    "default": "",
                    "description": "A PEM file of authorities to trust.",
                },
            },
        },
    }
)


@pytest.mark.parametrize(
    ("request_", "values"),
    [
        ("when does the certificate /etc/ssl/certs/ca-certificates.crt expire", {"file"}),
        ("when does the certificate in file /etc/ssl/a.pem expire", {"file"}),
        ("certificate expiry of the file a.pem", {"file"}),
        (
            "when does the certificate in /etc/ca.crt expire, trust /etc/my-ca.pem",
            {"file", "ca_file"},
        ),
        ("when does the certificate of example.com expire", {"host"}),
    ],
)
def test_the_only_path_or_host_goes_to_the_input_that_a_call_needs(request_, values):
    assert filled(request_, EXPIRY).keys() == values


def test_a_word_for_a_file_is_no_host():
    for request in ("which certificate files expire", "expiry of the certificate file"):
        assert proposed(request, EXPIRY) == {}


@pytest.mark.parametrize(
    ("request_", "value"),
    [
        ("when do certs in ca.pem expire", {"file": "ca.pem"}),
        ("certificate expiry of web01", {"host": "web01"}),
    ],
)
def test_a_needed_value_that_may_belong_elsewhere_is_only_proposed(request_, value):
    assert filled(request_, EXPIRY) == {}
    assert proposed(request_, EXPIRY) == value


def test_of_two_paths_none_is_chosen_for_the_input_that_a_call_needs():
    assert filled("expiry of certificates server.pem and other.pem", EXPIRY) == {}


def test_the_value_of_a_required_input_is_not_given_to_an_alternative():
    text = {"type": "string", "default": ""}
    words = {**text, "description": "The words; give this or `pattern_file`."}
    listed = {**text, "description": "A file with the words; give this or `pattern`."}
    log = {"type": "string", "description": "The log file."}
    search = tool(["path"], path=log, pattern=words, pattern_file=listed)
    assert filled("grep words in the log file /var/log/app.log", search) == {
        "path": "/var/log/app.log"
    }
    host = {**text, "description": "The machine; give this or `inventory_file`."}
    inventory = {**text, "description": "A file of machines; give this or `host`."}
    key = {"type": "string", "description": "The key file."}
    check = tool(["key_file"], key_file=key, host=host, inventory_file=inventory)
    assert "inventory_file" not in proposed("check the key file /etc/ssl/a.pem", check)
