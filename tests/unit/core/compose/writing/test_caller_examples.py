"""The caller's examples are parsed, and written into the module (docs/tool-contract.md)."""

import json

import pytest
from hypothesis import given as holds
from hypothesis import strategies as st

from pulsus.core.compose.writing import caller_examples, memorisation_doubts
from pulsus.core.contract.strip_examples import remove_examples
from pulsus.core.contract.tool_parser import read_tool
from pulsus.core.types import BrokenTool, Example
from pulsus.errors import UsageError
from tests.generation import MODULE, module

ECHO = Example({"text": "echo"}, expected={"vowels": 2}, has_expected=True)


def tool(source):
    found = read_tool(
        source,
        path=None,  # type: ignore[arg-type]
        tool_id="a/b/c",
        domain="a",
        action="b",
        name="c",
        max_bytes=100_000,
    )
    assert not isinstance(found, BrokenTool), found
    return found


@pytest.mark.parametrize("arrow", ["->", "=>", "→", " -> "])
def test_an_example_is_parsed_from_json_inputs_and_output(arrow):
    assert caller_examples.parse_examples(f'{{"text": "echo"}} {arrow} {{"vowels": 2}}') == (ECHO,)


def test_an_example_in_the_contract_form_may_have_files():
    text = '{"inputs": {"path": "/tmp/a"}, "files": {"/tmp/a": "x"}, "output": 1}'
    (found,) = caller_examples.parse_examples(text)
    assert [f.path for f in found.files] == ["/tmp/a"]
    listed = "- inputs: {text: echo}\n  output: {vowels: 2}\n- inputs: {text: ''}\n"
    assert len(caller_examples.parse_examples(listed)) == 2


@pytest.mark.parametrize(
    "text",
    ["", "echo gives 2", '{"text": "echo"}', '{"text": } -> 2', "[1] -> 2", '{"a": 1} -> 2 or so'],
)
def test_text_that_is_no_example_is_refused_with_the_correct_form(text):
    with pytest.raises(UsageError) as refused:
        caller_examples.parse_examples(text)
    assert "->" in refused.value.hint


def test_examples_in_a_request_are_found_between_plain_words():
    request = 'count vowels, so {"text": "echo"} -> {"vowels": 2} and {"text": ""} → {"vowels": 0}.'
    assert [e.expected for e in caller_examples.find_examples(request)] == [
        {"vowels": 2},
        {"vowels": 0},
    ]
    assert caller_examples.find_examples("rename {old} -> {new} in a text") == ()


def test_a_module_contains_exactly_the_callers_examples():
    source = caller_examples.set_examples(MODULE.encode(), [ECHO])
    assert tool(source).examples == (ECHO,)
    assert caller_examples.explain_difference(tool(source), [ECHO]) == ""


def test_a_model_cannot_replace_the_callers_examples_by_weaker_ones():
    weak = MODULE.replace("- inputs: {text: echo}", "- inputs: {text: ''}\n      output: ...")
    assert caller_examples.explain_difference(tool(weak.encode()), [ECHO])
    assert tool(caller_examples.set_examples(weak.encode(), [ECHO])).examples == (ECHO,)


def test_lines_of_the_models_examples_do_not_become_docstring_text():
    own = '- inputs: {path: /tmp/a}\n      files: {/tmp/a: "one\\nand two\\n"}\n      output: 2'
    source = MODULE.replace("- inputs: {text: echo}", own)
    assert caller_examples.set_examples(source.encode(), [ECHO]) == caller_examples.set_examples(
        MODULE.encode(), [ECHO]
    )


def test_a_second_examples_section_stays_so_that_the_gate_refuses_it():
    twice = MODULE.replace("Secrets: none", "Secrets: none\n\nExamples:\n    - inputs: {}")
    source = caller_examples.set_examples(twice.encode(), [ECHO])
    assert tool(source).contract_errors


def test_results_that_the_model_expects_itself_are_removed():
    own = MODULE.replace(
        "- inputs: {text: echo}", "- inputs: {text: echo}\n      output: {vowels: 4}"
    )
    assert caller_examples.explain_difference(tool(own.encode()), ())
    source = caller_examples.set_examples(own.encode(), ())
    assert [(dict(e.inputs), e.has_expected) for e in tool(source).examples] == [
        ({"text": "echo"}, False)
    ]
    assert caller_examples.explain_difference(tool(source), ()) == ""


def test_setting_examples_changes_no_other_section_and_no_code():
    before, after = (
        tool(MODULE.encode()),
        tool(caller_examples.set_examples(MODULE.encode(), [ECHO])),
    )
    same = ("summary", "args", "returns", "kind", "effects", "secrets", "side_effects")
    assert all(getattr(before, name) == getattr(after, name) for name in same)
    assert caller_examples.set_examples(MODULE.encode(), [ECHO]).endswith(
        MODULE.rpartition('"""')[2].encode()
    )


