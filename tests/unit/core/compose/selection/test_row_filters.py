"""Wording that says which rows of a tool are wanted (spec §6)."""

from dataclasses import replace

import pytest

from pulsus.core.compose.selection.row_filters import (
    find_filter,
    find_only,
    is_choice,
    is_filter,
    takes_pairs,
)
from pulsus.core.compose.selection.row_vocabulary import limit_input, row_vocabulary
from pulsus.core.types import ArgSpec, OutputSpec
from tests.ranking import ranked, tool

ROWS = OutputSpec(
    "rows",
    "list[dict[str, Any]]",
    "One a process, most open first: `pid`, `sockets`, `exit_code`, `root_rights`, `weak`,"
    " `risk` (`setuid`, `world_writable`), `used_percent`.",
)


def arg(name, hint="str", description="", default="''"):
    return ArgSpec(name, hint, required=False, default=default, description=description)


OPEN_FILES = replace(
    tool("process/files/open_files", "List open files.", kind="read"),
    returns=(ROWS,),
    args=(
        arg("warn_percent", "float", "Warn from this share."),
        arg("limit", "int", "How many processes to return."),
        arg("protocol", "str", "tcp or udp."),
    ),
)
FOUND = replace(ranked(OPEN_FILES.id, 0.9), tool=OPEN_FILES, unmatched=("rsync", "calls"))


def test_rows_are_described_by_the_contract():
    vocabulary = row_vocabulary(OPEN_FILES)
    assert vocabulary.fields[:2] == ("pid", "sockets")
    assert vocabulary.values["setuid"] == ("risk",)
    assert "open" in vocabulary.order
    limit = limit_input(OPEN_FILES)
    assert limit is not None
    assert limit.name == "limit"


@pytest.mark.parametrize(
    ("wording", "filtered"),
    [
        ("all procs with more than 500 sockets", "with more than 500 sockets"),
        ("accounts that have root rights", "that have root rights"),
        ("who was killed, exit code 137, in a.txt", "exit code 137, in a.txt"),
        ("every job that calls rsync", "that calls rsync"),
    ],
)
def test_the_end_of_a_task_that_filters_its_rows_is_found(wording, filtered):
    at = find_filter(FOUND, wording)
    assert at is not None
    assert wording[at:].strip() == filtered


@pytest.mark.parametrize(
    "wording",
    [
        "processes above 80 percent",  # an input takes it
        "list them with the root rights",  # a column to show
        "what repeats in that rsync",
        "open files",
    ],
)
def test_wording_that_no_field_or_input_needs_filtered_is_no_filter(wording):
    assert find_filter(FOUND, wording) is None


@pytest.mark.parametrize(
    "wording", ["sockets above 5", "setuid only", "just the weak", "risk setuid"]
)
def test_a_part_that_keeps_some_rows_is_a_filter(wording):
    assert is_filter(OPEN_FILES, wording)


@pytest.mark.parametrize(
    "wording", ["weak only", "tcp only", "what is weak here", "percent above 5"]
)
def test_a_part_for_a_column_or_an_input_is_no_filter(wording):
    assert not is_filter(OPEN_FILES, wording)


@pytest.mark.parametrize(
    "wording", ["which setuid files does it have", "and which risk does it run"]
)
def test_a_question_of_its_own_is_no_filter(wording):
    assert is_filter(OPEN_FILES, "which setuid files it has")
    assert not is_filter(OPEN_FILES, wording)


def test_only_with_a_value_of_an_input_belongs_to_the_tool():
    assert find_only(OPEN_FILES, "only tcp") is None
    assert is_choice("tcp only")
    assert not is_choice("only tcp and then something else")


def test_pairs_belong_to_a_tool_that_takes_a_mapping():
    labelled = replace(OPEN_FILES, args=(arg("labels", "dict[str, str] | None"),))
    assert takes_pairs(labelled, "where job=api and code=503")
    assert not takes_pairs(labelled, "where risk=setuid")
    assert not takes_pairs(OPEN_FILES, "where job=api")


def test_a_clause_that_relates_two_things_is_no_filter():
    assert find_filter(FOUND, "the accounts and the keys that rsync calls them") is None


@pytest.mark.parametrize("end", ["that are", "which is", "who a", "that", "whose"])
def test_a_request_that_ends_before_it_says_which_rows_has_no_filter(end):
    text = f"open files {end}"
    assert find_filter(FOUND, text) is None


def test_a_pair_without_a_name_is_none():
    takes = replace(OPEN_FILES, args=(arg("labels", "dict[str, str]"),))
    assert not takes_pairs(takes, "open files with _=-")
