"""`Verify:` and `Undo:` as calls of other tools (docs/tool-contract.md, ADR 41)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulsus.core.contract.declared_call import (
    describe_errors,
    list_references,
    parse_call,
    render_value,
)
from pulsus.core.types import DeclaredCall, JsonValue

INPUTS, OUTPUTS = ("unit", "path", "dry_run"), ("backup", "changed")


def read(text: str | None, section: str = "Verify"):
    return parse_call(section, text, INPUTS, OUTPUTS)


@pytest.mark.parametrize(
    ("text", "call"),
    [
        pytest.param("a/b/c {}", DeclaredCall("a/b/c"), id="no inputs"),
        pytest.param(
            'a/b/c {unit: "{{input.unit}}", n: 2}',
            DeclaredCall("a/b/c", {"unit": "{{input.unit}}", "n": 2}),
            id="inputs keep their types",
        ),
        pytest.param(
            'a/b/c {u: "{{ output.backup }}"} expect {rows: [{active: true, ...: ...}, ...]}',
            DeclaredCall(
                "a/b/c",
                {"u": "{{ output.backup }}"},
                {"rows": [{"active": True, "...": "..."}, "..."]},
                True,
            ),
            id="a pattern",
        ),
        pytest.param(
            "a/b/c {}\nexpect\n{ok: true}",
            DeclaredCall("a/b/c", {}, {"ok": True}, True),
            id="continuation lines",
        ),
        pytest.param(
            "a/b/c {} expect null", DeclaredCall("a/b/c", {}, None, True), id="null is a result"
        ),
        pytest.param(
            'a/b/c {t: "} expect {"}',
            DeclaredCall("a/b/c", {"t": "} expect {"}),
            id="the word expect inside a text",
        ),
        pytest.param(
            'a/b/c {t: "two  spaces"}',
            DeclaredCall("a/b/c", {"t": "two  spaces"}),
            id="spaces inside a text",
        ),
        pytest.param("none", None, id="none"),
        pytest.param(None, None, id="no section"),
    ],
)
def test_a_declared_call_is_read_as_written(text, call):
    assert read(text) == (call, ())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("service_status {}", "'service_status' is no whole tool id: write domain/action/name"),
        ('t4 {x: "{{input.unit}}"}', "'t4' is no whole tool id: write domain/action/name"),
        ("control/t4 {}", "'control/t4' is no whole tool id"),
        ("a/b/c", "is not `tool-id {inputs}`"),
        ("run the tests", "is not `tool-id {inputs}`"),
        ("a/b/c [1]", "is not `tool-id {inputs}`"),
        ("a/b/c {x: 1", "the inputs cannot be read"),
        ("a/b/c {x: 1, x: 2}", "the key 'x' occurs twice"),
        ("a/b/c {x: {{input.unit}}}", "put {{...}} in quotes"),
        ("a/b/c {x: 1} trailing words", "the inputs cannot be read"),
        ('a/b/c {x: "{{input.units}}"}', "refers to no input; the nearest is 'unit'"),
        ('a/b/c {x: "{{output.changes}}"}', "refers to no output; the nearest is 'changed'"),
        ('a/b/c {} expect {x: "{{output.back}}"}', "the nearest is 'backup'"),
        ('a/b/c {x: "{{unit}}"}', "'{{unit}}' is no reference"),
        ('a/b/c {x: "{{input.unit"}', "'{{' is no reference"),
        ('a/b/c {x: ["{{steps.a}}"]}', "is no reference: write {{input.NAME}}"),
        ("a/b/c {} expect {x: [", "the pattern behind `expect` cannot be read"),
    ],
)
def test_a_call_that_cannot_be_read_is_an_error_that_says_why(text, said):
    call, errors = read(text)
    (error,) = describe_errors(errors)
    assert call is None
    assert error.startswith("Verify: ")
    assert said in error


def test_undo_expects_nothing():
    call, (error,) = read("a/b/c {} expect {ok: true}", "Undo")
    assert call is None
    assert error == "Undo: `expect` belongs to Verify; Undo has only a tool and its inputs"


def test_a_tool_that_takes_any_name_may_refer_to_any():
    call, errors = parse_call("Undo", 'a/b/c {x: "{{input.any}}"}', None, ())
    assert errors == ()
    assert call is not None
    assert list(list_references(call)) == [("input", "any")]


def test_a_value_that_is_one_reference_keeps_its_type_and_any_other_is_text():
    inputs: dict[str, JsonValue] = {"n": 10, "v": "10.1"}
    outputs: dict[str, JsonValue] = {"rows": [1], "ok": True}
    written: JsonValue = {
        "n": "{{input.n}}",
        "v": "{{ input.v }}",
        "rows": ["{{output.rows}}"],
        "text": "n={{input.n}} ok={{output.ok}} v={{input.v}}",
    }
    assert render_value(written, inputs, outputs) == {
        "n": 10,
        "v": "10.1",
        "rows": [[1]],
        "text": "n=10 ok=true v=10.1",
    }


def test_a_missing_value_is_named():
    with pytest.raises(KeyError, match=r"output\.backup"):
        render_value({"x": "{{output.backup}}"}, {}, {})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(JSON)
def test_a_reference_never_evaluates_the_value_that_it_stands_for(value):
    assert render_value("{{input.x}}", {"x": value}, {}) == value
    written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    assert render_value("={{input.x}}", {"x": value}, {}) == f"={written}"


IDS = ("shared/hash/hash_file", "shared/hash/hash_tree", "ops/lint/lint", "code/lint/lint")


@pytest.mark.parametrize(
    ("short", "said"),
    [
        ("hash_file", "write `shared/hash/hash_file`"),
        ("hash/hash_file", "write `shared/hash/hash_file`"),
        ("hash_flie", "write `shared/hash/hash_file`"),
        ("lint", "write `ops/lint/lint` or `code/lint/lint`"),
        ("restart_unit", "write domain/action/name, such as `shared/hash/hash_file`"),
    ],
)
def test_a_short_tool_id_is_answered_with_the_tool_that_it_means(short, said):
    _, errors = read(f"{short} {{}}")
    assert describe_errors(errors, lambda: IDS) == (
        f"Verify: {short!r} is no whole tool id: {said}",
    )


def test_another_contract_error_does_not_load_the_catalogue():
    _, errors = read("run the tests")
    assert describe_errors(errors, lambda: pytest.fail("loaded")) == errors


def test_an_error_that_quotes_a_short_tool_id_is_not_rewritten():
    quoted = ("Kind: 'lint' is no whole tool id: write read",)
    assert describe_errors(quoted, lambda: IDS) == quoted
