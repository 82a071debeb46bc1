"""The inputs of a row tool are recognised by what its contract says, whatever their names are."""

from pulsus.core.arguments.contract_inputs import from_arguments
from pulsus.core.arguments.rows.row_inputs import read_row_inputs
from pulsus.core.types import ArgSpec
from tests.shipped import TOOLS


def read(args):
    return read_row_inputs(from_arguments(args, "tool", "").inputs, args)


def shipped(name):
    return read(next(tool.args for tool in TOOLS if tool.name == name))


def test_the_shipped_filter_sort_and_table_are_recognised():
    kept = shipped("filter_rows")
    assert (kept.field, kept.op, kept.value) == ("field", "op", "value")
    assert {"==", ">=", "starts_with"} <= set(kept.operators)
    best = shipped("top_rows")
    assert (best.by, best.count, best.direction) == ("by", "n", "descending")
    table = shipped("markdown_table")
    assert (table.columns, table.title) == ("columns", "title")


def test_other_names_and_closed_choices_are_recognised_too():
    column = ArgSpec("column", "str", True, None, "The column to look at.")
    how = ArgSpec("how", "Literal['eq', 'ne', 'gt', 'lt']", True, None)
    than = ArgSpec("than", "Any", True, None)
    found = read((column, how, than))
    assert (found.field, found.op, found.value) == ("column", "how", "than")
    assert found.operators == ("eq", "ne", "gt", "lt")


def test_an_ascending_input_means_the_opposite_direction():
    key = ArgSpec("key", "str", True, None, "The column to sort by.")
    up = ArgSpec("ascending", "bool", False, "False", "Smallest first.")
    found = read((key, up))
    assert (found.by, found.direction, found.descending) == ("key", "ascending", False)


def test_a_tool_without_such_inputs_has_none():
    assert shipped("hash_file").names == frozenset()
