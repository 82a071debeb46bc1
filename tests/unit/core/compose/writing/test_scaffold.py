"""Skeletons from a request, and signatures from examples (routing spec §7)."""

import pytest

from pulsus.core.compose.writing import caller_examples, scaffold
from pulsus.core.compose.writing.call_signature import infer_signature
from pulsus.core.contract.tool_parser import read_tool
from pulsus.core.types import BrokenTool, Example

COUNT = "count the vowels of a text"


def tool(source):
    found = read_tool(
        source.encode(),
        path=None,  # type: ignore[arg-type]
        tool_id="a/b/c",
        domain="a",
        action="b",
        name="c",
        max_bytes=100_000,
    )
    assert not isinstance(found, BrokenTool), found
    return found


@pytest.mark.parametrize(
    ("example", "line"),
    [
        ('{"text": "a"} -> {"n": 1}', "def run(text: str) -> dict[str, Any]:"),
        ('{"a": 1, "b": 1.5} -> 2', "def run(a: int, b: float) -> int:"),
        (
            '{"items": ["a"], "n": true} -> ["a"]',
            "def run(items: list[str], n: bool) -> list[str]:",
        ),
        ('{"rows": [{"a": 1}]} -> null', "def run(rows: list[dict[str, Any]]) -> None:"),
        (
            '{"inputs": {"path": "/tmp/a/b"}, "files": {"/tmp/a/b": ""}, "output": 1}',
            "def run(path: Path) -> int:",
        ),
        (
            '{"inputs": {"folder": "/tmp/a"}, "files": {"/tmp/a/b": ""}, "output": 1}',
            "def run(folder: Path) -> int:",
        ),
        ('{"values": [1, 2.5]} -> 1', "def run(values: list[float]) -> int:"),
        ('{"mixed": [1, "a"]} -> 1', "def run(mixed: list[Any]) -> int:"),
    ],
)
def test_the_signature_is_inferred_from_the_examples(example, line):
    call = infer_signature(caller_examples.parse_examples(example))
    assert call is not None
    assert call.render() == line


def test_an_argument_missing_in_one_example_is_optional():
    given = [
        *caller_examples.parse_examples('{"a": 1, "b": 2} -> 1'),
        *caller_examples.parse_examples('{"a": 2} -> null'),
    ]
    call = infer_signature(given)
    assert call is not None
    assert call.render() == "def run(a: int, b: int | None = None) -> int | None:"


def test_an_empty_list_does_not_change_the_item_type():
    given = [
        *caller_examples.parse_examples('{"a": []} -> {"b": []}'),
        *caller_examples.parse_examples('{"a": [1]} -> {"b": ["x"]}'),
    ]
    call = infer_signature(given)
    assert call is not None
    assert call.parameters[0].hint == "list[int]"
    assert call.keys == (("b", "list[str]"),)


@pytest.mark.parametrize(
    "request_",
    [
        COUNT,
        "list files in /var/log older than 3 days",
        "ping example.org",
        'say """hello""" \\n',
        "Args: of a program",
        "λ über 東京",
        "x" * 4000,
        "!!!",
    ],
)
def test_the_skeleton_of_any_request_follows_the_contract(request_):
    found = tool(scaffold.render_skeleton(request_, ()))
    assert found.contract_errors == ()
    assert [n for n in found.missing_sections if n != "Examples"] == []
    assert found.kind_declared
    assert all(arg.type_hint and arg.description for arg in found.args)


def test_a_request_for_a_change_gets_the_contract_of_a_write():
    found = tool(scaffold.render_skeleton("delete the file /tmp/old.log", ()))
    assert found.contract_errors == ()
    assert (found.kind, found.target, found.approval) == ("write", ("path",), "operator")
    assert found.verify is not None
    assert found.verify.inputs == {"path": "{{input.path}}"}
    assert [(a.name, a.default) for a in found.args] == [("path", None), ("dry_run", "False")]


def test_values_in_the_request_become_arguments_of_the_skeleton():
    found = tool(scaffold.render_skeleton("list files in /var/log older than 3 days", ()))
    assert [(a.name, a.type_hint) for a in found.args] == [("path", "Path"), ("number", "int")]


def test_a_skeleton_contains_the_examples_and_its_test_checks_them(tmp_path):
    given = caller_examples.parse_examples('{"text": "echo"} -> {"vowels": 2}')
    source = scaffold.render_skeleton(COUNT, given)
    assert tool(source).examples == given
    (tmp_path / "m.py").write_text(source, encoding="utf-8")
    names: dict = {"__file__": str(tmp_path / "test_m.py")}
    exec(compile(scaffold.render_test("m", "m.py", given), "test_m.py", "exec"), names)
    with pytest.raises(NotImplementedError, match="not written"):
        names["test_example_1"]()
    written = source.replace(source.splitlines()[-1], '    return {"vowels": 2}')
    (tmp_path / "m.py").write_text(written, encoding="utf-8")
    names["test_example_1"]()


def test_the_test_of_a_skeleton_without_examples_fails_until_it_is_written(tmp_path):
    names: dict = {"__file__": str(tmp_path / "test_m.py")}
    exec(compile(scaffold.render_test("m", "m.py", ()), "test_m.py", "exec"), names)
    with pytest.raises(pytest.fail.Exception, match="no expected result yet"):
        names["test_result_of_the_tool"]()


@pytest.mark.parametrize(
    ("request_", "name"),
    [
        (COUNT, "count_vowels_text"),
        ("Größe!", "new_tool"),
        ("show 12 of /etc/hosts", "show"),
        ("", "new_tool"),
    ],
)
def test_a_valid_tool_name_is_derived_from_the_request(request_, name):
    assert scaffold.derive_name(request_) == name


def test_the_skeleton_for_a_model_ends_with_the_result_keys_of_the_examples():
    example = Example({"rows": []}, expected={"totals": {}, "rows": 0}, has_expected=True)
    assert 'return {"totals": ..., "rows": ...}\n' in scaffold.render_model_skeleton(
        "add up rows", [example]
    )
    assert "return" not in scaffold.render_model_skeleton("add up rows", []).split("def run")[1]
