"""Documents and tables: summaries, differences, duplicates, conversion."""

import gzip
import json
import tomllib
from collections.abc import Callable

import pytest
import yaml


def test_summarize_csv_tells_the_types_of_columns(load, tmp_path):
    file = tmp_path / "t.csv.gz"
    with gzip.open(file, "wt", encoding="utf-8-sig") as stream:
        stream.write('id,price,on,day,note,none\n1,1.5,yes,2025-01-02,"a, ""b""\nc",\n')
        stream.write("2,-3e2,NO,2024-12-31T10:00:00Z,7,\n\n3,,true,2025-02-01\n")
    result = load("data/summarise/summarize_csv").run(str(file))
    types = {row["column"]: row["type"] for row in result["rows"]}
    assert types == {"id": "integer", "price": "number", "on": "boolean"} | {
        "day": "date",
        "note": "text",
        "none": "empty",
    }
    price = result["rows"][1]
    assert (price["min"], price["max"], price["mean"]) == (-300.0, 1.5, -149.25)
    assert (result["row_count"], result["ragged"], result["empty_cells"]) == (3, 1, 5)


def test_summarize_csv_reads_any_separator_and_no_header(load, tmp_path):
    tool = load("data/summarise/summarize_csv")
    (tmp_path / "a.tsv").write_bytes(b"x\t1\ny\t2\n\xff\t3\n")
    result = tool.run(str(tmp_path / "a.tsv"), header=False)
    assert result["delimiter"] == "\t"
    assert [row["column"] for row in result["rows"]] == ["column 1", "column 2"]
    assert result["rows"][1]["max"] == 3
    (tmp_path / "empty.csv").touch()
    assert tool.run(str(tmp_path / "empty.csv"))["column_count"] == 0
    with pytest.raises(ValueError, match="one character"):
        tool.run(str(tmp_path / "a.tsv"), "::")


def test_summarize_csv_never_gives_a_number_json_cannot_hold(load, tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1e308,nan\n1.7e308,inf\n", encoding="utf-8")
    result = load("data/summarise/summarize_csv").run(str(tmp_path / "a.csv"))
    json.dumps(result, allow_nan=False)
    assert [row["type"] for row in result["rows"]] == ["number", "text"]
    assert result["rows"][0]["mean"] is None


def test_summarize_json_shows_the_shape_and_no_values(load, tmp_path):
    file = tmp_path / "d.json"
    file.write_text('[{"k y": "s3cret", "n": [1, 2.5, null]}, {"n": []}]', encoding="utf-8")
    result = load("data/summarise/summarize_json").run(str(file))
    assert [row["path"] for row in result["rows"]] == [
        "$",
        "$[]",
        "$[].n",
        "$[].n[]",
        '$[]["k y"]',
    ]
    assert result["rows"][3]["types"] == {"integer": 1, "null": 1, "number": 1}
    assert (result["depth"], result["values"], result["type"]) == (3, 9, "list")
    assert "s3cret" not in str(result)


def test_summarize_json_recognises_lines_and_yaml(load, tmp_path):
    tool = load("data/summarise/summarize_json")
    (tmp_path / "a.log").write_text('{"a": 1}\n\n{"a": 2}\n', encoding="utf-8")
    (tmp_path / "b.yml").write_text("a: 2025-01-01\n---\nb: [x]\n", encoding="utf-8")
    lines = tool.run(str(tmp_path / "a.log"))
    assert (lines["format"], lines["rows"][0]["max"]) == ("jsonl", 2)
    assert tool.run(str(tmp_path / "b.yml"))["rows"][2]["types"] == {"date": 1}
    (tmp_path / "bad.json").write_text('{"a": }', encoding="utf-8")
    with pytest.raises(ValueError, match=r"bad\.json is no JSON"):
        tool.run(str(tmp_path / "bad.json"))


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
        + "".join(
            f"{n}: &{n} [{','.join(['*' + p] * 10)}]\n"
            for p, n in zip("abcdefg", "bcdefgh", strict=True)
        ),
        "a: &a\n  - *a\n",
    ],
    ids=["billion laughs", "endless"],
)
def test_summarize_json_stops_at_documents_that_unfold_without_end(
    load, tmp_path, text, monkeypatch
):
    (tmp_path / "bomb.yaml").write_text(text, encoding="utf-8")
    tool = load("data/summarise/summarize_json")
    monkeypatch.setattr(tool, "_MAX_VALUES", 20_000)
    with pytest.raises(ValueError, match="unfolds to more than"):
        tool.run(str(tmp_path / "bomb.yaml"))


