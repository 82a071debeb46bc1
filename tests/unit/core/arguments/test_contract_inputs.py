"""A tool's arguments become inputs with the right type, choices and default."""

from pulsus.core.arguments.contract_inputs import from_arguments
from pulsus.core.types import ArgSpec


def made(hint, default=None, **more):
    arg = ArgSpec("x", hint, default is None, default, **more)
    return from_arguments([arg], "tool", "Does it.").inputs[0]


def test_hints_become_types():
    assert [made(h).type for h in ("str", "Path", "int", "float", "bool", "list[str]")] == [
        *("string", "string", "integer", "number", "boolean", "array"),
    ]


def test_an_optional_hint_counts_as_the_type_beside_none():
    assert made("int | None", "None").type == "integer"


def test_literals_are_closed_choices():
    assert made("Literal['cpu', 'memory']").choices == ("cpu", "memory")


def test_a_type_that_is_not_known_takes_no_value():
    assert made("SomeClass").type == "object"


def test_star_arguments_are_no_inputs():
    arg = ArgSpec("rest", "str", False, None, kind="var_keyword")
    assert from_arguments([arg], "tool", "").inputs == ()


def test_a_default_that_is_no_literal_is_not_taken_for_a_value():
    assert made("str", "os.sep").default != "os.sep"
