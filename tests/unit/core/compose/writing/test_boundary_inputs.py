"""Boundary cases that no example covers are proposed to the caller (ADR 33)."""

import pytest

from pulsus.core.compose.writing.boundary_inputs import propose_boundaries
from pulsus.core.types import Example, InlineFile


def example(inputs, files=()):
    return Example(inputs, tuple(InlineFile(p, c.encode()) for p, c in files), 1, True)


@pytest.mark.parametrize(
    ("inputs", "value", "why"),
    [
        ({"text": "echo"}, "", "empty"),
        ({"n": 3}, 0, "zero"),
        ({"n": 3}, -1, "negative"),
        ({"share": 0.5}, 0.0, "zero"),
        ({"net": "10.0.0.0/24"}, "10.0.0.0/32", "one address"),
        ({"net": "fd00::/64"}, "fd00::/128", "one address"),
        ({"rows": [1, 2]}, [], "empty list"),
        ({"row": {"a": 1}}, {}, "empty object"),
        ({"text": "a=1\nb=2\n"}, "a=1\nb=2\nno_value", "a line without ="),
        ({"text": "name,size\na,1\n"}, "name,size\n", "a header without rows"),
        ({"day": "2024-03-01"}, "2024-02-29", "a leap day"),
        ({"flag": True}, False, "false"),
    ],
)
def test_the_boundary_input_of_each_type_is_proposed(inputs, value, why):
    found = propose_boundaries([example(inputs)])
    assert (value, why) in [(each.value, each.why) for each in found]


def test_a_boundary_input_of_an_example_is_not_proposed_again():
    found = propose_boundaries([example({"n": 3}), example({"n": 0}), example({"n": False})])
    assert [each.why for each in found] == ["negative"]


def test_boundaries_are_proposed_for_file_contents_and_not_for_file_paths():
    given = [example({"path": "/tmp/a.env"}, [("/tmp/a.env", "A=1\n")])]
    assert [each.argument for each in propose_boundaries(given)][:2] == [
        "the file path",
        "the file path",
    ]
    assert 'the file path = "" (empty)' in [each.describe() for each in propose_boundaries(given)]


def test_proposed_boundaries_cover_each_argument_and_stay_few():
    found = propose_boundaries([example(dict.fromkeys("abcdefgh", 3))])
    assert [each.argument for each in found] == list("abcdef")
    assert propose_boundaries([]) == ()
