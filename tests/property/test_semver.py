"""The changed contract decides the next version (spec §10, ADR 20)."""

from dataclasses import replace

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from pulsus.core.contract import type_compatibility
from pulsus.core.storage.promotion.needed_bump import compare, diff_specs
from pulsus.core.storage.records.semver import BUMPS, next_version, parse_version
from pulsus.core.types import ArgSpec, Effects, OutputSpec
from tests.example_counts import examples
from tests.promotions import module, tool

ORDER = ("positional_only", "positional_or_keyword", "var_positional", "keyword_only")
HINTS = st.sampled_from(
    (
        *(None, "int", "str", "int | None", "list[int]", "list", "Any", "'int'", "float"),
        *("Sequence[int]", "typing.List[int]", "Annotated[int, 1]", "Union[int, str]", "Iterable"),
        *("Literal[1]", "Literal['a', 'b']", "Literal['a']", "Literal[None]", "Literal[-1]"),
        *("Literal", "Literal[-1, 2]", "Literal[E.A]", "Collection[int]"),
    )
)

VERSIONS = st.tuples(*[st.integers(0, 10**6)] * 3).map(lambda v: ".".join(map(str, v)))


@st.composite
def arguments(draw):
    names = draw(st.lists(st.sampled_from("abcd"), unique=True, max_size=4))
    kinds = sorted(draw(st.sampled_from(ORDER)) for _ in names)
    kinds.sort(key=ORDER.index)
    made, defaults, stars = [], False, False
    for name, kind in zip(names, kinds, strict=True):
        if kind == "var_positional" and stars:
            continue
        stars = stars or kind == "var_positional"
        default = draw(st.sampled_from([None, "1", "2"])) if kind != "var_positional" else None
        if kind.startswith("positional") and defaults and default is None:
            default = "1"  # no argument without a default behind one with it
        defaults = defaults or (default is not None and kind.startswith("positional"))
        required = default is None and kind != "var_positional"
        made.append(ArgSpec(name, draw(HINTS), required, default, kind=kind))
    if draw(st.booleans()):
        made.append(ArgSpec("rest", draw(HINTS), False, None, kind="var_keyword"))
    return tuple(made)


@st.composite
def tools(draw):
    names = st.lists(st.sampled_from(("x", "y", "/etc", "/var")), unique=True, max_size=3)
    effects = st.none() | st.builds(Effects, names.map(tuple), names.map(tuple))
    outputs = draw(st.lists(st.sampled_from("pqr"), unique=True, max_size=3))
    return replace(
        tool(module()),
        args=draw(arguments()),
        returns=tuple(OutputSpec(name, draw(HINTS)) for name in outputs),
        kind=draw(st.sampled_from(("resolve", "read", "write"))),
        effects=draw(effects),
        secrets=tuple(draw(st.lists(st.sampled_from(("K", "L")), unique=True))),
    )


def level(old, new):
    return BUMPS.index(diff_specs(old, new).bump)


@pytest.mark.seconds
@settings(max_examples=examples(150), deadline=None)
@given(tools(), tools(), tools())
def test_two_changes_together_need_no_higher_bump_than_the_larger_one(first, second, third):
    assert level(first, third) <= max(level(first, second), level(second, third))


@settings(deadline=None)
@given(tools())
def test_no_change_is_a_patch(one):
    assert diff_specs(one, one).changes == ()


@pytest.mark.seconds
@settings(deadline=None)
@given(tools(), tools())
def test_a_compatible_change_breaks_no_call_with_named_arguments(old, new):
    if diff_specs(old, new).bump == "major":
        return
    after = {a.name for a in new.args if not a.kind.startswith("var_")}
    assert {a.name for a in old.args if not a.kind.startswith("var_")} <= after
    needed = {a.name for a in new.args if a.required}
    assert needed <= {a.name for a in old.args if a.required}
    assert {o.name for o in old.returns} <= {o.name for o in new.returns}


@given(VERSIONS, st.lists(st.sampled_from(BUMPS), min_size=1))
def test_a_version_never_goes_down(version, bumps):
    for bump in bumps:
        following = next_version(version, bump)
        assert parse_version(following) > parse_version(version)
        version = following


@given(HINTS, HINTS, HINTS)
def test_accepting_more_is_transitive(one, two, three):
    if type_compatibility.admits(one, two) and type_compatibility.admits(two, three):
        assert type_compatibility.admits(one, three)
    assert type_compatibility.admits(one, one)


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_no_bytes_make_a_comparison_raise(one, other):
    assert compare(one, other).bump in BUMPS
