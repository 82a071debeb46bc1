"""Lists constants that a name or an attribute may have among others. Pure.

A name bound once is its constant. Others are tried one after the other: defaults of helpers that a
call leaves out, elements of a loop, one of several assignments, attributes of classes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from pulsus.core.python_source.bindings import assignments
from pulsus.core.python_source.constant_folding import Scope, fold
from pulsus.core.python_source.names import last_name
from pulsus.late_pattern import late_pattern

_MOST = 16
"""The number of values tried for one name; the dry run shows the others."""
_PLACE = late_pattern(r"[/~]|\w+://|[\w-]+(\.[\w-]+)+\Z|[0-9a-fA-F:]+:[0-9a-fA-F:.]*\Z")
_HOLDING = frozenset(
    (
        *(ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.For, ast.comprehension, ast.ClassDef),
        *(ast.FunctionDef, ast.AsyncFunctionDef),
    )
)
_METHOD = (ast.FunctionDef, ast.AsyncFunctionDef)


def list_scopes(nodes: Sequence[ast.AST], scope: Scope) -> Iterator[Scope]:
    """Yield the scope with one choice of every such name after the other."""
    names: dict[str, list[ast.expr]] = {}
    attributes: dict[str, list[ast.expr]] = {}
    called = _Called(nodes)
    for node in nodes:
        if type(node) not in _HOLDING:
            continue
        for name, value in (*_list_assigned_values(node, scope), *called.defaults(node)):
            if name not in scope and _is_path_or_host(value, scope):
                names.setdefault(name, []).append(value)
        for name, value in _list_attribute_values(node, called):
            if _is_path_or_host(value, scope):
                attributes.setdefault(name, []).append(value)
    tables = any(isinstance(value, ast.Dict) for value in scope.values())
    rounds = min(_MOST, max((len(v) for v in (*names.values(), *attributes.values())), default=0))
    for at in range(max(rounds, int(tables))):
        chosen = {name: values[min(at, len(values) - 1)] for name, values in names.items()}
        chosen_attributes = {
            name: values[min(at, len(values) - 1)] for name, values in attributes.items()
        }
        yield Scope({**scope, **chosen}, scope.bound, chosen_attributes, loose=True)


def _is_path_or_host(value: ast.expr, scope: Scope) -> bool:
    text = fold(value, scope)
    return text is not None and (text.path or bool(_PLACE.match(text.value)))


def _list_assigned_values(node: ast.AST, scope: Scope) -> Iterator[tuple[str, ast.expr]]:
    for target, value, how in assignments(node):
        if not isinstance(target, ast.Name) or how == "with":
            continue
        if how == "is":
            yield target.id, value
            continue
        elements = scope[value.id] if isinstance(value, ast.Name) and value.id in scope else value
        if isinstance(elements, ast.Tuple | ast.List | ast.Set):
            yield from ((target.id, each) for each in elements.elts)


def _list_attribute_values(node: ast.AST, called: _Called) -> Iterator[tuple[str, ast.expr]]:
    """Yield the values that a class or an instance has under a name."""
    match node:
        case ast.Assign(targets=[ast.Attribute(attr=name)], value=value):
            yield name, value
        case ast.ClassDef(body=body) if not _is_data_class(node) or called.bare(node.name):
            for each in body:
                match each:
                    case (
                        ast.Assign(targets=[ast.Name(id=name)], value=value)
                        | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
                    ):
                        yield name, value
                    case _:
                        pass
        case _:
            pass


def _is_data_class(node: ast.ClassDef) -> bool:
    """Return True if its attributes are argument defaults (a data class, a named tuple)."""
    makers = [each.func if isinstance(each, ast.Call) else each for each in node.decorator_list]
    return any(
        last_name(each) in ("dataclass", "NamedTuple", "define", "BaseModel")
        for each in (*makers, *node.bases)
    )


class _Called:
    """The calls of a text's functions and data classes."""

    def __init__(self, nodes: Sequence[ast.AST]) -> None:
        self._calls: dict[str, list[ast.Call]] = {}
        for node in nodes:
            if isinstance(node, ast.Call):
                self._calls.setdefault(last_name(node.func), []).append(node)

    def bare(self, name: str) -> bool:
        """Return True if a call gives a class nothing, so that all its defaults hold."""
        return any(not (call.args or call.keywords) for call in self._calls.get(name, ()))

    def defaults(self, node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
        """Yield parameters of a helper with the defaults that a call leaves in place."""
        if not isinstance(node, _METHOD) or node.name == "run":
            return
        calls = self._calls.get(node.name, [])
        least = min((_count_positional(call) for call in calls), default=0)
        arguments = node.args
        positional = [*arguments.posonlyargs, *arguments.args]
        first = len(positional) - len(arguments.defaults)
        named = set.intersection(*map(_keyword_names, calls)) if calls else set[str]()
        for at, value in enumerate(arguments.defaults, first):
            if at >= least and positional[at].arg not in named:
                yield positional[at].arg, value
        for arg, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            if default is not None and arg.arg not in named:
                yield arg.arg, default


def _count_positional(call: ast.Call) -> int:
    return len([each for each in call.args if not isinstance(each, ast.Starred)])


def _keyword_names(call: ast.Call) -> set[str]:
    return {each.arg for each in call.keywords if each.arg}
