"""Any JSON value can be shown: no error, no control character, no line that is too long."""

import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pulsus.cli.results.result_lines import ResultView, result_lines
from pulsus.cli.results.text_cells import cells

NAMES = ["rows", "ok", "error", "warnings", "size_bytes", "used_percent", "age_seconds", "ms"]
NAMES += ["timestamp_ms", "rx_bytes_per_second", "path", "message", "markdown", ""]
WORDS = st.sampled_from(
    ["/var/log/syslog", "web-1", "at", "2026-11-23T10:00:00Z", "冗長化済み", "🚀"]
)
TEXTS = st.one_of(
    st.text(max_size=20),
    st.lists(WORDS, max_size=12).map(" ".join),
    st.lists(WORDS, max_size=12).map("\n".join),
    st.text(alphabet="\x00\x07\x1b[31m\x9b2J\u202e\u200b\t\r\n\x85ab", max_size=30),
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS
KEYS = st.sampled_from(NAMES) | st.text(max_size=30)
RECORDS = st.lists(st.dictionaries(KEYS, SCALARS, max_size=6), max_size=4)
VALUES = st.recursive(
    SCALARS | RECORDS,
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(KEYS, inner, max_size=8),
    max_leaves=8,
)
RESULTS = st.dictionaries(KEYS, VALUES, max_size=6) | VALUES
WIDTHS = st.integers(min_value=20, max_value=200)


def drives_a_terminal(text):
    return [c for c in text if c != "\t" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")]


@settings(max_examples=150, deadline=None)
@given(RESULTS, WIDTHS, st.booleans(), st.none() | st.integers(1, 5))
@example({"size_bytes": 10**400, "age_seconds": 1e308, "timestamp_ms": -1e17}, 80, False, None)
@example([{"a_b_c": 1, "冗長化済み冗長化済み冗長化済み": "x y"}] * 2, 20, True, None)
def test_no_line_is_wider_than_the_terminal_but_for_one_long_word(result, width, full, rows):
    for _, line in result_lines(result, ResultView(width, most_rows=rows, full=full)):
        assert cells(line) <= width or " " not in line.strip(), line


@pytest.mark.seconds
@settings(max_examples=100, deadline=None)
@given(RESULTS, st.none() | WIDTHS, st.booleans())
def test_no_control_character_of_a_result_is_shown(result, width, full):
    shown = "".join(line for _, line in result_lines(result, ResultView(width, full=full)))
    # A format character that is no control, such as a soft hyphen, neither moves nor hides text.
    assert [c for c in drives_a_terminal(shown) if unicodedata.category(c) != "Cf"] == []
    assert not set(shown) & set("\u061c\u200b\u200e\u202e\u2066\ufeff")


@pytest.mark.seconds
@settings(max_examples=60, deadline=None)
@given(RECORDS.filter(lambda records: records and any(records)))
def test_a_pipe_gets_one_line_for_each_record(records):
    """Cells are separated by two blanks or more, and no cell has two blanks in a row."""
    lines = [line for _, line in result_lines(records, ResultView(None))]
    assert len(lines) == len(records) + 1


@pytest.mark.seconds
@settings(max_examples=60, deadline=None)
@given(RECORDS, WIDTHS)
def test_full_leaves_out_no_field(records, width):
    lines = result_lines({"rows": records}, ResultView(width, most_rows=1, full=True))
    assert [line for _, line in lines if "not shown" in line or "more row" in line] == []
