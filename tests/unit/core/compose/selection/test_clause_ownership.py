"""Parts of a request go to the tools that they ask for (spec §6)."""

from dataclasses import replace

import pytest

from pulsus.core.compose.selection.clause_ownership import assign_parts
from pulsus.core.compose.selection.cut_points import find_pieces
from pulsus.core.compose.selection.row_operations import (
    FORMAT,
    SAVE,
    move_leading_table,
    strip_orders,
)
from pulsus.core.types import ArgSpec, OutputSpec
from tests.ranking import ranked, tool

ROWS = OutputSpec("rows", "list[dict[str, Any]]", "Largest first: `path`, `bytes`, `files`.")
TEXT = OutputSpec("text", "str", "The text.")
LIMIT = ArgSpec("limit", "int", required=False, default="10", description="How many to return.")
BORDER = ArgSpec(
    "other_filesystems",
    "bool",
    required=False,
    default="False",
    description="Walk into other file systems.",
)
SIZES = replace(
    tool("storage/usage/folder_sizes", "Sizes.", kind="read"), returns=(ROWS,), args=(LIMIT, BORDER)
)
TABLE = replace(
    tool("shared/report/table", "Table.", kind="read"),
    args=(ArgSpec("title", "str", required=False, default="''", description="A heading."),),
)
PLOT = replace(
    tool("shared/plot/draw", "Draw.", kind="write"),
    args=(ArgSpec("figure_path", "str", required=True, default=None, description="The PNG."),),
)


def parts(request, task=SIZES):
    def find_tool(wording, operation):
        found = {None: task, "table": TABLE}.get(operation, TABLE)
        return replace(ranked(found.id, 0.9), tool=found)

    text = move_leading_table(request)
    found = assign_parts(text, find_pieces(text), find_tool)
    return [strip_orders(text[part.start : part.end]) for part in found]


@pytest.mark.parametrize(
    "request_text",
    [
        "sizes below /srv, just the 15 largest",
        "sizes below /srv, the first 10 will do",
        "sizes below /srv, 200 hits max",
        "sizes below /srv, other file systems too",
        "sizes below /srv, ignore hidden ones",
    ],
)
def test_a_part_that_an_input_takes_is_no_step(request_text):
    assert len(parts(request_text)) == 1


@pytest.mark.parametrize(
    "request_text",
    [
        "sizes below /srv, then the 15 largest",
        "sizes below /srv, the 15 with most files",
        "sizes below /srv, top 10 by files",
        "sizes below /srv, the 5 oldest",
    ],
)
def test_a_part_that_sorts_otherwise_than_the_tool_is_a_step(request_text):
    assert len(parts(request_text)) == 2


def test_a_tool_without_a_limit_needs_a_step_for_its_top_rows():
    unlimited = replace(SIZES, args=(BORDER,))
    assert parts("sizes below /srv, the 15 largest", unlimited)[1:] == ["the 15 largest"]
    assert parts("top 5 folders below /srv", unlimited)[1:] == ["top 5 folders"]


def test_words_for_the_columns_or_title_stay_with_the_table():
    said = parts("sizes below /srv, as a table: path, bytes, title Report")
    assert said == ["sizes below /srv", "as a table: path, bytes, title Report"]


def test_a_table_named_first_comes_after_its_rows():
    assert parts("for the wiki I need a table of sizes below /srv.") == [
        "sizes below /srv",
        "for the wiki I need a table",
    ]


def test_the_file_of_a_tool_that_writes_is_no_report():
    assert len(parts("draw it -> /tmp/a.png", PLOT)) == 1
    assert len(parts("list it -> /tmp/a.json")) == 2


CONVERT = replace(tool("data/convert/convert", "Convert.", kind="read"), returns=(TEXT,))


def parts_with(request, *found):
    """Return the parts if a wording finds the tool of the first word that it has."""

    def find_tool(wording, operation):
        chosen = next((each for word, each in found if word in wording), None)
        return None if chosen is None else replace(ranked(chosen.id, 0.9), tool=chosen)

    text = move_leading_table(request)
    assigned = assign_parts(text, find_pieces(text), find_tool)
    return [(strip_orders(text[part.start : part.end]), part.operation) for part in assigned]


@pytest.mark.parametrize(
    "request_text",
    [
        "sizes below /srv as csv",
        "sizes below /srv in csv format",
        "convert sizes below /srv to csv",
        "give me a csv of sizes below /srv",
        "sizes below /srv and convert that to csv",
    ],
)
def test_a_format_of_rows_is_a_step_that_works_on_them(request_text):
    found = parts_with(request_text, ("sizes", SIZES), ("csv", CONVERT))
    assert [operation for _, operation in found] == [None, FORMAT]


def test_the_format_and_the_file_of_one_order_are_two_steps():
    found = parts_with("save sizes below /srv as csv to /tmp/a.csv", ("sizes", SIZES))
    assert [operation for _, operation in found] == [None, FORMAT, SAVE]


@pytest.mark.parametrize(
    "request_text", ["turn hosts.toml into json", "need hosts.toml as json", "hosts.toml in json"]
)
def test_the_format_of_a_document_is_no_step_of_its_own(request_text):
    assert len(parts_with(request_text, ("json", CONVERT))) == 1


def test_a_document_is_converted_and_not_the_rows_of_the_check_before():
    found = parts_with(
        "check hosts.toml, then convert it to json", ("convert", CONVERT), ("check", SIZES)
    )
    assert [operation for _, operation in found] == [None, ""]


def test_a_format_behind_a_tool_without_rows_is_no_step():
    assert len(parts_with("versions as json", ("versions", CONVERT))) == 1
