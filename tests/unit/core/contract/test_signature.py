"""Signatures from syntax trees (spec §4)."""

import ast

from pulsus.core.contract import entry_point
from pulsus.core.types import ArgSpec


def read(header, descriptions=None):
    function = ast.parse(f"def run({header}): pass").body[0]
    assert isinstance(function, ast.FunctionDef)
    return entry_point.read_signature(function, descriptions or {})


def test_every_parameter_kind_is_read_in_order():
    args = read("a, b=1, /, c: int = 2, *rest: str, d, e: 'X | None' = None, **more: float")
    assert [(a.name, a.kind, a.required, a.default, a.type_hint) for a in args] == [
        ("a", "positional_only", True, None, None),
        ("b", "positional_only", False, "1", None),
        ("c", "positional_or_keyword", False, "2", "int"),
        ("rest", "var_positional", False, None, "str"),
        ("d", "keyword_only", True, None, None),
        ("e", "keyword_only", False, "None", "'X | None'"),
        ("more", "var_keyword", False, None, "float"),
    ]


def test_defaults_are_source_text_and_never_evaluated():
    (arg,) = read("a=open('/etc/passwd').read()")
    assert arg.default == "open('/etc/passwd').read()"


def test_descriptions_go_to_the_arguments_they_name():
    assert read("a", {"a": "first", "b": "nobody"}) == (
        ArgSpec("a", None, required=True, default=None, description="first"),
    )
