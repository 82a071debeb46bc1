"""The docstring contract (docs/tool-contract.md)."""

import re
from pathlib import Path

import pytest

from pulsus.core.contract import docstring, section_names
from pulsus.core.types import Effects, OutputSpec

GUIDE = Path(__file__).parents[4] / "docs" / "tool-contract.md"


def test_the_guide_s_own_example_is_read_without_errors():
    block = re.search(r'```python\n"""(.*?)"""', GUIDE.read_text(encoding="utf-8"), re.S)
    assert block is not None
    doc = docstring.parse_docstring(block[1])
    assert doc.summary == "List the largest files below a folder."
    assert doc.body.startswith("Walks the folder without following links")
    assert tuple(doc.sections) == section_names.SECTIONS
    assert doc.errors == ()


def test_sections_may_come_in_any_order_and_text_between_them_is_body():
    doc = docstring.parse_docstring("Sum.\n\nKind: read\nmore prose\n\nArgs:\n  a: x\n\nlast words")
    assert doc.sections == {"Args": "a: x", "Kind": "read"}
    assert doc.body == "more prose\n\nlast words"


def test_a_section_that_occurs_twice_counts_for_nothing():
    doc = docstring.parse_docstring("Sum.\n\nKind: read\n\nKind: write\n")
    assert "Kind" not in doc.sections
    assert doc.errors == ("Kind: occurs more than once",)
    assert docstring.parse_kind(doc.sections.get("Kind")) == ("write", False, ())


def test_a_docstring_that_starts_with_a_section_has_no_summary():
    doc = docstring.parse_docstring("Args:\n    a: x\n\nKind: read\n")
    assert (doc.summary, doc.body) == ("", "")
    assert doc.sections == {"Args": "a: x", "Kind": "read"}


def test_indentation_of_the_whole_docstring_is_taken_away():
    doc = docstring.parse_docstring(
        "\n    Sum.\n\n    Args:\n        a (int): x\n          and y\n    "
    )
    assert doc.summary == "Sum."
    assert docstring.list_descriptions(doc.sections["Args"]) == {"a": "x and y"}


def test_tabs_inside_a_line_survive_because_an_example_s_file_may_hold_them():
    doc = docstring.parse_docstring(
        "Sum.\n\nExamples:\n    - files:\n        a: |\n          x\ty\n          \tz"
    )
    assert "x\ty\n" in doc.sections["Examples"]
    assert doc.sections["Examples"].endswith("\tz")


def test_a_summary_cannot_drive_a_terminal():
    assert docstring.parse_docstring("Clear\x1b[2J \u202eit.\nBody").summary == "Clear[2J it."


@pytest.mark.parametrize(
    ("text", "name", "hint", "words"),
    [
        ("rows (list[dict[str, Any]]): One a file.", "rows", "list[dict[str, Any]]", "One a file."),
        ("f (Callable[[int], str]): x (y): z", "f", "Callable[[int], str]", "x (y): z"),
        ("plain: text", "plain", None, "text"),
        ("**options (Any): rest", "options", "Any", "rest"),
        ("empty:", "empty", None, ""),
    ],
)
def test_an_entry_has_a_name_a_type_and_a_text(text, name, hint, words):
    (entry,) = docstring.parse_entries(text)
    assert (entry.name.lstrip("*"), entry.type, entry.text) == (name, hint, words)


@pytest.mark.parametrize(
    ("section", "hint", "expected"),
    [
        pytest.param("a (int): x\nb (str): y", "dict[str, Any]", ["a", "b"], id="named keys"),
        pytest.param("How many.", "int", ["result"], id="prose is one result"),
        pytest.param("dict: the whole thing", "dict", ["result"], id="a type is not a key"),
        pytest.param(None, "int", ["result"], id="a hint is enough"),
        pytest.param(None, "dict[str, Any]", [], id="keys of a dict are not guessed"),
        pytest.param("none", "None", [], id="nothing"),
        pytest.param(None, None, [], id="nothing known"),
    ],
)
def test_outputs_are_the_documented_keys_or_one_result(section, hint, expected):
    assert [o.name for o in docstring.parse_outputs(section, hint)] == expected


