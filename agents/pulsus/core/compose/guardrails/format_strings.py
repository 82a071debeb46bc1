"""Refuses texts with fields that take attributes, such as `"{0.name}".format(x)`. Pure.

This holds for generated modules; `all_rules.py` asks.
"""

from __future__ import annotations

import ast
import string
from collections.abc import Iterator

from pulsus.core.python_source.scopes import Problem, Syntax

_NAMES = ("format", "format_map")


def find_problems(syntax: Syntax) -> Iterator[Problem]:
    """Yield (line, problem) of every `format` that might read attributes of its arguments."""
    for node in syntax.nodes:
        match node:
            case ast.Call(func=ast.Attribute(value=template, attr="format" | "format_map")):
                yield from _check_format_call(node, template, syntax)
            case ast.Attribute(attr="format" | "format_map" as name) if (
                id(node) not in syntax.calls
            ):
                yield node.lineno, f".{name} is passed on as a value: call it where it is needed"
            case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=name), *_]):
                if name in _NAMES:
                    yield node.lineno, f"getattr of {name!r}: call it where it is needed"
            case _:
                pass


def _check_format_call(call: ast.Call, template: ast.expr, syntax: Syntax) -> Iterator[Problem]:
    """Refuse fields that take attributes, and a text that is not constant, so cannot be read."""
    text = _find_constant_text(template, syntax)
    if text is None:
        yield (
            call.lineno,
            ".format() of a text that only shows when it runs: write the text before it, or use "
            "an f-string or .replace()",
        )
    elif any("." in field for field in _list_fields(text)):
        yield call.lineno, ".format() takes an attribute by its text: use an f-string"


def _find_constant_text(node: ast.expr, syntax: Syntax) -> str | None:
    """Return the text of a literal, or of a name that is bound once to a literal."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.Name(id=name) if sum(bound == name for bound, _ in syntax.bindings) == 1:
            for statement in syntax.tree.body:
                match statement:
                    case (
                        ast.Assign(
                            targets=[ast.Name(id=target)], value=ast.Constant(value=str(text))
                        )
                        | ast.AnnAssign(
                            target=ast.Name(id=target), value=ast.Constant(value=str(text))
                        )
                    ) if target == name:
                        return text
                    case _:
                        pass
    return None


def _list_fields(text: str, depth: int = 3) -> Iterator[str]:
    try:
        parts = list(string.Formatter().parse(text))
    except ValueError:
        return
    for _, field, spec, _ in parts:
        if field is not None:
            yield field
        if spec and depth:
            yield from _list_fields(spec, depth - 1)
