"""Folds expressions to constant text without running the module. Pure.

Folded are constants, names bound once, joins, `/`, f-strings, templates and a few text methods.
`core/validators/effects/constant_targets.py` finds constant paths and hosts by it.
"""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from pulsus.core.python_source.bindings import ASSIGNING, BINDERS, assignments, bound_names
from pulsus.core.python_source.names import last_name

_DEEPEST = 40
_LONGEST = 4096
"""The length of a path (PATH_MAX of Linux)."""
PATHS = frozenset(("Path", "PurePath", "PosixPath", "PurePosixPath"))
_SAME = frozenset(("str", "fspath", "abspath", "realpath", "normpath", "expanduser", "expandvars"))
FILE_MODULES = frozenset(("os", "shutil", "io", "codecs", "gzip", "bz2", "lzma", "posix", "path"))


class ConstantText(NamedTuple):
    """A constant text; `path` if it is a `Path`."""

    value: str
    path: bool = False


class Scope(dict[str, ast.expr]):
    """Names that a module binds exactly once, and the constant texts of those that have one.

    Each name is folded once, in the order of the source: names that double each other cost no more.
    """

    def __init__(
        self,
        found: Mapping[str, ast.expr],
        bound: Collection[str] = frozenset(),
        attributes: Mapping[str, ast.expr] | None = None,
        *,
        loose: bool = False,
    ) -> None:
        super().__init__(found)
        self._texts: dict[str, ConstantText | None] = {}
        self._attribute_texts: dict[str | int, ConstantText | None] = {}
        self.bound = bound
        """Every name that the module binds, but for imports."""
        self.attributes = attributes or {}
        self.loose = loose
        """True if attributes and items of tables are read too: they may have other values."""
        for name in self:
            self.text(name, _DEEPEST)

    def fold_attribute(self, key: str | int, value: ast.expr, depth: int) -> ConstantText | None:
        """Return the constant text of an attribute or an item, folded once."""
        if key not in self._attribute_texts:
            self._attribute_texts[key] = None
            self._attribute_texts[key] = fold(value, self, depth)
        return self._attribute_texts[key]

    def text(self, name: str, depth: int) -> ConstantText | None:
        """Return the constant text of a name, or None; None also if it is made of itself."""
        if name not in self._texts:
            self._texts[name] = None
            self._texts[name] = fold(self[name], self, depth)
        return self._texts[name]


def collect_constants(nodes: Iterable[ast.AST]) -> Scope:
    """Return the names that are bound once, with their values."""
    found: dict[str, ast.expr] = {}
    times: dict[str, int] = {}
    imported: set[str] = set()
    for node in nodes:
        kind = type(node)
        if kind in BINDERS:
            for name in bound_names(node):
                times[name] = times.get(name, 0) + 1
        elif kind is ast.alias:
            imported.update(bound_names(node))
        elif kind in ASSIGNING:
            for target, value, how in assignments(node):
                if how == "is" and isinstance(target, ast.Name):
                    found[target.id] = value
    once = {n: value for n, value in found.items() if times[n] == 1 and n not in imported}
    return Scope(once, frozenset(times))


def fold(node: ast.expr, scope: Scope, depth: int = _DEEPEST) -> ConstantText | None:
    """Return the constant text or path that an expression is, or None if its text does not say.

    None also for what is longer than a path or a host may be.
    """
    found = _fold_node(node, scope, depth - 1) if depth else None
    return found if found is not None and len(found.value) <= _LONGEST else None


def _fold_node(node: ast.expr, scope: Scope, inner: int) -> ConstantText | None:
    match node:
        case ast.Constant(value=str() | bytes() as value):
            return ConstantText(
                value if isinstance(value, str) else value.decode("utf-8", "replace")
            )
        case ast.Name(id=name) if name in scope:
            return scope.text(name, inner)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _fold_concatenation([left, right], scope, inner)
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return _fold_path(fold(left, scope, inner), [right], scope, inner)
        case ast.JoinedStr(values=values):
            return _fold_concatenation(values, scope, inner)
        case ast.FormattedValue(value=value, format_spec=None):
            return fold(value, scope, inner)
        case ast.Subscript(
            value=value, slice=ast.Slice(lower=None, upper=None, step=ast.UnaryOp())
        ):
            turned = fold(value, scope, inner)
            return ConstantText(turned.value[::-1]) if turned else None
        case ast.Call():
            return _fold_call(node, scope, inner)
        case _:
            return _fold_attribute(node, scope, inner) if scope.loose else None


