"""Values of a request that an input may take: separators, mappings, levels, short forms, names."""

import pytest

from pulsus.core.arguments.candidates.find_candidates import find_candidates
from pulsus.core.arguments.inputs import Fillable, from_schema
from pulsus.core.arguments.spans.find_spans import find_spans

MAPPING = {"type": "object", "additionalProperties": {"type": "string"}}


def make_tool(name, spec) -> Fillable:
    return from_schema({"name": "a tool", "parameters": {"properties": {name: spec}}})


def values_of(request, name, spec):
    return [c.value for c in find_candidates(make_tool(name, spec).inputs[0], find_spans(request))]


@pytest.mark.parametrize(
    ("request_text", "sign"),
    [
        ("profile /d/a.csv, separator is ;", ";"),
        ("columns of x.csv, separated by |", "|"),
        ("/d/feed.psv is | separated", "|"),
        ("a pipe separated file", "|"),
        ("it is tab-delimited", "\t"),
        ("use semicolon as it is split by semicolons", ";"),
    ],
)
def test_a_separator_is_read_as_its_character(request_text, sign):
    spec = {"type": "string", "description": "The separator, one character."}
    assert sign in values_of(request_text, "delimiter", spec)


def test_a_comma_of_the_sentence_is_no_separator():
    spec = {"type": "string", "description": "The separator, one character."}
    assert values_of("profile customers.csv, separator unknown", "delimiter", spec) == []


def test_names_with_their_values_are_one_mapping():
    request = "check that vm.swappiness is 10 and net.core.somaxconn ought to be 4096"
    spec = {**MAPPING, "description": "Parameters and the values they should have."}
    wanted = {"vm.swappiness": "10", "net.core.somaxconn": "4096"}
    assert values_of(request, "expected", spec) == [wanted]


def test_a_mapping_of_other_values_takes_no_words():
    spec = {"type": "object", "additionalProperties": {"type": "integer"}}
    assert values_of("vm.swappiness is 10", "expected", spec) == []


def test_a_word_for_a_level_is_its_number():
    said = "The least severe level, 0 (emergency) to 7 (debug); 3 is error, 4 also takes warnings."
    spec = {"type": "integer", "description": said}
    assert 4 in values_of("noisy units, count warnings too", "priority", spec)
    assert values_of("noisy units of this host", "priority", spec) == []


def test_short_forms_name_a_choice():
    spec = {"type": "string", "enum": ["ipv4", "ipv6"], "description": "The family."}
    assert values_of("v6 routes only", "family", spec) == ["ipv6"]


def test_a_misspelt_flag_is_found():
    spec = {"type": "boolean", "description": "Only security updates."}
    assert values_of("only secuirty patches", "security_only", spec) == [True]


def test_a_column_behind_its_name_is_a_list_of_one():
    spec = {"type": "array", "items": {"type": "string"}, "description": "Names of columns."}
    assert ["email"] in values_of("doubles in u.csv (column email)", "columns", spec)
    found = values_of("how the columns correlate in u.csv", "columns", spec)
    assert ["correlate"] not in found


@pytest.mark.parametrize(
    ("request_text", "host", "port"),
    [("is bastion:22 up", "bastion", 22), ("rtt to redis-2.prod:6379", "redis-2.prod", 6379)],
)
def test_any_name_with_a_port_is_a_host(request_text, host, port):
    assert host in values_of(request_text, "host", {"type": "string", "description": "A host."})
    assert port in values_of(request_text, "port", {"type": "integer", "description": "A port."})


def test_a_time_of_day_is_no_host_with_a_port():
    spec = {"type": "string", "description": "A host."}
    assert "at12" not in values_of("errors at 12:30", "host", spec)


def test_seconds_are_no_number_of_days():
    spec = {"type": "number", "description": "Warn this many days before the end."}
    assert values_of("give up after 4 secs", "warn_days", spec) == []
    assert 21 in values_of("warn 21 days before", "warn_days", spec)


def test_a_path_of_another_account_keeps_its_tilde():
    spec = {"type": "string", "description": "The file."}
    assert "~ops/dumps/p.json" in values_of("read ~ops/dumps/p.json", "path", spec)


def test_an_example_of_the_description_is_no_path():
    said = "A file with the output of `df -Pk` from another machine."
    found = values_of("/tmp/db.df holds df -Pk", "saved", {"type": "string", "description": said})
    assert "df -Pk" not in found
    assert "/tmp/db.df" in found


def test_the_number_of_a_process_or_ticket_counts_nothing():
    spec = {"type": "integer", "description": "How many processes to list, at least 1."}
    assert values_of("pid 4411 has too many open files", "limit", spec) == []
    assert values_of("ticket 77: the 5 worst", "limit", spec) == [5]
    assert values_of("pid 4411", "pid", {"type": "integer", "description": "A process."}) == [4411]


def test_one_number_per_folder_is_no_number():
    spec = {"type": "integer", "description": "How many folders to list, at least 1."}
    assert values_of("the heaviest folders, one number per dir", "limit", spec) == []


def test_a_device_is_no_file_to_read():
    assert (
        values_of("health of /dev/sdb", "path", {"type": "string", "description": "A file."}) == []
    )
    disk = {"type": "string", "description": "The device of the disk."}
    assert values_of("health of /dev/sdb", "path", disk) == ["/dev/sdb"]


def test_a_name_with_an_underscore_is_no_host():
    spec = {"type": "string", "description": "Host name or IP address."}
    found = values_of("average latency_ms of web01", "host", spec)
    assert "web01" in found
    assert not any("latency_ms" in str(value) for value in found)


def test_the_plural_of_a_status_is_no_number_of_rows():
    spec = {"type": "integer", "description": "How many paths to list, at least 1."}
    assert values_of("how many 500s are in access.log", "top", spec) == []


@pytest.mark.parametrize(
    ("request_text", "found"),
    [
        ("old log files below /srv", ["*.log"]),
        ("files in logs/old", []),
        ("the biggest files in logs", []),
    ],
)
def test_the_name_of_a_folder_is_no_pattern_of_files(request_text, found):
    spec = {"type": "string", "description": "Only file names that fit this, for example `*.log`."}
    assert [v for v in values_of(request_text, "pattern", spec) if "*" in v] == found
