"""Expected outputs as patterns (docs/tool-contract.md)."""

import pytest

from pulsus.core.contract.example_match import matches


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (5, 5),
        (5.0, 5.0),
        (0.3, 0.1 + 0.2),
        ("...", {"any": ["thing"]}),
        ({"a": "..."}, {"a": None}),
        ({"...": "...", "a": 1}, {"a": 1, "b": 2}),
        ({"...": "..."}, {}),
        ([1, "..."], [1]),
        ([1, "..."], [1, 2, 3]),
        (["..."], []),
        (["...", 2], [9, 2]),
        ([{"a": [1, "..."]}], [{"a": [1, 2]}]),
        ({"...": "..."}, {"...": 1}),
        ({"...": 1}, {"...": 1}),
    ],
)
def test_a_pattern_fits(expected, actual):
    assert matches(expected, actual) is None


@pytest.mark.parametrize(
    ("expected", "actual", "message"),
    [
        (5, 5.0, "result: expected 5, got 5.0"),
        (5.0, 5, "result: expected 5.0, got 5"),
        (True, 1, "result: expected true, got 1"),
        (0, False, "result: expected 0, got false"),
        ({"rows": [{"bytes": 5}]}, {"rows": [{"bytes": 6}]}, "rows[0].bytes: expected 5, got 6"),
        ({"a": 1}, {}, "a: expected 1, but the key is missing"),
        ({}, {"a": 1}, "a: not expected, got 1"),
        ({"a b": 1}, {"a b": 2}, 'result["a b"]: expected 1, got 2'),
        ({"x": {"a b": 1}}, {"x": {"a b": 2}}, 'x["a b"]: expected 1, got 2'),
        ([1, 2], [1], "result: expected 2 items, got 1"),
        ({"a": []}, {"a": [1]}, "a: expected 0 items, got 1"),
        ([1, 2, "..."], [1], "result: expected at least 2 items, got 1"),
        (1, 2, "result: expected 1, got 2"),
        (1, True, "result: expected 1, got true"),
        (False, 0, "result: expected false, got 0"),
        (None, 0, "result: expected null, got 0"),
        ("1", 1, 'result: expected "1", got 1'),
        (1.0, 1.0 + 1e-8, "result: expected 1.0, got 1.00000001"),
        (10**400, 1.5, f"result: expected {'1' + '0' * 79}…, got 1.5"),
        (2**60, 2**60 + 1, f"result: expected {2**60}, got {2**60 + 1}"),
        ({"a": 1}, [1], 'result: expected {"a": 1}, got [1]'),
        ({"...": 1}, {"b": 1}, 'result["..."]: expected 1, but the key is missing'),
    ],
)
def test_the_first_difference_is_named_with_its_place(expected, actual, message):
    assert matches(expected, actual) == message