def _fold_attribute(node: ast.expr, scope: Scope, inner: int) -> ConstantText | None:
    """Fold an attribute, the value of an enum's member, or an item of a table."""
    match node:
        case ast.Attribute(attr=name) if name in scope.attributes:
            return scope.fold_attribute(name, scope.attributes[name], inner)
        case ast.Attribute(value=ast.Attribute() as member, attr="value"):
            return fold(member, scope, inner)
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=at)) if name in scope:
            item = _find_item(scope[name], at)
            return None if item is None else scope.fold_attribute(id(item), item, inner)
        case _:
            return None


def _find_item(table: ast.expr, at: object) -> ast.expr | None:
    if isinstance(table, ast.Dict):
        for key, value in zip(table.keys, table.values, strict=True):
            if isinstance(key, ast.Constant) and key.value == at:
                return value
    if isinstance(table, ast.Tuple | ast.List) and isinstance(at, int) and at < len(table.elts):
        return table.elts[at] if at >= -len(table.elts) else None
    return None


def _fold_call(call: ast.Call, scope: Scope, depth: int) -> ConstantText | None:
    name = last_name(call.func)
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    if name == "join" and owner is not None:
        return _fold_join_call(call, owner, scope, depth)
    if owner is None or last_name(owner) in FILE_MODULES or name in PATHS:
        return _fold_function_call(call, name, scope, depth)
    if name == "home" and last_name(owner) in PATHS:
        return ConstantText("~", True)
    known = fold(owner, scope, depth)
    if known and known.path:
        return _fold_path_method(known, name, call, scope, depth)
    return _fold_text_method(known, name, call) if known else None


def _fold_function_call(call: ast.Call, name: str, scope: Scope, depth: int) -> ConstantText | None:
    """Fold a call of a function, not of a method, with constants."""
    if name in PATHS:
        parts = [fold(arg, scope, depth) for arg in call.args]
        return (
            ConstantText(posixpath.join(*[p.value for p in parts if p]), True)
            if all(parts) and parts
            else None
        )
    if name in _SAME and len(call.args) == 1:
        return fold(call.args[0], scope, depth)
    if name == "chr" and len(call.args) == 1 and isinstance(call.args[0], ast.Constant):
        code = call.args[0].value
        return ConstantText(chr(code)) if isinstance(code, int) and 0 <= code < 0x110000 else None
    return None


def _fold_text_method(known: ConstantText, name: str, call: ast.Call) -> ConstantText | None:
    match name:
        case "lower":
            return ConstantText(known.value.lower())
        case "strip" if not call.args:
            return ConstantText(known.value.strip())
        case "decode":
            return known
        case _:
            return None


def _fold_path_method(
    known: ConstantText, name: str, call: ast.Call, scope: Scope, depth: int
) -> ConstantText | None:
    if name in ("expanduser", "resolve", "absolute"):
        return known
    return _fold_path(known, call.args, scope, depth) if name == "joinpath" else None


def _fold_path(
    base: ConstantText | None, parts: list[ast.expr], scope: Scope, depth: int
) -> ConstantText | None:
    """Return the path that these parts make below a folder."""
    found = [fold(part, scope, depth) for part in parts]
    if base is None or not all(found):
        return None
    return ConstantText(posixpath.join(base.value, *[each.value for each in found if each]), True)


def _fold_join_call(
    call: ast.Call, owner: ast.expr, scope: Scope, depth: int
) -> ConstantText | None:
    """Fold `os.path.join(…)`, or a text's own `join` of a list."""
    if last_name(owner) in ("path", "posixpath"):
        parts = [fold(arg, scope, depth) for arg in call.args]
        return (
            ConstantText(posixpath.join(*[p.value for p in parts if p]))
            if parts and all(parts)
            else None
        )
    between = fold(owner, scope, depth)
    items = call.args[0] if len(call.args) == 1 else None
    if between is None or not isinstance(items, ast.List | ast.Tuple):
        return None
    parts = [fold(item, scope, depth) for item in items.elts]
    return ConstantText(between.value.join(p.value for p in parts if p)) if all(parts) else None


def _fold_concatenation(values: list[ast.expr], scope: Scope, depth: int) -> ConstantText | None:
    parts = [fold(value, scope, depth) for value in values]
    return ConstantText("".join(p.value for p in parts if p)) if all(parts) else None
