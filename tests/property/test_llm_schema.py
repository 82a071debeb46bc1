"""Answers fit their JSON Schema; events of a stream do not depend on how it is cut."""

import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulsus.errors import ModelAnswerInvalid
from pulsus.llm.http.exchange import WireFailed
from pulsus.llm.http.response import MAX_EVENT, read_events
from pulsus.llm.structured_answers import find_misfits, json_answer

NAMES = st.sampled_from(["a", "b", "c"])
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.5, -2.5]) | TEXT
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
TYPES = st.sampled_from(["object", "array", "string", "integer", "number", "boolean", "null"])


def parts(inner):
    objects = st.fixed_dictionaries(
        {"type": st.just("object")},
        optional={
            "properties": st.dictionaries(NAMES, inner, max_size=3),
            "required": st.lists(NAMES, max_size=2, unique=True),
            "additionalProperties": st.booleans() | inner,
        },
    )
    arrays = st.fixed_dictionaries(
        {"type": st.just("array")},
        optional={"items": inner, "minItems": st.integers(0, 2), "maxItems": st.integers(0, 3)},
    )
    either = st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=3)})
    return objects | arrays | either


SCHEMAS = st.recursive(
    st.fixed_dictionaries(
        {},
        optional={
            "type": TYPES | st.lists(TYPES, min_size=1, max_size=2, unique=True),
            "enum": st.lists(SCALARS, min_size=1, max_size=3),
            "const": SCALARS,
            "minLength": st.integers(0, 2),
            "maxLength": st.integers(0, 3),
            "minimum": st.integers(-2, 2),
            "maximum": st.integers(-2, 2),
        },
    ),
    parts,
    max_leaves=5,
)


@given(SCHEMAS, VALUES)
def test_a_value_fits_exactly_when_json_schema_says_so(schema, value):
    fits = jsonschema.Draft202012Validator(schema).is_valid(value)
    assert (not list(find_misfits(value, schema))) == fits


INPUTS = st.fixed_dictionaries(
    {"type": st.sampled_from(["string", "string", "integer", "boolean", "number"])},
    optional={
        "enum": st.lists(SCALARS, min_size=1, max_size=3),
        "maxLength": st.integers(0, 3),
        "minimum": st.integers(-2, 2),
        "description": TEXT,
    },
)
TOOLS = st.fixed_dictionaries(
    {"type": st.just("object"), "properties": st.dictionaries(NAMES, INPUTS, max_size=3)},
    optional={
        "required": st.lists(NAMES, max_size=2, unique=True),
        "additionalProperties": st.booleans() | INPUTS,
        "description": TEXT,
    },
)


@given(TOOLS, st.dictionaries(NAMES, SCALARS, max_size=3) | VALUES)
def test_a_quick_check_of_simple_inputs_lets_nothing_through_that_does_not_fit(schema, value):
    fits = jsonschema.Draft202012Validator(schema).is_valid(value)
    assert (not list(find_misfits(value, schema))) == fits


def test_a_lone_surrogate_is_refused_in_simple_inputs_too():
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    for value in ({"a": "\ud800"}, {"\ud800": "a"}):
        assert list(find_misfits(value, schema)) == ["$: is not valid Unicode, or nests too deeply"]


@given(SCHEMAS, VALUES, TEXT, TEXT)
def test_json_extracted_from_prose_fits_the_schema(schema, value, before, after):
    said = f"{before}\n```json\n{json.dumps(value)}\n```\n{after}"
    try:
        found = json_answer(said, schema)
    except ModelAnswerInvalid:
        assert list(find_misfits(value, schema))
    else:
        assert not list(find_misfits(json.loads(found), schema))


@given(st.text(max_size=200), SCHEMAS)
def test_every_answer_fits_the_schema_or_is_refused(said, schema):
    try:
        found = json_answer(said, schema)
    except ModelAnswerInvalid:
        return
    assert not list(find_misfits(json.loads(found), schema))


@pytest.mark.parametrize("keyword", ["patternProperties", "$ref", "oneOf", "format", "typ"])
def test_an_unsupported_schema_keyword_is_not_ignored(keyword):
    with pytest.raises(ValueError, match="not supported"):
        list(find_misfits("x", {keyword: "x"}))


@given(st.lists(TEXT.filter(lambda t: not set(t) & {"\r", "\n"}), max_size=5), st.data())
def test_events_do_not_depend_on_how_the_network_cuts_them(texts, data):
    ending = data.draw(st.sampled_from(["\n", "\r\n"]))
    whole = "".join(f": beat{ending}data: {t}{ending}id: 1{ending}{ending}" for t in texts).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=6)))
    ends = [*cuts, len(whole)]
    chunks = [whole[a:b] for a, b in zip([0, *cuts], ends, strict=True)]
    assert list(read_events(chunks)) == texts


def test_an_event_of_several_lines_is_one():
    assert list(read_events([b"data: a\ndata:b\n\ndata: cut off"])) == ["a\nb"]


@pytest.mark.parametrize("line", [b"x" * 1000, b"data: " + b"x" * 990 + b"\n"])
def test_an_endless_event_is_refused(line):
    with pytest.raises(WireFailed):
        list(read_events([line] * (2 * MAX_EVENT // len(line))))
