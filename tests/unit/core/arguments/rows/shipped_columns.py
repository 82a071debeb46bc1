"""Columns of the tools that ship, read from their contracts."""

from functools import cache

from pulsus.core.arguments.contract_inputs import from_arguments
from pulsus.core.arguments.rows.columns import read_columns
from tests.shipped import TOOLS


@cache
def columns_of(name):
    """Return the columns of the rows that the tool of this name returns."""
    tool = next(tool for tool in TOOLS if tool.name == name)
    output = next(one for one in tool.returns if one.name == "rows")
    return read_columns("rows", output.description, tool.examples)


@cache
def about(name):
    """Return the stems of what these rows are."""
    tool = next(tool for tool in TOOLS if tool.name == name)
    return from_arguments(tool.args, tool.id, tool.summary).own
