"""Rows and columns are added up."""

import json

import pytest

SUMS = "analysis/summarise/matrix_sums"


@pytest.mark.parametrize(
    ("name", "text", "rows", "columns", "total"),
    [
        ("a.csv", "host;in;out\nw1;1;2\nw2;3;4\n", {"w1": 3, "w2": 7}, {"in": 4, "out": 6}, 10),
        ("a.tsv", "1\t2\n3\t4\n", {"1": 3, "2": 7}, {"1": 4, "2": 6}, 10),
        ("a.csv", "in,out\n1,2\n3,NA\n", {"1": 3, "2": 3}, {"in": 4, "out": 2}, 6),
        ("a.csv", "w1,1,2\nw2,3,4\n", {"w1": 3, "w2": 7}, {"1": 4, "2": 6}, 10),
        ("a.csv", "n\n0.1\n0.2\n0.3\n", {"1": 0.1, "2": 0.2, "3": 0.3}, {"n": 0.6}, 0.6),
        ("a.json", json.dumps([{"h": "w1", "in": 1}, {"h": "w2", "in": 2}]),
         {"w1": 1, "w2": 2}, {"in": 3}, 3),
    ],
)  # fmt: skip
def test_names_and_sums_of_rows_and_columns(load, tmp_path, name, text, rows, columns, total):
    (tmp_path / name).write_text(text, encoding="utf-8")
    result = load(SUMS).run(str(tmp_path / name))
    assert {row["row"]: row["sum"] for row in result["rows"]} == rows
    assert {row["column"]: row["sum"] for row in result["columns"]} == columns
    assert result["total"] == total


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([], "no cells"),
        ([[]], "no cells"),
        ([[1, 2], [3]], "row 2 has 1 values, the first has 2"),
        ([[1, 2], [3, "x"]], "'x' is not a number"),
        ([[1, float("inf")]], "no finite sum"),
        ([["a"], ["b"]], "one column of names and no numbers"),
    ],
)
def test_a_table_that_has_no_sums_is_refused(load, matrix, message):
    with pytest.raises(ValueError, match=message):
        load(SUMS).run(matrix)
