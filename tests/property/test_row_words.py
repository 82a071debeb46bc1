"""Reading conditions, orders and tables never raises, and stays inside text and columns."""

import math
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pulsus.core.arguments.rows.clause_tokens import read_tokens
from pulsus.core.arguments.rows.comparisons import INVERSE, ORDERING, written_operator
from pulsus.core.arguments.rows.conditions import find_conditions
from pulsus.core.arguments.rows.row_order import find_order
from pulsus.core.arguments.rows.table_words import find_columns, find_title
from tests.unit.core.arguments.rows.shipped_columns import columns_of

TOOLS = ["disk_usage", "top_processes", "listening_ports", "authorized_keys", "interface_counters"]
_PIECES = """
used_percent used percent user name weak reach rx_dropped memory over under at least than more is
not isn't are in or and but drop only where whose with by sort top most fewest 5 80% 1GiB ten half
an hour true everywhere this machine 'x y' " ' ( ) : , ; -> >= = != root contains starts ending
empty table columns titled heading ſ 1e999 – /srv/a
"""
texts = st.lists(st.sampled_from(_PIECES.split()) | st.text(max_size=6), max_size=25).map(" ".join)
tools = st.sampled_from(TOOLS)


@settings(deadline=None)
@given(texts)
def test_tokens_are_in_order_and_hold_their_own_words(text):
    end = 0
    for token in read_tokens(text):
        assert end <= token.start < token.end <= len(text)
        end = token.end
        if token.kind == "number":
            assert math.isfinite(token.number)


@settings(deadline=None)
@given(tools, texts, st.booleans())
def test_a_condition_is_about_a_column_and_fits_its_type(tool, text, named):
    columns = columns_of(tool)
    for one in find_conditions(text, columns, named=named):
        assert one.column in columns
        assert 0 <= one.start < one.end <= len(text)
        assert written_operator(one.op, [one.op]) == one.op
        if one.op in ORDERING:
            assert isinstance(one.value, int | float)
            assert not isinstance(one.value, bool)
        if one.column.kind == "flag":
            assert isinstance(one.value, bool | list)
        if one.op in ("in", "not_in"):
            assert isinstance(one.value, list)


@settings(deadline=None)
@given(tools, texts, st.booleans())
def test_an_order_has_a_column_and_a_number_of_rows(tool, text, own):
    columns = columns_of(tool)
    found = find_order(text, columns, own=own)
    assert found.column is None or found.column in columns
    assert found.count is None or found.count >= 1


@settings(deadline=None)
@given(tools, texts, st.booleans())
def test_a_table_lists_columns_once_and_has_a_title_of_the_text(tool, text, own):
    names, start, end = find_columns(text, columns_of(tool), own=own)
    assert set(names) <= {column.name for column in columns_of(tool)}
    assert len(names) == len(set(names))
    assert 0 <= start <= end <= len(text)
    title = find_title(text)
    assert title is None or title.text in text


@given(st.sampled_from(sorted(INVERSE)))
def test_the_inverse_of_the_inverse_is_the_operator_itself(op):
    assert INVERSE[INVERSE[op]] == op


@pytest.mark.seconds
@pytest.mark.parametrize(
    "piece", ["used_percent over 80 and ", "user root or ", "(", "is not ", "5 "]
)
def test_a_long_clause_is_read_in_a_moment(piece):
    text = (piece * 4000)[:4000]
    columns = columns_of("disk_usage")
    began = time.process_time()  # other work on the machine takes none of it
    find_conditions(text, columns)
    find_order(text, columns, own=True)
    find_columns(text, columns, own=True)
    find_title(text)
    assert time.process_time() - began < 5