@pytest.mark.parametrize("code", ["def run(:", "x = 1\n", "", "'''a'''; x = 1"])
def test_setting_examples_keeps_an_unusual_docstring_valid(code):
    source = caller_examples.set_examples(code.encode(), [ECHO])
    if not code.startswith("'''"):
        assert source == code.encode()


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)


@holds(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=40), expected=VALUES)
def test_any_example_is_read_back_from_the_docstring_unchanged(text, expected):
    line = f"{json.dumps({'text': text})} -> {json.dumps(expected)}"
    given = caller_examples.parse_examples(line)
    assert tool(caller_examples.set_examples(MODULE.encode(), given)).examples == given


@pytest.mark.parametrize(
    "line",
    [
        'if text == "echo":',
        'if "echo" == text:',
        'if text in ("echo", "x"):',
        "match text:\n        case 'echo':",
    ],
)
def test_code_that_recognises_an_example_by_its_text_is_refused(line):
    inner = "            " if "case" in line else "        "
    code = module(body=f"    {line}\n{inner}return {{'vowels': 2}}")
    assert memorisation_doubts.copied(code.encode(), [ECHO], "count vowels")
    assert not memorisation_doubts.copied(code.encode(), [ECHO], "count vowels of echo")


def test_two_examples_exclude_a_constant_only_if_their_results_differ():
    same = Example({"text": "oui"}, expected={"vowels": 2}, has_expected=True)
    other = Example({"text": "x"}, expected={"vowels": 0}, has_expected=True)
    assert not caller_examples.has_differing_results([ECHO, same])
    assert caller_examples.has_differing_results([ECHO, other])
    assert not caller_examples.has_differing_results([])


def shows(*outputs):
    return [Example({"text": str(n)}, expected=o, has_expected=True) for n, o in enumerate(outputs)]


@pytest.mark.parametrize(
    "outputs",
    [
        ("...", "..."),
        ({"vowels": "..."}, {"words": "..."}),
        ({"...": "..."}, {"vowels": 2}),
        ({"vowels": 2, "...": "..."}, {"vowels": "..."}),
        ({"vowels": 2, "...": "..."}, {"words": 1, "...": "..."}),
        (["..."], ["...", "..."]),
        ([1, "..."], [1, 2]),
        ({"vowels": 2}, {"vowels": 2.0}),
    ],
)
def test_examples_that_differ_only_in_wildcards_count_as_equal(outputs):
    assert not caller_examples.has_differing_results(shows(*outputs))


@pytest.mark.parametrize(
    "outputs",
    [
        ({"vowels": 2, "text": "..."}, {"vowels": 0, "text": "..."}),
        ({"rows": [{"n": 1}, "..."]}, {"rows": []}),
        ([1], [1, 2]),
        (None, 0),
        (True, 1),
        ({}, {"a": 1}),
    ],
)
def test_examples_differ_if_no_single_result_fits_both(outputs):
    assert caller_examples.has_differing_results(shows(*outputs))


def test_only_examples_with_a_concrete_result_are_counted():
    assert (
        caller_examples.count_behaviours(shows("...", {"a": "..."}, ["..."], {"a": [1, "..."]}, []))
        == 2
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"text": "echo"} -> {"vowels": ...}', 'in quotes, "...", it stands for any value'),
        ('{"text": ...} -> 1', "the left side has ... at character 10"),
        ('{"text": "echo"} -> [1, ...]', "the result has ... at character 25"),
        ('{"text": "echo"} -> vowels', "the result is not JSON at character 21 ('vowels')"),
        ('{"text": "echo"} ->', "(the end)"),
        ('{"text": "echo"}', "there is no `->`"),
        ("[1] -> 2", "[1], is not an object"),
        ('{"text": "echo"} -> 2 or so', "'or so' follows the result"),
        ("echo gives 2", "the left side is not JSON at character 1"),
    ],
)
def test_an_invalid_example_is_refused_with_its_text_the_place_and_the_correct_form(text, reason):
    with pytest.raises(UsageError) as refused:
        caller_examples.parse_examples(text)
    assert repr(text) in refused.value.message
    assert reason in refused.value.message
    assert '{"words": 2}' in refused.value.hint


def test_quoted_wildcards_are_parsed():
    (found,) = caller_examples.parse_examples('{"text": "a"} -> {"rows": [1, "..."], "...": "..."}')
    assert found.expected == {"rows": [1, "..."], "...": "..."}


def test_a_copy_without_examples_keeps_every_line_number():
    source = caller_examples.set_examples(MODULE.encode(), [ECHO])
    bare = remove_examples(source)
    assert b"echo" not in bare
    assert tool(bare).examples == ()
    assert bare.splitlines().index(b"from __future__ import annotations") == (
        source.splitlines().index(b"from __future__ import annotations")
    )
