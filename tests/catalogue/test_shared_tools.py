"""Shared tools: rows in, rows or a report out."""

import csv
import hashlib
import io
import json
import os

import pytest
import yaml

ROWS = [
    {"mount": "/", "percent": 91.5, "labels": {"kind": "ssd"}},
    {"mount": "/home", "percent": 40, "labels": {"kind": "hdd"}},
    {"mount": "/srv", "percent": "95"},
]


@pytest.mark.parametrize(
    ("field", "op", "value", "mounts"),
    [
        ("percent", ">", 80, ["/", "/srv"]),
        ("percent", ">=", "91.5", ["/", "/srv"]),
        ("percent", "<", 50, ["/home"]),
        ("mount", "!=", "/", ["/home", "/srv"]),
        ("mount", "contains", "HOME", ["/home"]),
        ("mount", "starts_with", "/s", ["/srv"]),
        ("mount", "matches", "^/.+", ["/home", "/srv"]),
        ("mount", "in", ["/", "/srv"], ["/", "/srv"]),
        ("mount", "not_in", ["/"], ["/home", "/srv"]),
        ("labels.kind", "==", "hdd", ["/home"]),
        ("labels", "empty", None, ["/srv"]),
        ("labels", "not_empty", None, ["/", "/home"]),
    ],
)
def test_filter_rows_keeps_what_meets_the_condition(load, field, op, value, mounts):
    result = load("shared/filter/filter_rows").run(ROWS, field, op, value)
    assert [row["mount"] for row in result["rows"]] == mounts
    assert result["kept"] + result["dropped"] == 3


def test_filter_rows_names_the_fields_it_could_have_used(load):
    tool = load("shared/filter/filter_rows")
    with pytest.raises(ValueError, match="choose among mount, percent, labels"):
        tool.run(ROWS, "size", ">", 1)
    with pytest.raises(ValueError, match="'like' is not known"):
        tool.run(ROWS, "mount", "like", "x")
    with pytest.raises(ValueError, match="no regular expression"):
        tool.run(ROWS, "mount", "matches", "(")
    with pytest.raises(ValueError, match="give a list"):
        tool.run(ROWS, "mount", "in", "/")
    assert tool.run([], "anything", "==", 1)["rows"] == []


def test_filter_rows_never_orders_a_number_before_a_word(load):
    rows = [{"v": "unknown"}, {"v": float("nan")}, {"v": True}, {"v": 3}]
    result = load("shared/filter/filter_rows").run(rows, "v", "<", 10)
    assert result["rows"] == [{"v": 3}]


def test_top_rows_sorts_numbers_as_numbers_and_keeps_ties_in_order(load):
    tool = load("shared/sort/top_rows")
    rows = [{"n": "9", "i": 1}, {"n": "10", "i": 2}, {"i": 3}, {"n": "9", "i": 4}]
    assert [row["i"] for row in tool.run(rows, "n")["rows"]] == [2, 1, 4, 3]
    assert [row["i"] for row in tool.run(rows, "n", descending=False)["rows"]] == [1, 4, 2, 3]
    assert tool.run(rows, "n", n=1) == {"rows": [rows[1]], "total": 4, "order": "numeric"}


def test_top_rows_sorts_mixed_values_as_text(load):
    result = load("shared/sort/top_rows").run([{"v": "b"}, {"v": 3}, {"v": "A"}], "v", 3, False)
    assert [row["v"] for row in result["rows"]] == [3, "A", "b"]
    assert result["order"] == "text"


def test_top_rows_refuses_what_cannot_be_sorted(load):
    tool = load("shared/sort/top_rows")
    with pytest.raises(ValueError, match="choose among v"):
        tool.run([{"v": 1}], "w")
    with pytest.raises(ValueError, match="n 0 keeps nothing"):
        tool.run([], "v", 0)


def test_markdown_table_survives_pipes_line_breaks_and_nested_values(load):
    rows = [{"a": "x|y\nz", "b": [1, {"k": "ü"}], "c": None}, {"a": "w", "d": True}]
    result = load("shared/report/markdown_table").run(rows)
    lines = result["markdown"].splitlines()
    assert lines[0] == "| a | b | c | d |"
    assert lines[2] == r'| x\|y<br>z | [1,{"k":"ü"}] |  |  |'
    assert lines[3].endswith("| yes |")


def test_markdown_table_says_how_many_rows_it_left_out(load):
    tool = load("shared/report/markdown_table")
    result = tool.run([{"n": i} for i in range(5)], limit=2)
    assert (result["shown"], result["omitted"]) == (2, 3)
    assert "3 more rows not shown" in result["markdown"]
    assert "_No rows._" in tool.run([])["markdown"]
    with pytest.raises(ValueError, match="no row has the column 'x'"):
        tool.run([{"n": 1}], columns=["x"])
    with pytest.raises(ValueError, match="row 0 is a str"):
        tool.run(["text"])


