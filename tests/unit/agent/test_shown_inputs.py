"""The inputs that a model is shown: no file to make up, and all that the request may mean."""

import pytest

from pulsus.agent.shown_inputs import names_file, takes_any, with_kinds, without_files
from pulsus.gates.built_in_tools import built_in_tools
from pulsus.gates.tool_descriptors import ToolDescriptor


def tool(*, required=(), kind="read", **properties):
    schema = {"type": "object", "properties": properties, "required": [*required]}
    return ToolDescriptor("uptime", "Show.", schema, kind=kind)


def text(description, default=None, **more):
    found = {"type": "string", "description": description, **more}
    return found if default is None else {**found, "default": default}


def shown(made):
    return set(made.parameters["properties"])


@pytest.mark.parametrize(
    "one",
    [
        text("The process tree.", "/proc"),
        text("The file that names the distribution; empty tries the usual two.", ""),
        text("A saved kernel log to read.", ""),
        text("A file with output of `df -Pk`.", ""),
        text("One `authorized_keys` file to read instead.", ""),
    ],
)
def test_a_file_in_place_of_this_machine_is_not_shown_to_be_made_up(one):
    limit = {"type": "integer", "default": 10}
    assert shown(without_files(tool(source=one, limit=limit))) == {"limit"}


@pytest.mark.parametrize(
    "one",
    [
        text("Only services whose name contains this text.", ""),
        text("The section of an INI or TOML file.", ""),
        text("Which file names count.", "*"),
        text("`cpu` or `memory`.", "cpu"),
        {"type": "string", "enum": ["a", "/b"], "default": "/b"},
        {"type": ["string", "null"], "default": "/b"},
    ],
)
def test_inputs_that_narrow_a_question_stay(one):
    assert shown(without_files(tool(source=one))) == {"source"}


def test_a_required_file_and_the_files_of_a_write_stay():
    path = text("The file to count.", "/var/log/syslog")
    assert shown(without_files(tool(path=path, required=["path"]))) == {"path"}
    assert shown(without_files(tool(path=path, kind="write"))) == {"path"}


@pytest.mark.parametrize(
    ("request_text", "named"),
    [
        ("how full are the disks", False),
        ("how full were the disks in /srv/df.txt", True),
        ("read ~/notes", True),
        ("what does the saved df.txt say", True),
        ("when does the certificate of example.org expire", True),
        ("is it version 6.1", False),
    ],
)
def test_inputs_for_files_are_shown_to_a_request_that_may_name_one(request_text, named):
    assert names_file(request_text) is named


def test_hidden_kinds_leave_the_others():
    query = with_kinds(built_in_tools()["pulsus_query"], {"vm", "k8s_pod"})
    kinds = query.parameters["properties"]["kind"]["enum"]
    assert "host" in kinds
    assert not {"vm", "k8s_pod"} & set(kinds)
    assert query.kind_of({"action": "list", "kind": "vm"}) == "resolve"


@pytest.mark.parametrize(
    ("description", "default", "is_folder", "takes"),
    [
        ("The log file.", None, False, True),
        ("The log file.", None, True, False),
        ("The folder to look in.", None, True, True),
        ("Show only the file system of this path.", None, True, True),
        ("Only names with this text.", "", True, False),
        ("A file with saved output.", "", False, False),
        ("The log file.", None, None, True),
    ],
)
def test_only_an_input_for_this_kind_of_path_takes_it(description, default, is_folder, takes):
    made = tool(source=text(description, default))
    assert takes_any(made, ["/srv/x"], lambda path: is_folder) is takes
