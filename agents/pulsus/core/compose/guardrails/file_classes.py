"""Refuses to pass on classes whose methods change files (routing spec §7). Pure.

Other writes of files are refused in `file_io.py`.

`Path.replace("a", "b")` moves a file and looks like a text's `replace`. The text shows which class
is meant if it is called at once, or stands in a type; it does not if another name stands for it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pulsus.core.python_source.scopes import Problem, Syntax

_CLASSES = frozenset(("pathlib.Path", "pathlib.PosixPath", "pathlib.WindowsPath"))
_CHANGING = ("replace", "rename", "open", "copy", "move")
_CHECKS = ("isinstance", "issubclass")
_TYPES = ("str", "int", "float", "bool", "bytes")
_ABSTRACT = frozenset(
    (
        *("Optional", "Sequence", "Iterable", "Iterator", "Mapping", "Callable", "Collection"),
        *("List", "Dict", "Tuple", "Set", "FrozenSet", "Generator", "MutableMapping"),
    )
)
_GENERIC = ("list", "dict", "tuple", "set", "frozenset", "type")


def find_problems(syntax: Syntax) -> Iterator[Problem]:
    """Yield (line, problem) of every use of such a class but in a call or a type."""
    types: frozenset[int] | None = None
    for node in syntax.nodes:
        if not isinstance(node, ast.Name | ast.Attribute) or syntax.origin(node) not in _CLASSES:
            continue
        types = _list_annotation_nodes(syntax) if types is None else types
        if id(node) in types or _is_harmless_use(node, syntax):
            continue
        yield (
            node.lineno,
            f"{syntax.origin(node)} is passed on as a value: call it where it is needed, as in "
            "[Path(name) for name in names]",
        )


def _is_harmless_use(node: ast.expr, syntax: Syntax) -> bool:
    above = syntax.parents[id(node)]
    match above:
        case ast.Call(func=func, args=args):
            return func is node or _may_receive_class(above, args, node, syntax)
        case ast.Attribute(attr=name):
            return name not in _CHANGING
        case ast.MatchClass(cls=cls):
            return cls is node
        case ast.BinOp(op=ast.BitOr(), left=left, right=right):
            return _is_another_type(left, syntax) or _is_another_type(right, syntax)
        case ast.Tuple():
            call = syntax.parents[id(above)]
            return isinstance(call, ast.Call) and _is_type_check(call, above, syntax)
        case ast.Subscript(value=base, slice=inner):
            return inner is node and _is_generic_type(base, syntax)
        case _:
            return False


def _is_another_type(node: ast.expr, syntax: Syntax) -> bool:
    """Return True if a part of a union is another type: `Path | Path` is the class itself."""
    match node:
        case ast.Constant(value=None):
            return True
        case ast.Name(id=name):
            return name in _TYPES and name not in syntax
        case ast.BinOp(left=left, right=right):
            return _is_another_type(left, syntax) or _is_another_type(right, syntax)
        case _:
            return False


def _may_receive_class(
    call: ast.Call, args: list[ast.expr], node: ast.expr, syntax: Syntax
) -> bool:
    first = bool(args) and args[0] is node
    origin = syntax.origin(call.func)
    return _is_type_check(call, node, syntax) or (first and origin in ("map", "typing.cast"))


def _is_type_check(call: ast.Call, node: ast.AST, syntax: Syntax) -> bool:
    return syntax.origin(call.func) in _CHECKS and call.args[1:2] == [node]


def _is_generic_type(base: ast.expr, syntax: Syntax) -> bool:
    origin = syntax.origin(base)
    if origin in _GENERIC:
        return origin not in syntax
    home, _, name = origin.rpartition(".")
    return home in ("typing", "collections.abc") and name in _ABSTRACT


def _list_annotation_nodes(syntax: Syntax) -> frozenset[int]:
    """Return the nodes of annotations that cannot be read as values."""
    future = any(
        isinstance(n, ast.ImportFrom)
        and n.module == "__future__"
        and any(alias.name == "annotations" for alias in n.names)
        for n in syntax.tree.body
    )
    found: set[int] = set()
    for node in syntax.nodes:
        for annotation in _list_annotations(node, future=future, syntax=syntax):
            inner = list(ast.walk(annotation))
            if future or not any(isinstance(n, ast.NamedExpr) for n in inner):
                found |= set(map(id, inner))
    return frozenset(found)


def _list_annotations(node: ast.AST, *, future: bool, syntax: Syntax) -> Iterator[ast.expr]:
    match node:
        case ast.arg(annotation=ast.expr() as annotation):
            yield annotation
        case (
            ast.FunctionDef(returns=ast.expr() as annotation)
            | ast.AsyncFunctionDef(returns=ast.expr() as annotation)
        ):
            yield annotation
        case ast.AnnAssign(annotation=annotation):
            if future or not isinstance(syntax.parents[id(node)], ast.ClassDef):
                yield annotation
        case _:
            pass
