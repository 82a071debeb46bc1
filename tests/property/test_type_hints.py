"""The lattice of type hints (routing spec §6)."""

from hypothesis import given, settings
from hypothesis import strategies as st

from pulsus.core.contract import type_compatibility, type_hints
from tests.example_counts import examples

SCALARS = st.sampled_from(["str", "int", "float", "bool", "Path", "None", "Any", "Literal['a', 1]"])
TYPES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        inner.map("list[{}]".format),
        inner.map("tuple[{}, ...]".format),
        inner.map("Optional[{}]".format),
        inner.map("dict[str, {}]".format),
        st.tuples(inner, inner).map(" | ".join),
        st.tuples(inner, inner).map(lambda pair: f"Union[{', '.join(pair)}]"),
    ),
    max_leaves=6,
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2)
    ),
    max_leaves=5,
)


@given(TYPES)
def test_every_type_fits_itself_and_anything(text):
    hint = type_hints.parse_hint(text)
    assert type_compatibility.fits(hint, hint)
    assert type_compatibility.fits(hint, type_hints.ANYTHING)
    assert type_compatibility.fits(type_hints.ANYTHING, hint)


@given(TYPES)
def test_an_annotation_reads_back_as_itself(text):
    once = type_hints.write_annotation(type_hints.parse_hint(text))
    assert type_hints.write_annotation(type_hints.parse_hint(once)) == once


@settings(max_examples=examples(300))
@given(TYPES, TYPES, VALUES)
def test_a_value_that_fits_its_hint_is_accepted(given_type, wanted_type, value):
    given_hint, wanted = type_hints.parse_hint(given_type), type_hints.parse_hint(wanted_type)
    surely = "Any" not in given_type and "None" not in given_type and "Optional" not in given_type
    if (
        surely
        and type_compatibility.fits(given_hint, wanted)
        and type_compatibility.accepts(given_hint, value)
    ):
        assert type_compatibility.accepts(wanted, value)


@given(st.text(max_size=60))
def test_no_text_makes_a_hint_raise(text):
    assert type_compatibility.fits(type_hints.parse_hint(text), type_hints.parse_hint(text))
    type_hints.write_annotation(type_hints.parse_hint(text))
