"""A schema becomes inputs, and a malformed schema raises nothing."""

import pytest

from pulsus.core.arguments.filler import fill
from pulsus.core.arguments.inputs import MAX_INPUTS, from_schema


def only(spec, name="x"):
    (one,) = from_schema({"parameters": {"properties": {name: spec}}}).inputs
    return one


@pytest.mark.parametrize(
    "tool",
    [
        {},
        {"parameters": 5},
        {"parameters": {"properties": [1]}},
        {"parameters": {"properties": {5: {}}}},
        {"parameters": {"properties": {"a": None, "b": 5}, "required": True}},
        {"name": None, "description": 5, "parameters": {"properties": {"": {"items": [1]}}}},
        {"parameters": {"properties": {"a": {"type": {}, "enum": "abc", "description": 5}}}},
        {"parameters": {"properties": {"a": {"anyOf": 5}, "b": {"anyOf": [[], 1]}}}},
    ],
)
def test_a_malformed_schema_raises_nothing(tool):
    assert fill("5 files in /var/log on 10.0.0.1", from_schema(tool)).filled == ()


def test_a_required_text_does_not_make_its_letters_required():
    schema = {"parameters": {"properties": {"a": {"type": "string"}}, "required": "abc"}}
    assert not from_schema(schema).inputs[0].required


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        ({"type": ["null", "integer"]}, "integer"),
        ({"anyOf": [{"type": "null"}, {"type": "number"}]}, "number"),
        ({"type": "float"}, "number"),
        ({}, "string"),
    ],
)
def test_null_beside_a_type_does_not_hide_the_type(spec, kind):
    assert only(spec).type == kind


@pytest.mark.parametrize("kind", ["null", "object", "tuple", 5])
def test_an_input_of_an_unknown_type_is_never_filled(kind):
    assert not only({"type": kind}).fillable


def test_choices_of_mixed_types_are_read():
    mixed = only({"enum": [1, "warning", None, True, {"x": 1}]})
    tool = from_schema({"parameters": {"properties": {"x": {"enum": list(mixed.choices)}}}})
    assert all(v.value in mixed.choices for v in fill("a warning x for 1", tool).values)


def test_inputs_beyond_the_limit_cost_no_time():
    properties = {f"a{n}": {"type": "string"} for n in range(3000)}
    assert len(from_schema({"parameters": {"properties": properties}}).inputs) == MAX_INPUTS


@pytest.mark.parametrize(
    ("name", "spec", "role"),
    [
        ("folder", {"type": "string"}, "folder"),
        ("port", {"type": "integer"}, "port"),
        ("before", {"type": "string", "description": "The file to compare."}, "path"),
        ("before", {"type": "string", "description": "The latest moment."}, "moment"),
        ("root", {"type": "string", "default": "/srv"}, "folder"),
        ("where", {"type": "string", "default": "/proc/stat"}, "source"),
        ("since_hours", {"type": "integer"}, "duration"),
        ("min_bytes", {"type": "integer"}, "size"),
        ("x", {"enum": ["a", "b"]}, "choice"),
    ],
)
def test_name_and_description_give_an_input_its_role(name, spec, role):
    assert only(spec, name).role == role


@pytest.mark.parametrize(
    ("description", "role"),
    [
        ("The private key of the certificate, in PEM without a password.", "path"),
        ("The PEM certificate of the authority.", "path"),
        ("The key of a row.", "id"),
        ("The name of the setting.", "id"),
    ],
)
def test_a_key_in_a_pem_file_takes_no_host_name(description, role):
    assert only({"type": "string", "description": description}, "key").role == role


def test_a_command_is_no_flag_of_several_words():
    flags = {"delete_empty": {"type": "boolean"}}
    tool = from_schema({"name": "tidy", "parameters": {"properties": flags}})
    assert fill("delete the entry of x.sh", tool).filled == ()


def test_the_name_of_another_input_is_no_example_of_a_value():
    host, file = either().inputs
    assert host.examples == ("example.org",)
    assert file.examples == ()


def test_inputs_that_replace_each_other_know_it():
    host, file = either().inputs
    assert (host.alternatives, file.alternatives) == ({"file"}, {"host"})


def either():
    properties = {
        "host": {"type": "string", "description": "As `example.org`; give this or `file`."},
        "file": {"type": "string", "description": "A certificate file; give this or `host`."},
    }
    return from_schema({"name": "expiry", "parameters": {"properties": properties}})
