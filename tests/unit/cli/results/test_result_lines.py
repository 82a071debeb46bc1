"""The shape of a result decides how it is shown."""

import time

import pytest

from pulsus.cli.results.result_lines import ResultView, result_lines
from pulsus.cli.results.value_text import exact, readable


def styled(result, width=80, **view):
    return list(result_lines(result, ResultView(width, **view)))


def lines(result, width=80, **view):
    return [line for _, line in styled(result, width, **view)]


def test_a_command_without_full_does_not_offer_it():
    rows = [{"name": f"n{n}", "tags": ["a" * 40, "b" * 40]} for n in range(5)]
    shown = "\n".join(lines({"rows": rows}, most_rows=2, has_full=False))
    assert "… 3 more rows\n" in f"{shown}\n"
    assert "--full" not in shown
    assert "--full shows all" in "\n".join(lines({"rows": rows}, most_rows=2))


@pytest.mark.parametrize(("width", "first"), [(80, "not ok"), (None, "ok     no")])
def test_an_error_and_ok_false_come_before_everything_else(width, first):
    result = {"rows": [{"a": 1}], "count": 1, "ok": False, "error": "no route to host"}
    assert lines(result, width)[:2] == [first, "error  no route to host"]


def test_warnings_are_shown_first_and_one_by_one():
    shown = styled({"text": "x", "warnings": ["the disk is slow", "no swap"]})
    assert shown[:2] == [("yellow", "warning  the disk is slow"), ("yellow", "warning  no swap")]


def test_a_number_of_warnings_is_a_value_like_any_other():
    assert lines({"warnings": 2, "ok": True}) == ["warnings  2", "ok        yes"]


def test_a_long_table_says_how_many_rows_are_missing_and_how_to_see_them():
    shown = lines([{"n": number} for number in range(220)], most_rows=30)
    assert shown[-1] == "… 190 more rows; --full shows all"
    assert len(lines([{"n": number} for number in range(220)], most_rows=30, full=True)) == 221


def test_a_folded_value_names_the_way_to_see_it():
    result = {"hosts": [f"host-{number}.example" for number in range(40)], "tags": {"a": {"b": 1}}}
    shown = lines(result, width=60)
    assert shown[:2] == ["hosts  40 items", 'tags   {"a": {"b": 1}}']
    assert shown[2] == "(--full shows values that are folded or cut)"
    assert "host-39.example" in " ".join(lines(result, width=60, full=True))


@pytest.mark.parametrize(
    ("result", "shown"),
    [
        ({}, ["none"]),
        ([], ["none"]),
        (None, ["–"]),
        (True, ["yes"]),
        ("one line", ["one line"]),
        ([1, 2], ["1", "2"]),
        ([{}, {}], ["2 empty records"]),
        ({"rows": []}, ["rows  none"]),
    ],
)
def test_small_results_need_no_table(result, shown):
    assert lines(result) == shown


def test_a_text_of_several_lines_keeps_them():
    assert lines("[server]\n\tport = 1\n") == ["[server]", "        port = 1"]
    assert lines("a\n\tb\n", None) == ["a", "\tb"]


def test_a_pipe_gets_exact_values_in_words_that_awk_can_count():
    row = {"size_bytes": 1288490188, "at": "2026-11-23T10:00:00Z", "no": None, "t": "", "l": [1, 2]}
    head, cells = lines([row], None)
    assert head.split() == list(row)
    assert cells.split() == ["1288490188", "2026-11-23T10:00:00Z", "-", '""', "[1,2]"]
    assert exact("a  b\n c") == "a b c"


def test_times_are_local_and_other_texts_stay(monkeypatch):
    monkeypatch.setenv("TZ", "UTC-2")
    time.tzset()
    assert readable("at", "2026-11-23T10:00:00.123+00:00") == "2026-11-23 12:00:00"
    assert readable("at", "2026-11-23T10:00:00Z and later") == "2026-11-23T10:00:00Z and later"
    assert readable("at", "2026-11-23T10:00:00") == "2026-11-23T10:00:00"
    monkeypatch.undo()
    time.tzset()