def test_save_report_writes_text_and_values_whole(load, tmp_path):
    tool = load("shared/save/save_report")
    target = tmp_path / "r.md"
    result = tool.run("# Größe\n", str(target))
    assert target.read_text(encoding="utf-8") == "# Größe\n"
    assert result["bytes"] == len("# Größe\n".encode())
    assert result["sha256"] == hashlib.sha256(target.read_bytes()).hexdigest()
    tool.run([{"a": 1}], str(tmp_path / "r.json"))
    assert json.loads((tmp_path / "r.json").read_text(encoding="utf-8")) == [{"a": 1}]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.json", "r.md"]


def test_save_report_changes_nothing_in_a_dry_run(load, tmp_path):
    result = load("shared/save/save_report").run("x", str(tmp_path / "r.md"), dry_run=True)
    assert result["written"] is False
    assert list(tmp_path.iterdir()) == []


def test_save_report_never_replaces_a_file_unasked(load, tmp_path):
    tool = load("shared/save/save_report")
    target = tmp_path / "r.md"
    target.write_text("old", encoding="utf-8")
    target.chmod(0o600)
    with pytest.raises(FileExistsError, match="set overwrite to true"):
        tool.run("new", str(target))
    assert target.read_text(encoding="utf-8") == "old"
    assert tool.run("new", str(target), overwrite=True)["existed"] is True
    assert target.read_text(encoding="utf-8") == "new"
    assert target.stat().st_mode & 0o777 == 0o600


def test_save_report_replaces_a_link_and_not_what_it_points_to(load, tmp_path):
    (tmp_path / "precious").write_text("keep", encoding="utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "precious")
    load("shared/save/save_report").run("new", str(tmp_path / "link"), overwrite=True)
    assert (tmp_path / "precious").read_text(encoding="utf-8") == "keep"


def test_save_report_needs_a_folder_that_exists(load, tmp_path):
    tool = load("shared/save/save_report")
    with pytest.raises(FileNotFoundError):
        tool.run("x", str(tmp_path / "no" / "r.md"))
    with pytest.raises(ValueError, match="is a folder"):
        tool.run("x", str(tmp_path))


@pytest.mark.parametrize("algorithm", ["sha256", "sha1", "md5", "sha512", "blake2b"])
def test_hash_file_agrees_with_hashlib_on_a_large_file(load, tmp_path, algorithm):
    file = tmp_path / "big"
    content = os.urandom(3_000_001)
    file.write_bytes(content)
    expected = hashlib.new(algorithm, content).hexdigest()
    result = load("shared/hash/hash_file").run(str(file), algorithm, expected.upper())
    assert result["digest"] == expected
    assert result["matches"] is True
    assert result["bytes"] == 3_000_001


def test_hash_file_explains_a_checksum_of_the_wrong_kind(load, tmp_path):
    tool = load("shared/hash/hash_file")
    (tmp_path / "e").write_bytes(b"")
    with pytest.raises(ValueError, match="check the algorithm"):
        tool.run(str(tmp_path / "e"), "sha256", "d41d8cd98f00b204e9800998ecf8427e")
    with pytest.raises(ValueError, match="'crc' is not offered"):
        tool.run(str(tmp_path / "e"), "crc")
    with pytest.raises(FileNotFoundError):
        tool.run(str(tmp_path / "absent"))
    assert tool.run(str(tmp_path / "e"), "SHA-256")["matches"] is None


def test_rows_are_written_in_each_format_without_loss(load):
    rows = [{"a": 1.5, "b": None, "c": [1, "x"]}, {"a": 'u,"v"\n', "d": True}]
    run = load("shared/report/format_rows").run
    assert list(csv.reader(io.StringIO(run(rows, "CSV")["text"]))) == [
        ["a", "b", "c", "d"],
        ["1.5", "", '[1,"x"]', ""],
        ['u,"v"\n', "", "", "true"],
    ]
    assert json.loads(run(rows, "json")["text"]) == rows
    assert [json.loads(line) for line in run(rows, "jsonl")["text"].splitlines()] == rows
    assert yaml.safe_load(run(rows, "yml")["text"]) == rows
    assert run([], "csv")["text"] == "\n"


def test_what_no_format_holds_is_said(load):
    run = load("shared/report/format_rows").run
    assert json.loads(run([{"a": float("nan")}], "json")["text"]) == [{"a": None}]
    for inputs, why in (
        ({"rows": [1], "to": "csv"}, "row 0 is a int"),
        ({"rows": [{"a": 1}], "to": "xml"}, "'xml' is no known format"),
        ({"rows": [{"a": 1}], "to": "csv", "columns": ["z"]}, "no row has the column 'z'"),
    ):
        with pytest.raises(ValueError, match=why):
            run(**inputs)
