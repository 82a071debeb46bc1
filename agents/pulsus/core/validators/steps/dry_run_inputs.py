"""Chooses the inputs of a dry run (docs/tool-contract.md, spec §8). Pure.

They are the docstring's examples, and for a write one call more with `dry_run` true. Type hints
fill in missing arguments. If a hint does not say enough, nothing is guessed: the argument needs an
example. `smoke_and_dry_run.py` makes the calls.
"""

from __future__ import annotations

import ast
from contextlib import suppress
from dataclasses import dataclass

from pulsus.core.contract import type_hints
from pulsus.core.python_source import python_literals, python_parser
from pulsus.core.python_source.names import last_name
from pulsus.core.types import ArgSpec, Example, InlineFile, JsonValue, ToolSpec
from pulsus.core.validators.effects.observed_against_declared import DRY_RUN, has_dry_run

FOLDER = "/tmp/pulsus-example"
FILE = f"{FOLDER}/example.txt"
_FOLDER_WORDS = ("dir", "directory", "folder", "root")
_SCALARS: dict[str, JsonValue] = {
    **{"str": "example", "int": 1, "float": 1.0, "bool": False},
    **{"date": "2024-01-31", "datetime": "2024-01-31T12:00:00"},
}
_LISTS = ("list", "List", "Sequence", "Iterable", "Collection", "MutableSequence")
_MAPPINGS = ("dict", "Dict", "Mapping", "MutableMapping")


class NeedsExample(Exception):
    """An argument's hint does not decide a value to call the tool with."""


@dataclass(frozen=True, slots=True)
class Case:
    """One call of the dry run. `made_up` names the arguments that no example gave."""

    label: str
    example: Example
    made_up: tuple[str, ...] = ()


def list_cases(tool: ToolSpec) -> tuple[Case, ...]:
    """Return the calls to make: one an example, and for a write tool one more with `dry_run` true
    if no example asks for that.

    Raises NeedsExample naming the argument that no value can be made up for.
    """
    shown = tool.examples
    if not shown:
        return (_build_case("made-up inputs", tool, Example(inputs={})),)
    found = tuple(
        _build_case(f"example {n}" + (f" ({e.title})" if e.title else ""), tool, e)
        for n, e in enumerate(shown, start=1)
    )
    if tool.kind != "write" or not has_dry_run(tool):
        return found
    if any(case.example.inputs.get(DRY_RUN) is True for case in found):
        return found
    first = found[0].example
    tried = Example({**first.inputs, DRY_RUN: True}, first.files)
    return (*found, Case("example 1 with dry_run", tried, found[0].made_up))


def _build_case(label: str, tool: ToolSpec, example: Example) -> Case:
    inputs = dict(example.inputs)
    made_up: list[str] = []
    files = example.files
    for arg in tool.args:
        if arg.name in inputs or arg.kind in ("var_positional", "var_keyword"):
            continue
        if arg.name == DRY_RUN and tool.kind == "write" and has_dry_run(tool):
            inputs[arg.name] = True  # a write tool changes nothing when it is true
        elif arg.required:
            inputs[arg.name] = make_up_value(arg)
            made_up.append(arg.name)
    if FOLDER in str([inputs[name] for name in made_up]):
        files = (*files, InlineFile(FILE, b"example\n"))
    filled = Example(inputs, files, example.expected, example.has_expected, example.title)
    return Case(label, filled, tuple(made_up))


def make_up_value(arg: ArgSpec) -> JsonValue:
    """Return a plain value of the argument's hint. A path is a small file, or a folder by name.

    Raises NeedsExample if the hint is missing or of another kind.
    """
    if arg.type_hint is None:
        raise NeedsExample(f"argument {arg.name!r} has no type hint: give it an example")
    hint = python_literals.parse_expression(arg.type_hint)
    try:
        return _make_up_for_hint(hint, arg.name)
    except (SyntaxError, ValueError, RecursionError):
        raise NeedsExample(
            f"no value can be made up for argument {arg.name!r} of type {arg.type_hint[:60]}: "
            f"give it an example"
        ) from None


def _make_up_for_hint(hint: ast.expr | None, name: str) -> JsonValue:
    """Return None if the hint allows it, else a value of its first usable member."""
    values: list[JsonValue] = []
    for option in type_hints.alternatives(hint) if hint else ():
        with suppress(ValueError):
            values.append(_make_up_for_option(option, name))
    if not values:
        raise ValueError(name)
    return None if None in values else values[0]


def _make_up_for_option(option: ast.expr, name: str) -> JsonValue:
    if isinstance(option, ast.Constant) and option.value is None:
        return None
    if isinstance(option, ast.Constant) and isinstance(option.value, str):
        raise SyntaxError(option.value)  # quotes that hold no type: no member can be relied on
    if not isinstance(option, ast.Subscript):
        return _make_up_for_type(last_name(option), name)
    kind = last_name(option.value)
    first = [*option.slice.elts, option][0] if isinstance(option.slice, ast.Tuple) else option.slice
    if kind == "Literal":
        value = python_parser.read_literal(first)
        if value is None or isinstance(value, (str, int, bool)):
            return value
        raise ValueError(kind)
    if kind in _LISTS and last_name(first) in (*_SCALARS, "Path"):
        return [_make_up_for_hint(first, name)]
    return _make_up_for_type(kind, name)


def _make_up_for_type(kind: str, name: str) -> JsonValue:
    if kind in _SCALARS:
        return _SCALARS[kind]
    if kind == "Path":
        words = name.lower().split("_")
        return FOLDER if any(word in words for word in _FOLDER_WORDS) else FILE
    if kind in _LISTS:
        return []
    if kind in _MAPPINGS:
        return {}
    raise ValueError(kind)
