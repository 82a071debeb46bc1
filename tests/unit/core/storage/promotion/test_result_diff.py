"""Callers notice removed and changed parts of a result (spec §10, ADR 20)."""

from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from pulsus.core.storage.promotion.result_diff import find_differences, stable_differences

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "b"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3)
    ),
    max_leaves=6,
)


def level(old, new):
    return max((2 if each.breaks else 1 for each in find_differences(old, new)), default=0)


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        pytest.param({"n": 1}, {"n": 2}, [("changed", ("n",))], id="another value"),
        pytest.param({"n": 1}, {}, [("removed", ("n",))], id="key removed"),
        pytest.param({"n": 1}, {"n": 1, "m": 2}, [("added", ("m",))], id="key added"),
        pytest.param(
            {"rows": [{"a": 1}]}, {"rows": [{"a": 1, "b": 2}]}, [("added", ("rows", 0, "b"))],
            id="key added to a row",
        ),
        pytest.param([1, 2], [1], [("length", ())], id="fewer items"),
        pytest.param([1], [1, 2], [("length", ())], id="more items"),
        pytest.param(1, True, [("changed", ())], id="a truth value is no number"),
        pytest.param(1, 1.0, [], id="the same number"),
        pytest.param(0.1 + 0.2, 0.3, [], id="rounding"),
        pytest.param({"a": None}, {"a": {}}, [("changed", ("a",))], id="nothing and empty"),
        pytest.param("...", "x", [("changed", ())], id="dots are text in a result"),
    ],
)  # fmt: skip
def test_a_difference_is_found_where_it_is(old, new, found):
    assert [(each.what, each.at) for each in find_differences(old, new)] == found


@pytest.mark.parametrize(
    ("expected", "new"),
    [
        ("...", {"any": 1}),
        ({"at": "...", "n": 1}, {"at": "today", "n": 1}),
        ([1, "..."], [1, 5, 6]),
        ({"n": 1, "...": "..."}, {"n": 1, "m": 2}),
    ],
)
def test_what_an_example_leaves_open_was_never_promised(expected, new):
    assert find_differences(expected, new, pattern=True) == ()


def test_an_open_example_still_promises_what_it_names():
    found = find_differences({"n": 1, "at": "...", "...": "..."}, {"n": 2}, pattern=True)
    assert [(each.what, each.at) for each in found] == [("changed", ("n",)), ("removed", ("at",))]


def test_what_differs_from_call_to_call_is_not_held_against_a_version():
    one: Any = {"n": 1, "at": "10:00"}
    again: Any = {"n": 1, "at": "10:01"}
    noise = find_differences(one, again)
    assert stable_differences(find_differences(one, {"n": 1, "at": "10:02"}), noise) == ()
    (left,) = stable_differences(find_differences(one, {"n": 2, "at": "10:02"}), noise)
    assert left.at == ("n",)


@given(JSON, JSON, JSON)
def test_two_changes_together_never_call_for_more_than_the_greater_of_them(first, second, third):
    assert level(first, third) <= max(level(first, second), level(second, third))


@given(JSON, JSON)
def test_no_difference_means_the_same_and_only_more_keys_can_be_unnoticed(old, new):
    assert not find_differences(old, old)
    if level(old, new) == 1 and isinstance(old, dict) and isinstance(new, dict):
        assert old.keys() <= new.keys()
    if not find_differences(old, new):
        assert old == new