def diff(load, tmp_path, old, new, suffix="json", **options):
    for name, text in (("old", old), ("new", new)):
        (tmp_path / f"{name}.{suffix}").write_text(text, encoding="utf-8")
    return load("data/compare/diff_documents").run(
        str(tmp_path / f"old.{suffix}"), str(tmp_path / f"new.{suffix}"), **options
    )


def test_diff_documents_matches_list_items_by_their_name(load, tmp_path):
    old = '{"s": [{"name": "a", "port": 1}, {"name": "b", "port": 2}], "n": [1, 2]}'
    new = '{"n": [1, 3, 4], "s": [{"name": "b", "port": 5}, {"name": "a", "port": 1}]}'
    result = diff(load, tmp_path, old, new)
    assert [(row["path"], row["change"]) for row in result["rows"]] == [
        ("$.s[name=b].port", "changed"),
        ("$.n[1]", "changed"),
        ("$.n[2]", "added"),
    ]
    assert (result["added"], result["removed"], result["changed"]) == (1, 0, 2)


def test_diff_documents_ignores_order_and_format_but_not_types(load, tmp_path):
    (tmp_path / "a.toml").write_text('b = 1\na = "x"\n', encoding="utf-8")
    (tmp_path / "b.yaml").write_text("a: x  # same\nb: 1\n", encoding="utf-8")
    tool = load("data/compare/diff_documents")
    assert tool.run(str(tmp_path / "a.toml"), str(tmp_path / "b.yaml"))["equal"] is True
    assert diff(load, tmp_path, '{"a": 1, "b": null}', '{"a": true, "b": 0}')["changed"] == 2
    assert diff(load, tmp_path, '{"a": NaN}', '{"a": NaN}')["equal"] is True


def test_diff_documents_compares_csv_rows_by_key(load, tmp_path):
    result = diff(load, tmp_path, "host,ip\na,1\nb,2\n", "host,ip\nb,3\na,1\n", "csv", key="host")
    assert [(row["path"], row["after"]) for row in result["rows"]] == [("$[host=b].ip", "3")]


def test_diff_documents_never_shows_a_secret(load, tmp_path):
    old = '{"db": {"password": "s3cret1", "tokens": ["s3cret2"]}}'
    result = diff(
        load, tmp_path, old, '{"db": {"password": "s3cret3"}, "x": {"api_key": "s3cret4"}}'
    )
    assert result["added"] + result["removed"] + result["changed"] == 3
    assert "s3cret" not in str(result)
    with pytest.raises(ValueError, match="cannot be read") as caught:
        diff(load, tmp_path, "a: s3cret\nb: [", "a: 1", "yaml")
    assert "s3cret" not in str(caught.value)


ENV = """# database
export DB_HOST = db1   # inside
DB_PASSWORD=hunter2x
DB_PASS='hunter2x'
SIGNING_KEY="-----BEGIN
hunter2x
"
DATABASE_URL=postgres://app:hunter2x@db/app
COMPASS=north
"""


@pytest.mark.parametrize("name", [".env", "s.env", ".env.local", "settings"])
def test_diff_documents_reads_files_of_variables_and_hides_their_secrets(load, tmp_path, name):
    tool = load("data/compare/diff_documents")
    for folder, text in (
        ("a", ENV),
        ("b", ENV.replace("hunter2", "hunter3").replace("north", "s")),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(text, encoding="utf-8")
    result = tool.run(str(tmp_path / "a" / name), str(tmp_path / "b" / name))
    assert "hunter" not in str(result)
    assert {row["path"]: row["before"] for row in result["rows"]} == {
        "$.DB_PASSWORD": "***",
        "$.DB_PASS": "***",
        "$.SIGNING_KEY": "***",
        "$.DATABASE_URL": "postgres://app:***@db/app",
        "$.COMPASS": "north",
    }


def test_diff_documents_hides_the_value_of_a_named_secret_in_a_new_group(load, tmp_path):
    new = {"web": {"env": [{"name": "DB_PASSWORD", "value": "hunter2x"}]}}
    assert "hunter2x" not in str(diff(load, tmp_path, "{}", json.dumps(new)))


def test_diff_documents_refuses_plain_text_and_shows_none_of_it(load, tmp_path):
    for text in ("password hunter2x\nuser app\n", "A=1\nhunter2x\n"):
        (tmp_path / "a.conf").write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match="text without keys") as caught:
            load("data/compare/diff_documents").run(*[str(tmp_path / "a.conf")] * 2)
        assert "hunter2x" not in str(caught.value)


