"""`--input` pairs (contracts, "Names and places")."""

import shlex

import pytest

from pulsus.errors import UsageError
from pulsus.execution import parse_inputs
from tests.compositions import arg

ROWS = "list[dict[str, Any]]"


def one(pair, hint):
    return parse_inputs.parse_inputs([pair], [arg(pair.split("=")[0].rstrip(":"), hint)])


def refusal(pairs, *args):
    with pytest.raises(UsageError) as caught:
        parse_inputs.parse_inputs(pairs, args)
    assert caught.value.hint
    return f"{caught.value} | {caught.value.hint}"


@pytest.mark.parametrize(
    ("pair", "hint", "expected"),
    [
        ("x=5", "int", 5),
        ("x=-5", "int | None", -5),
        ("x=5", "float", 5.0),
        ("x=1e3", "float", 1000.0),
        ("x=5", "str", "5"),
        ("x=5", None, "5"),
        ("x=5", "Any", "5"),
        ("x=true", "bool", True),
        ("x=False", "bool", False),
        ("x=", "str", ""),
        ("x=a=b", "str", "a=b"),
        ("x=/etc/hosts", "Path", "/etc/hosts"),
        ("x=null", "str | None", "null"),
        ("x=null", "int | None", None),
        ("x=b", "Literal['a', 'b']", "b"),
        ("x=2", "Literal[1, 2]", 2),
        ("x=a, b", "list[str]", ["a", "b"]),
        ("x=", "list[str]", []),
        ("x=1,2", "list[int]", [1, 2]),
        ('x=["a,b"]', "list[str]", ["a,b"]),
        ('x=[{"a": 1}]', ROWS, [{"a": 1}]),
        ('x={"a": 1}', "dict[str, Any]", {"a": 1}),
        ("x=a,b", "str | list[str]", "a,b"),
        ('x=["a"]', "str | list[str]", ["a"]),
        ("x=12", "int | str", 12),
        ("x=twelve", "int | str", "twelve"),
        ('x:="@x"', "str", "@x"),
        ("x:=5", "float", 5),
        ("x:=null", "str | None", None),
        ("x:=[1, 2]", "Any", [1, 2]),
    ],
)
def test_a_value_is_typed_by_the_hint(pair, hint, expected):
    value = one(pair, hint)["x"]
    assert value == expected
    assert type(value) is type(expected)


@pytest.mark.parametrize(
    ("pair", "hint", "fix"),
    [
        ("x=five", "int", "a whole number, such as 5"),
        ("x=5.5", "int", "type int"),
        ("x=nan", "float", "type float"),
        ("x=inf", "float", "a number, such as 0.5"),
        ("x=1", "bool", "true or false"),
        ("x=yes", "bool", "true or false"),
        ("x=c", "Literal['a', 'b']", "one of a, b"),
        ("x=1,two", "list[int]", "--input 'x:=[1]'"),
        ("x=a", ROWS, "write JSON: --input 'x:=[{\"a\": 1}]'"),
        ('x={"a": NaN}', "dict[str, Any]", "--input 'x:={\"a\": 1}'"),
        ("x:=5", "str", "type str"),
        ("x:=true", "int", "type int"),
        ("x:={", "dict", "double quotes"),
        ("x:=NaN", "float", "finite"),
        ("x:=" + "[" * 100_000, "list", "double quotes"),
        ("x=" + "9" * 5000, "int", "type int"),
        ("x=@/no/such/file", "str", "readable file"),
    ],
    ids=lambda text: str(text)[:20],
)
def test_a_value_that_does_not_fit_is_refused_with_the_fix(pair, hint, fix):
    assert fix in refusal([pair], arg("x", hint))


@pytest.mark.parametrize(
    "hint",
    [ROWS, "list[list[float]]", "dict[str, list[str]] | None", "list[int]", "list[bool]", "dict"],
)
def test_the_json_that_a_hint_offers_is_not_refused(hint):
    """The hint quoted the text again, which is of another type than the input."""
    told = refusal(["x:=name,price"], arg("x", hint))
    assert "double quotes" not in told
    (pair,) = shlex.split(told.rpartition("write JSON: --input ")[2])
    assert one(pair, hint)["x"]


def test_a_file_that_is_no_json_is_not_offered_as_a_text_of_another_type(tmp_path):
    file = tmp_path / "p.csv"
    file.write_text("name,price\na,3\n")
    told = refusal([f"x=@{file}"], arg("x", ROWS))
    assert told.endswith("| write JSON: --input 'x:=[{\"a\": 1}]'")


def test_a_file_gives_its_text_or_its_json(tmp_path):
    file = tmp_path / "rows.json"
    file.write_text('[{"a": "é"}]', encoding="utf-8")
    assert one(f"x=@{file}", "str") == {"x": '[{"a": "é"}]'}
    assert one(f"x=@{file}", ROWS) == {"x": [{"a": "é"}]}
    assert "it is not of type dict" in refusal([f"x=@{file}"], arg("x", "dict"))


def test_a_binary_or_too_large_file_is_refused(tmp_path, monkeypatch):
    file = tmp_path / "data"
    file.write_bytes(b"\xff\xfe")
    assert "not UTF-8" in refusal([f"x=@{file}"], arg("x"))
    monkeypatch.setattr(parse_inputs, "MAX_FILE_BYTES", 1)
    assert "larger than 1 bytes" in refusal([f"x=@{file}"], arg("x"))
    assert "directory" in refusal([f"x=@{tmp_path}"], arg("x"))


def test_an_unknown_name_is_answered_with_the_nearest():
    assert "did you mean 'folder'" in refusal(["foldr=/"], arg("folder"), arg("limit", "int"))
    assert "known inputs: folder" in refusal(["zzz=/"], arg("folder"))
    assert "it takes none" in refusal(["zzz=/"])


def test_an_input_given_twice_is_refused():
    assert "given twice" in refusal(["a=1", "a=2"], arg("a"))


@pytest.mark.parametrize("pair", ["a", "=1", ":=1", ""])
def test_an_invalid_pair_is_refused(pair):
    assert "is not a NAME=VALUE pair" in refusal([pair], arg("a"))


def test_a_tool_that_takes_anything_gets_text():
    free = arg("kwargs", None, required=False, kind="var_keyword")
    assert parse_inputs.parse_inputs(["a=1"], [free]) == {"a": "1"}


@pytest.mark.parametrize("pair", ["note=@no such.md", "note:=@no such.md", "note:=it's"])
def test_the_hint_for_a_text_is_not_read_otherwise_by_a_shell(pair):
    _, word = refusal([pair], arg("note")).split(" --input ")
    (given,) = shlex.split(word)
    assert one(given, "str") == {"note": pair.partition("=")[2]}


def test_text_that_only_contains_the_sign_of_a_hint_is_not_refused():
    parse_inputs.check_pairs(["name=a…", 'name:="…"', "name="])
    with pytest.raises(UsageError, match="stands for a value"):
        parse_inputs.check_pairs(["name=a", "other=…"])
