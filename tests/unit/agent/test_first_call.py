"""The hint of the first call: complete reads only, and never one that misses a path."""

from dataclasses import replace

import pytest

from pulsus.agent.first_call import likely_call, named_paths, names_host, path_call
from pulsus.agent.model.proposal import call_hint
from pulsus.core.types import ArgSpec, InputValue
from tests.ranking import tool


def found(request, said, *, kind="read"):
    inputs = {name: InputValue(value, "request") for name, value in said.items()}
    inputs["limit"] = InputValue(5, "default")
    return likely_call(
        request, "biggest", tool("storage/usage/biggest", kind=kind, args=("folder",)), inputs
    )


def test_the_call_has_what_the_words_give_and_no_default():
    call = found("big files in /var", {"folder": "/var"})
    assert (call.tool, call.args) == ("biggest", {"folder": "/var"})
    assert '{"name": "biggest", "parameters": {"folder": "/var"}}' in call_hint(call)


@pytest.mark.parametrize(
    ("request_text", "said", "kind"),
    [
        pytest.param("big files", {}, "read", id="a required input is open"),
        pytest.param("big files in /var", {"folder": "/var"}, "write", id="it writes"),
        pytest.param("big files in /var", {"folder": "log"}, "read", id="the path is not used"),
    ],
)
def test_a_call_that_misses_the_request_is_no_hint(request_text, said, kind):
    assert found(request_text, said, kind=kind) is None
    assert call_hint(None) == ""


@pytest.mark.parametrize(
    ("name", "description", "is_folder", "fits"),
    [
        ("folder", "Where to start.", True, True),
        ("folder", "Where to start.", False, False),
        ("path", "The log file.", True, False),
        ("path", "The log file.", False, True),
        ("path", "The file or folder to look at.", True, True),
        ("folder", "Where to start.", None, True),
    ],
)
def test_no_call_is_suggested_whose_input_takes_another_kind_of_path(
    name, description, is_folder, fits
):
    spec = replace(
        tool("storage/usage/x", kind="read"), args=(ArgSpec(name, "str", True, None, description),)
    )
    inputs = {name: InputValue("/var/log", "request")}
    made = likely_call("how big is /var/log", "x", spec, inputs, lambda path: is_folder)
    assert (made is not None) is fits


def test_a_mark_behind_a_path_is_no_part_of_it():
    assert named_paths("what is in /etc/hosts? and /srv/a-b.log, or a/b") == [
        "/etc/hosts",
        "/srv/a-b.log",
    ]


@pytest.mark.parametrize(
    ("request_text", "is_folder", "action"),
    [
        ("how many files are in /srv/x?", True, "find"),
        ("what is the last line of /srv/x.log?", False, "tail"),
    ],
)
def test_a_question_that_no_tool_fits_looks_at_the_path_that_it_names(
    request_text, is_folder, action
):
    made = path_call(request_text, lambda path: is_folder)
    assert made is not None
    assert made.tool == "pulsus_read"
    assert made.args["action"] == action


@pytest.mark.parametrize("request_text", ["what is here", "compare /srv/a with /srv/b"])
def test_no_path_or_several_paths_suggest_no_read(request_text):
    assert path_call(request_text, lambda path: True) is None


def test_a_path_where_nothing_is_suggests_no_read():
    assert path_call("what is in /srv/x", lambda path: None) is None


@pytest.mark.parametrize(
    ("request_text", "named"),
    [
        ("what is the host name of this machine?", False),
        ("resolve example.org", True),
        ("is 10.0.0.1 up", True),
        ("fetch http://web/x", True),
        ("check @web", True),
    ],
)
def test_only_a_request_with_a_host_puts_tools_that_connect_first(request_text, named):
    assert names_host(request_text) is named


def test_the_slashes_of_a_url_are_no_path():
    assert named_paths("is https://login.example.org/start slow") == []
