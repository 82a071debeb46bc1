"""Matching a result against an expectation: reflexive, and blind to nothing."""

import copy

from hypothesis import given
from hypothesis import strategies as st

from pulsus.core.contract.example_match import matches

LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=6).filter(lambda t: t != "..."),
)
KEYS = st.text(max_size=4).filter(lambda t: t != "...")
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
OPEN_KEYS = {"...": "..."}


def leaves(value, path=()):
    """Paths to every leaf and every empty container."""
    if isinstance(value, dict) and value:
        return [p for k, v in value.items() for p in leaves(v, (*path, k))]
    if isinstance(value, list) and value:
        return [p for i, v in enumerate(value) for p in leaves(v, (*path, i))]
    return [path]


def changed(value, path, new):
    """`value` with `new` at `path`."""
    if not path:
        return new
    value = copy.copy(value)
    value[path[0]] = changed(value[path[0]], path[1:], new)
    return value


@given(VALUES)
def test_every_value_matches_itself_and_the_wildcard(value):
    assert matches(value, value) is None
    assert matches("...", value) is None


@given(VALUES, st.data())
def test_a_changed_leaf_is_always_noticed(value, data):
    path = data.draw(st.sampled_from(leaves(value)))
    other = changed(value, path, {"something else": 1})
    message = matches(value, other)
    assert message is not None
    assert "\n" not in message
    assert matches(other, value) is not None


@given(VALUES, st.data())
def test_a_leaf_replaced_by_the_wildcard_still_matches(value, data):
    path = data.draw(st.sampled_from(leaves(value)))
    assert matches(changed(value, path, "..."), value) is None


@given(st.dictionaries(KEYS, VALUES, max_size=4), KEYS, VALUES)
def test_an_extra_key_is_noticed_unless_the_mapping_is_open(value, key, extra):
    more = {**value, key: extra}
    assert matches({**value, **OPEN_KEYS}, {**more, **value}) is None
    assert (matches(value, more) is None) == (key in value and matches(value[key], extra) is None)


@given(st.lists(VALUES, max_size=4), st.lists(VALUES, min_size=1, max_size=3))
def test_an_extra_item_is_noticed_unless_the_list_is_open(value, extra):
    assert matches([*value, "..."], value + extra) is None
    assert matches(value, value + extra) is not None
    assert matches(value + extra, value) is not None
