"""Encoding for the index and decoding changes no value (spec §13)."""

import json
from dataclasses import fields
from pathlib import Path
from typing import get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pulsus.core import types
from pulsus.routing.index import value_codec
from pulsus.routing.index.value_codec import LoadedManifest
from tests.example_counts import examples

PATHS = st.text(st.characters(codec="utf-8", exclude_characters="\0/"), min_size=1, max_size=8).map(
    lambda t: Path("/w") / t
)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | NUMBERS | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)


def every_field(cls, **given):
    """Values of `cls` in which no field is left at its default by construction.

    The types are those of the fields, because `__init__` has none before its first call.
    """
    types_of = get_type_hints(cls)
    rest = {f.name: st.from_type(types_of[f.name]) for f in fields(cls) if f.name not in given}
    return st.builds(cls, **rest, **given)


MANIFESTS = every_field(types.Manifest, path=PATHS)
EXAMPLES = every_field(
    types.Example,
    inputs=st.dictionaries(st.text(max_size=4), JSON, max_size=3),
    files=st.lists(every_field(types.InlineFile, age_s=st.none() | NUMBERS), max_size=2).map(tuple),
    expected=JSON,
)
CALLS = every_field(
    types.DeclaredCall,
    inputs=st.dictionaries(st.text(max_size=4), JSON, max_size=3),
    expected=JSON,
)
SHORT_IDS = every_field(types.ShortToolId)
TOOLS = every_field(
    types.ToolSpec,
    path=PATHS,
    args=st.lists(every_field(types.ArgSpec), max_size=2).map(tuple),
    returns=st.lists(every_field(types.OutputSpec), max_size=2).map(tuple),
    effects=st.none() | every_field(types.Effects),
    examples=st.lists(EXAMPLES, max_size=2).map(tuple),
    manifest=st.none() | MANIFESTS,
    verify=st.none() | CALLS,
    undo=st.none() | CALLS,
    contract_errors=st.lists(st.text() | SHORT_IDS, max_size=2).map(tuple),
    score=NUMBERS,
)

BROKEN = every_field(types.BrokenTool, path=PATHS)
LOADED = every_field(LoadedManifest, manifest=st.none() | MANIFESTS)


@pytest.mark.seconds
@settings(max_examples=examples(150), deadline=None)
@given(st.one_of(TOOLS, BROKEN, LOADED))
def test_decoding_what_was_encoded_gives_the_same_value(value):
    text = json.dumps(value_codec.encode(value))
    again = value_codec.decode(json.loads(text))
    assert again == value
    assert type(again) is type(value)
