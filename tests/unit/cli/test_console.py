"""Results on stdout, everything else on stderr, in any encoding and for any reader."""

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulsus.cli import console
from pulsus.errors import UsageError

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(JSON)
def test_json_loses_nothing_and_drives_no_terminal(value):
    text = console.pretty(value)
    assert json.loads(text) == value
    text.encode("utf-8")
    assert not {c for c in text if (ord(c) < 32 and c != "\n") or 0x7F <= ord(c) < 0xA0}
    assert not set("\u202e\u200b\u2066\ufeff") & set(text)


def test_json_fields_keep_the_order_of_the_names_and_give_json_values():
    inner = SimpleNamespace(id="a/b/c", files=(Path("/w/x.py"), Path("/else/y.py")))
    value = SimpleNamespace(p=0.123456, odds={"a": 0.55555}, why="", tool=inner, none=None)
    body = console.json_fields(
        value, "tool=tool.id odds:2 p:4 why why_not=why? none:4 tool.files", Path("/w")
    )
    assert list(body.items()) == [
        ("tool", "a/b/c"),
        ("odds", {"a": 0.56}),
        ("p", 0.1235),
        ("why", ""),
        ("why_not", None),
        ("none", None),
        ("tool.files", ["x.py", "/else/y.py"]),
    ]
    with pytest.raises(AttributeError, match="missing"):
        console.json_fields(value, "missing")


def test_json_is_ascii_where_the_stream_is_not_utf8(monkeypatch):
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="latin-1"))
    assert console.pretty("τé") == '"\\u03c4\\u00e9"'


def test_the_version_of_the_schema_comes_first(capsys):
    console.document({"b": 1, "a": 2})
    assert list(json.loads(capsys.readouterr().out)) == ["schema_version", "b", "a"]


def test_a_failure_is_two_lines_on_stderr(capsys):
    console.fail(UsageError("a\x1b[31m\nb", hint="c\r\nd"), as_json=False)
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", "error[USAGE]: a[31m b\n  hint: c d\n")


def test_a_failure_in_json_is_one_document_on_stdout(capsys):
    console.fail(UsageError("a", hint="b", key="c"), as_json=True)
    shown = capsys.readouterr()
    assert shown.err == ""
    assert json.loads(shown.out) == {
        "schema_version": 1,
        "ok": False,
        "error": {"code": "USAGE", "message": "a", "hint": "b", "details": {"key": "c"}},
    }


@pytest.mark.parametrize(
    ("args", "wanted"),
    [
        (["route", "x", "--output", "json"], True),
        (["route", "x", "--output=json"], True),
        (["route", "x", "--output", "text"], False),
        (["route", "--output"], False),
        (["route", "json"], False),
        ([], False),
    ],
)
def test_json_is_wanted_where_it_was_asked_for(args, wanted):
    assert console.wants_json(args) is wanted


def test_a_cell_stays_in_its_row(capsys):
    console.table(("a", "b"), [("x\ny\x1b[2J", 1)])
    assert capsys.readouterr().out == "a       b\nx y[2J  1\n"


def test_an_empty_table_is_its_head(capsys):
    console.table(("a", "b"), [])
    assert capsys.readouterr().out == "a  b\n"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("stream", "no_color", "coloured"),
    [
        pytest.param(Terminal(), "", True, id="terminal"),
        pytest.param(Terminal(), "1", False, id="NO_COLOR"),
        pytest.param(io.StringIO(), "", False, id="pipe"),
        pytest.param(None, "", False, id="closed"),
    ],
)
def test_colours_are_for_terminals_that_want_them(monkeypatch, stream, no_color, coloured):
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("NO_COLOR", no_color)
    assert ("\x1b" in console.colour("error", "red")) is coloured


def test_a_character_the_terminal_has_not_got_is_shown_as_its_escape(monkeypatch):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii", errors="strict"))
    console.tolerate_encodings()
    sys.stdout.write("τ \udcff")
    sys.stdout.flush()
    assert raw.getvalue() == b"\\u03c4 \\udcff"


def test_a_closed_stream_is_no_terminal(monkeypatch):
    closed = Terminal()
    closed.close()
    assert [console.is_terminal(s) for s in (None, closed, io.StringIO(), Terminal())] == [
        False,
        False,
        False,
        True,
    ]