def test_duplicate_entries_finds_copies_of_lines(load, tmp_path):
    file = tmp_path / "words"
    file.write_bytes("b\n a  x \n\nA x\nb\r\nb\nü\n\n".encode() + b"\xff\n")
    tool = load("data/quality/duplicate_entries")
    result = tool.run(str(file), ignore_case=True)
    assert result["rows"] == [
        {"entry": "b", "count": 3, "lines": [1, 5, 6]},
        {"entry": "a x", "count": 2, "lines": [2, 4]},
    ]
    assert (result["entries"], result["distinct"], result["superfluous"]) == (7, 4, 3)
    assert tool.run(str(file), ignore_space=False)["repeated"] == 1


def test_duplicate_entries_compares_chosen_columns(load, tmp_path):
    file = tmp_path / "t.csv"
    file.write_text('id;a;b\n1;x;"p\nq"\n2;x;r\n3;x;"p\nq"\n', encoding="utf-8")
    tool = load("data/quality/duplicate_entries")
    assert tool.run(str(file), columns=["a", "b"])["rows"][0]["count"] == 2
    assert tool.run(str(file), columns=["a"])["superfluous"] == 2
    with pytest.raises(ValueError, match="choose among id, a, b"):
        tool.run(str(file), columns=["c"])


DOCUMENT = {
    "title": 'quotes " and \\ and\nbreaks ü',
    "n": 1,
    "x": 0.5,
    "on": True,
    "empty": {},
    "list": [1, [2, 3], {"inline": "table"}],
    "deep key": {"a.b": {"c": "d"}, "z": 1},
    "items": [{"name": "a", "sub": {"k": 1}, "more": [{"q": 1}]}, {"name": "b"}],
}


READERS: dict[str, Callable[[str], object]] = {
    "json": json.loads,
    "yaml": yaml.safe_load,
    "toml": tomllib.loads,
}


@pytest.mark.parametrize("to", READERS)
def test_convert_document_keeps_the_content(load, tmp_path, to):
    (tmp_path / "d.json").write_text(json.dumps(DOCUMENT), encoding="utf-8")
    text = load("data/convert/convert_document").run(str(tmp_path / "d.json"), to)["text"]
    assert READERS[to](text) == DOCUMENT


def test_convert_document_goes_from_table_to_document_and_back(load, tmp_path):
    tool = load("data/convert/convert_document")
    table = 'host,note\na,"x, y"\nb,\n'
    (tmp_path / "t.csv").write_text(table, encoding="utf-8")
    text = tool.run(str(tmp_path / "t.csv"), "json")["text"]
    (tmp_path / "t.json").write_text(text, encoding="utf-8")
    assert tool.run(str(tmp_path / "t.json"), "csv")["text"] == table


@pytest.mark.parametrize(
    ("name", "text", "to", "message"),
    [
        ("a.json", '{"a": [null]}', "toml", r"\$\.a\[0\] is null"),
        ("a.json", "[1]", "toml", "needs a mapping at the top"),
        ("a.json", '[{"a": {"b": 1}}]', "csv", r"\$\[0\]\.a is nested"),
        ("a.json", f'{{"a": {2**70}}}', "toml", "too large for TOML"),
        ("a.yaml", "a: .nan\n", "json", "JSON cannot hold"),
        ("a.yaml", "1: a\n'1': b\n", "json", "equal as text"),
        ("a.yaml", "a: !!python/object/apply:os.getcwd []\n", "json", "is no yaml"),
        ("a.csv", "a,b\n1\n", "json", "row 2 has 1 cells"),
        ("a.txt", "x", "json", "source '' is no known format"),
        ("a.json", "{}", "xml", "to 'xml' is no known format"),
    ],
)
def test_convert_document_refuses_what_it_would_have_to_drop(
    load, tmp_path, name, text, to, message
):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        load("data/convert/convert_document").run(str(tmp_path / name), to)


def test_convert_document_says_what_became_text(load, tmp_path):
    (tmp_path / "a.toml").write_text("d = 2025-03-01\nt = 10:00:00\n", encoding="utf-8")
    tool = load("data/convert/convert_document")
    result = tool.run(str(tmp_path / "a.toml"), "json")
    assert json.loads(result["text"]) == {"d": "2025-03-01", "t": "10:00:00"}
    assert len(result["notes"]) == 2
    assert yaml.safe_load(tool.run(str(tmp_path / "a.toml"), "yaml")["text"])["d"].year == 2025
