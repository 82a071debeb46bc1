"""Examples that no single tool can satisfy are refused before a model is asked (spec §7)."""

import json

import pytest

from pulsus.core.compose.writing import caller_examples, example_consistency
from pulsus.errors import ExamplesImpossible


def refused(*said):
    with pytest.raises(ExamplesImpossible) as found:
        example_consistency.check_examples(
            [e for text in said for e in caller_examples.parse_examples(text)]
        )
    return found.value


def file(content, output):
    return json.dumps({"inputs": {"p": "/tmp/a"}, "files": {"/tmp/a": content}, "output": output})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"a": "x"} -> {"n": 1}', '{"a": "x"} -> {"n": 2}'),
        ('{"a": 1, "b": 2} -> 3', '{"b": 2, "a": 1} -> 4'),
        ('{"a": "x"} -> {"n": 1}', '{"a": "x"} -> {"m": 1}'),
        ("{} -> [1]", "{} -> []"),
        (file("x", 1), file("x", 2)),
    ],
)
def test_two_results_for_one_input_are_refused_before_a_model_is_asked(one, other):
    error = refused('{"a": "other", "p": 1} -> {"n": 0}', one, other)
    assert "example 2 (" in error.message
    assert "example 3 (" in error.message
    assert "wrong" in error.hint


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"a": "x"} -> {"n": 1}', '{"a": "x"} -> {"n": 1}'),
        ('{"a": "x"} -> {"n": 1, "...": "..."}', '{"a": "x"} -> {"n": 1, "m": 2}'),
        ('{"a": "x"} -> [1, "..."]', '{"a": "x"} -> ["...", 2]'),
        ('{"a": 1} -> "int"', '{"a": true} -> "bool"'),
        ('{"a": "x", "b": 1} -> 1', '{"a": "x"} -> 2'),
        ('{"a": 1, "b": 2} -> 1', '{"b": 2, "c": 3} -> 2'),
        ("{} -> 1", '{"a": "x"} -> 2'),
        (file("x", 1), file("y", 2)),
    ],
)
def test_examples_that_one_tool_can_satisfy_are_accepted(one, other):
    given = (*caller_examples.parse_examples(one), *caller_examples.parse_examples(other))
    assert example_consistency.check_examples(given) == given


@pytest.mark.parametrize(
    ("name", "usable"),
    [("file-name", "file_name"), ("class", "class_"), ("2nd", "value"), ("", "value")],
)
def test_an_invalid_argument_name_is_refused_before_a_model_is_asked(name, usable):
    error = refused('{"a": 1} -> 1', f'{{"a": 1, {json.dumps(name)}: 2}} -> 3')
    assert f'example 2 ({{"a": 1, {json.dumps(name)}: 2}} -> 3)' in error.message
    assert repr(name) in error.message
    assert repr(usable) in error.hint


def test_examples_of_two_tools_are_refused_before_a_model_is_asked():
    error = refused('{"text": "a"} -> 1', '{"text": "b"} -> 2', '{"txt": "c"} -> 3')
    assert "example 1 (" in error.message
    assert "example 3 (" in error.message
    assert "null" in error.hint
    chained = '{"a": 1} -> 1', '{"c": 1} -> 3', '{"b": 1, "c": 2} -> 2', '{"a": 2, "b": 1} -> 4'
    example_consistency.check_examples(
        [e for text in chained for e in caller_examples.parse_examples(text)]
    )
