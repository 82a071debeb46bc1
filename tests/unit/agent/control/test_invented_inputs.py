"""Inputs that a failed read may leave out: never what a request named, never of a write."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulsus.agent.control.build_call_question import ControlPorts
from pulsus.agent.control.invented_inputs import NamedValues, find_invented
from pulsus.agent.control.session_words import SessionWords
from pulsus.agent.tool_protocol import CallNeeds
from pulsus.core.types import ArgSpec, Effects
from tests.call_verdicts import HOST, control, draft
from tests.compositions import spec

UPTIME = spec(
    "system/info/kernel_uptime",
    ArgSpec("proc", "str", False, "'/proc'"),
    ArgSpec("os_release", "str", False, "''"),
    ArgSpec("limit", "int", False, "10"),
    ArgSpec("boot", "bool", False, "False"),
    effects=Effects(paths=("/proc",)),
)
LINES = spec("logs/count/lines", "path", ArgSpec("pattern", "str", False, "''"), effects=Effects())
SCHEMA = {"type": "object", "properties": {}}


def invented(args, said="which kernel runs", *, tool=UPTIME, seen=(), schema=SCHEMA):
    words = SessionWords()
    words.add_said(said, *HOST.names)
    for each in seen:
        words.add_seen(each)
    return find_invented(tool, schema, args, NamedValues(words, [said], HOST.names))


def test_a_file_that_nothing_named_is_left_out():
    assert invented({"os_release": "ubuntu"}) == ("os_release",)


def test_all_invented_inputs_go_at_once_because_the_call_is_made_again_only_once():
    args = {"proc": "vm:vm:3d12", "os_release": "Ubuntu 20.04", "limit": 77}
    assert invented(args) == ("proc", "os_release", "limit")


def test_the_name_of_this_machine_is_no_value_for_a_file():
    assert invented({"proc": HOST.id}) == ("proc",)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({"os_release": "/srv/copy"}, "which kernel does /srv/copy say"),
        ({"os_release": "/srv/copy/os-release"}, "read os-release in /srv/copy"),
        ({"proc": "web07"}, "which kernel runs on web07"),
        ({"limit": 3}, "the three newest kernels"),
        ({"limit": 25}, "the 25 newest kernels"),
        ({"boot": True}, "which kernel runs"),
    ],
)
def test_a_value_that_the_request_named_is_never_left_out(args, said):
    assert invented(args, said) == ()


def test_a_value_that_a_result_showed_is_never_left_out():
    assert invented({"os_release": "/opt/os"}, seen=[{"file": "/opt/os"}]) == ()


def test_a_read_of_a_named_path_does_not_become_a_read_of_another_one():
    said = "which kernel does the copy in /srv/copy say"
    assert invented({"os_release": "/etc/other"}, said) == ()


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("web-07", "which kernel runs on web07"),
        ("/var/log/ngnix/error.log", "errors of nginx/error.log"),
        ("os_releas", "look at os_release"),
    ],
)
def test_a_misspelt_name_is_not_dropped_as_if_nothing_had_been_named(value, said):
    assert invented({"os_release": value}, said) == ()


def test_a_required_input_is_never_left_out():
    assert invented({"path": "/etc/other"}, "count lines", tool=LINES) == ()
    assert invented({"path": "/x", "pattern": "zzz"}, "lines", tool=LINES) == ("pattern",)


def test_a_value_that_the_schema_lists_is_no_invention():
    schema = {"properties": {"os_release": {"enum": ["debian", "ubuntu"]}}}
    assert invented({"os_release": "ubuntu"}, schema=schema) == ()


@pytest.mark.parametrize(
    "changed",
    [
        {"kind": "write"},
        {"effects": Effects(hosts=("the given host",))},
        {"effects": None},
        {"target": ("os_release",)},
    ],
    ids=["it writes", "it connects", "its effects are unknown", "it is the target"],
)
def test_only_a_local_read_may_leave_an_input_out(changed):
    assert invented({"os_release": "ubuntu"}, tool=replace(UPTIME, **changed)) == ()


VALUES = st.one_of(
    st.booleans(), st.integers(0, 99), st.sampled_from(["/srv/copy", "web07", "zzz"]), st.text()
)


@given(
    st.dictionaries(st.sampled_from(["proc", "os_release", "limit", "boot", "odd"]), VALUES),
    st.sampled_from(["look at /srv/copy on web07", "which kernel runs"]),
)
def test_what_is_left_out_is_optional_and_unnamed_whatever_is_proposed(args, said):
    found = invented(args, said)
    assert set(found) <= {"proc", "os_release", "limit", "boot"} & set(args)
    kept = [value for name, value in args.items() if name not in found]
    named = [value for value in args.values() if value in ("/srv/copy", "web07") and value in said]
    assert all(value in kept for value in named)
    if found and "/srv/copy" in said:
        assert "/srv/copy" in kept


def test_the_rules_of_a_session_leave_nothing_out_of_a_write_or_a_built_in_tool():
    ports = ControlPorts({"kernel_uptime": UPTIME}, own_names=HOST.names)
    rules = control(ports=ports)
    rules.begin_request("which kernel runs")
    needs = CallNeeds("run")
    read = draft("kernel_uptime", "read", needs, (), os_release="ubuntu")
    assert rules.invented(read) == ("os_release",)
    assert rules.invented(replace(read, kind="write")) == ()
    assert rules.invented(draft("pulsus_read", "read", needs, (), unit="ubuntu")) == ()


def test_what_an_earlier_request_asked_does_not_count_as_asked_now():
    rules = control(ports=ControlPorts({"kernel_uptime": UPTIME}))
    read = draft("kernel_uptime", "read", CallNeeds("run"), (), os_release="ubuntu")
    rules.begin_request("which kernel does /srv/copy say")
    assert rules.invented(read) == ()
    rules.begin_request("which kernel runs")
    assert rules.invented(read) == ("os_release",)
    rules.hear(["I mean the copy in /srv/copy"])
    assert rules.invented(read) == ()
