"""Configuration files."""

import pytest


def lint(load, tmp_path, name, text, **options):
    file = tmp_path / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    result = load("config/lint/lint_config").run(str(file), **options)
    return [(row["line"], row["severity"], row["message"]) for row in result["rows"]]


@pytest.mark.parametrize(
    ("name", "text", "line", "words"),
    [
        ("a.json", '{"a": 1,\n}', 2, "property name"),
        ("a.json", "", 1, "Expecting value"),
        ("a.json", '{\n// why\n"a": 1}', 2, "JSON has no comments"),
        ("a.yaml", "a: 1\n\tb: 2\n", 2, "cannot start any token"),
        ("a.yaml", "a: [1\nb: 2\n", 2, "expected"),
        ("a.toml", "a = 1\nb = \n", 2, "Invalid value"),
        ("a.toml", "a = 1\na = 2\n", 2, "overwrite"),
        ("a.ini", "[a]\nx\n", 2, "no '=' or ':'"),
        ("a.ini", "[a\nx = 1\n", 1, "closing bracket"),
        ("a.ini", b"[a]\nx = \xff\n", 2, "not UTF-8"),
    ],
)
def test_lint_config_names_the_line_of_a_mistake(load, tmp_path, name, text, line, words):
    found = lint(load, tmp_path, name, text)
    assert found[0][:2] == (line, "error")
    assert words in found[0][2]


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.json", '{"a": {"x": 1},\n "b": [{"x": "x: {"}],\n "a": 2}', 3),
        ("a.yaml", "a: 1\nb:\n  a: 1\na: 2\n", 4),
        ("a.yaml", "x: 1\n---\nx: 1\nx: 2\n", 4),
        ("a.ini", "[s]\nk = 1\n  goes on\n; k = 3\nK: 2\n", 5),
        ("a.ini", "[s]\nk=1\n[t]\nk=1\n[s]\n", 5),
    ],
)
def test_lint_config_warns_of_keys_that_occur_twice(load, tmp_path, name, text, line):
    found = lint(load, tmp_path, name, text)
    assert [entry[:2] for entry in found] == [(line, "warning")]


def test_lint_config_accepts_correct_files(load, tmp_path):
    good = {
        "a.json": '{"a": {"k": "\\"k\\": 1"}, "b": [{"k": 1}, {"k": 2}]}',
        "b.yaml": "base: &b {x: 1}\none: {<<: *b, y: 2}\nself: &s\n  - *s\n",
        "c.toml": "[a]\nx = 1\n[b]\nx = 1\n",
        "d.ini": "\ufeff# c\n[a]\nx = 1\n  [not a section]\n[b]\nx: 1\n",
        "e.service": "[Service]\nExecStartPre=/a\nExecStartPre=/b\n",
        "note.txt": "[[[",
    }
    for name, text in good.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    result = load("config/lint/lint_config").run(str(tmp_path))
    assert result == {"rows": [], "ok": True, "files": 5, "errors": 0, "warnings": 0}


def test_lint_config_never_shows_a_value(load, tmp_path):
    tool = load("config/lint/lint_config")
    for name in ("a.json", "a.yaml", "a.toml", "a.ini"):
        (tmp_path / name).write_text('password = "s3cret\n: s3cret {', encoding="utf-8")
    result = tool.run(str(tmp_path))
    assert result["errors"] >= 3
    assert "s3cret" not in str(result)
    with pytest.raises(ValueError, match="say which kind"):
        tool.run(__file__)
    with pytest.raises(FileNotFoundError):
        tool.run(str(tmp_path / "absent.json"))


def env(load, tmp_path, first, second):
    (tmp_path / "1").write_bytes(first.encode())
    (tmp_path / "2").write_bytes(second if isinstance(second, bytes) else second.encode())
    return load("config/compare/env_diff").run(str(tmp_path / "1"), str(tmp_path / "2"))


def test_env_diff_understands_quotes_comments_and_export(load, tmp_path):
    first = "A=1 # one\nB='x # y'\nexport C=\"multi\nline\"\nD=\n# E=5\nG=#not\n"
    second = 'A="1"\nB="x # y"\nC="multi\nline"  # two\nD=""\n  G = \r\n'
    result = env(load, tmp_path, first, second)
    assert result["equal"] is True
    assert result["variables"] == {"first": 5, "second": 5}


def test_env_diff_never_shows_a_value(load, tmp_path):
    first = "TOKEN=s3cret1\nKEPT=s3cret2\nGONE=s3cret3\n"
    second = b'TOKEN=s3cret4\nKEPT=\nNEW=\xffs3cret5\nNEW=s3cret6\ns3cret7\nQ="s3cret8\n'
    result = env(load, tmp_path, first, second)
    assert {row["name"]: row["status"] for row in result["rows"]} == {
        "GONE": "missing",
        "KEPT": "emptied",
        "NEW": "extra",
        "Q": "extra",
        "TOKEN": "different",
    }
    assert [problem["line"] for problem in result["problems"]] == [4, 5, 6]
    assert "s3cret" not in str(result)


def test_env_diff_of_missing_and_empty_files(load, tmp_path):
    assert env(load, tmp_path, "", "")["equal"] is True
    assert env(load, tmp_path, "A=1\n", "")["missing"] == ["A"]
    with pytest.raises(FileNotFoundError):
        load("config/compare/env_diff").run(str(tmp_path / "absent"), str(tmp_path / "1"))