def test_the_one_result_carries_the_return_hint():
    assert docstring.parse_outputs(None, "float") == (OutputSpec("result", "float"),)


@pytest.mark.parametrize("word", ["resolve", "read", "write", " Read "])
def test_a_declared_kind_is_taken(word):
    assert docstring.parse_kind(word) == (word.strip().lower(), True, ())


@pytest.mark.parametrize("word", ["", "reads", "read, mostly", "read\nwrite", "r\u0435ad"])
def test_an_unreadable_kind_never_counts_as_read(word):
    kind, declared, errors = docstring.parse_kind(word)
    assert (kind, declared) == ("write", False)
    assert len(errors) == 1


def test_effects_are_lists_and_none_is_an_empty_one():
    declared, errors = docstring.parse_effects(
        "paths: /var/log, the folder\nhosts: none\ncommands: df"
    )
    assert declared == Effects(paths=("/var/log", "the folder"), hosts=(), commands=("df",))
    assert errors == ()
    assert docstring.parse_effects("none") == (Effects(), ())


def test_no_effects_section_says_nothing_rather_than_none():
    assert docstring.parse_effects(None) == (None, ())


@pytest.mark.parametrize("section", ["network: all", "touches the disk", "paths: a\nfiles: b"])
def test_effects_that_cannot_be_read_are_an_error_and_not_none(section):
    declared, errors = docstring.parse_effects(section)
    assert declared is None
    assert len(errors) == 1


def test_secrets_are_names():
    assert docstring.parse_secrets("API_TOKEN, db.password") == (("API_TOKEN", "db.password"), ())
    assert docstring.parse_secrets("none") == ((), ())
    assert docstring.parse_secrets(None) == ((), ())
    (said,) = docstring.parse_secrets("the API token")[1]
    assert said.startswith("Secrets: 'the API token' is not a name: write the names alone, on one")


@pytest.mark.parametrize(
    "section",
    [
        "API_TOKEN: for the service\nOTHER_KEY",
        "- API_TOKEN\n- OTHER_KEY",
        "API_TOKEN\nOTHER_KEY (optional)",
    ],
    ids=["entries", "list", "lines"],
)
def test_secrets_written_as_a_block_are_refused_with_the_line_to_write(section):
    (said,) = docstring.parse_secrets(section)[1]
    assert said.endswith("on one line, with commas between: `Secrets: API_TOKEN, OTHER_KEY`")


@pytest.mark.parametrize(
    ("section", "outputs", "found", "said"),
    [
        pytest.param(None, ("rows",), (), "", id="wraps no script"),
        pytest.param(None, ("exit_status",), (0,), "", id="nothing but 0"),
        pytest.param("1", ("exit_status",), (0, 1), "", id="0 is always a success"),
        pytest.param("24, 1", ("stdout", "exit_status"), (0, 1, 24), "", id="several"),
        pytest.param("none", ("exit_status",), (0,), "", id="none"),
        pytest.param("one", ("exit_status",), (0,), "'one' is not a number", id="a word"),
        pytest.param("256", ("exit_status",), (0,), "from 0 to 255", id="too large"),
        pytest.param("-1", ("exit_status",), (0,), "from 0 to 255", id="negative"),
        pytest.param("²", ("exit_status",), (0,), "from 0 to 255", id="no digit of ASCII"),
        pytest.param("1", ("rows",), (), "needs an output `exit_status (int)`", id="no output"),
    ],
)
def test_an_exit_status_means_success_only_if_the_contract_says_so(section, outputs, found, said):
    specs = [OutputSpec(name, None, "") for name in outputs]
    statuses, errors = docstring.parse_success_statuses(section, specs)
    assert statuses == found
    assert said in "".join(errors)
    assert bool(errors) == bool(said)


def test_the_section_of_exit_statuses_is_no_part_of_the_body_and_no_tool_lacks_it():
    doc = docstring.parse_docstring("Sum.\n\nSuccess exit status: 0, 1\n\nKind: read\n")
    assert doc.body == ""
    assert doc.sections[section_names.SUCCESS] == "0, 1"
    assert section_names.SUCCESS not in section_names.SECTIONS
