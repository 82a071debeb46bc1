"""Finds ways to a function other than its name: patterns, format fields, classes. Pure.

`getattr` with a text and similar ways around a name are found here; `effect_uses.py` asks.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from pulsus.core.python_source.module_index import ModuleIndex
from pulsus.core.python_source.names import last_name
from pulsus.core.validators.effects import library_effects as library
from pulsus.late_pattern import late_pattern

_FIELD = late_pattern(r"\{([^{}]*)\}")
_NAME_IN_FIELD = late_pattern(r"[.\[](\w+)")
_ALL = library.METHODS | {
    key.rpartition(".")[2]
    for key in library.CHANGING | library.CONNECTING | library.STARTING
    if key.startswith(("os.", "posix.", "shutil.", "subprocess."))
}
_PASSED = frozenset(("builtins.getattr", "builtins.vars", "builtins.globals"))
_ATTRIBUTES = library.INWARD.union(library.ANYTHING_METHODS_OF, ("__dict__",))
_NOTHING: frozenset[str] = frozenset()
_Classes = tuple[type[ast.AST], ...]
_REFERENCES: _Classes = (ast.Name, ast.Attribute)
_LOOKING_UP: _Classes = (ast.Call, ast.Subscript, ast.Assign, ast.Compare, ast.NamedExpr)
"""Nodes of which a look-up or the name of a class is noted."""


class Reflection:
    """Finds functions that a text reaches by other ways than their names."""

    def __init__(self, module: ModuleIndex) -> None:
        self._module = module
        self._opens = any(
            not module.keys(node).isdisjoint(library.OPENERS)
            for kind in _REFERENCES
            for node in module.of_class(kind)
        )
        self._membership_tests: set[int] = set()
        """Collections of functions that are only asked whether they contain something."""
        self._looked: set[int] = set()
        """Objects in which a constant name is looked up."""
        self._classes: set[str] = set()
        for looking in _LOOKING_UP:
            for node in module.of_class(looking):
                self._note_lookup(node)

    def _note_lookup(self, node: ast.AST) -> None:
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr="get"), args=[at, *_]):
                self._note_looked_up(value, at)
            case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[right]):
                self._membership_tests.add(id(right))
            case ast.Subscript(value=value, slice=at):
                self._note_looked_up(value, at)
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_class_of(value):
                self._classes.add(name)
            case ast.NamedExpr(target=ast.Name(id=name), value=value) if _is_class_of(value):
                self._classes.add(name)
            case _:
                pass

    def _note_looked_up(self, value: ast.expr, at: ast.expr) -> None:
        own = isinstance(at, ast.Name) and at.id == "__name__"
        if own or self._module.text(at) is not None:
            self._looked.add(id(value))

    @property
    def makes_classes(self) -> bool:
        """True if a function of the text may be the class of an object."""
        return self._opens and bool(self._classes)

    def of(self, node: ast.AST) -> Iterable[tuple[str, str]]:
        """Return (kind, name) of what one node reaches."""
        match node:
            case ast.Name(ctx=ast.Load()):
                return self._judge_reference(node) if self._module.keys(node) else ()
            case ast.Attribute(ctx=ast.Load(), attr=name):
                known = name in _ATTRIBUTES or self._module.keys(node)
                return self._judge_reference(node) if known else ()
            case ast.Call():
                return self._judge_call(node)
            case ast.Constant(value=str() as text) if "{" in text:
                return _judge_format_fields(text)
            case ast.MatchClass(kwd_attrs=names):
                return [
                    ("changes", f"a pattern with {n}") for n in names if n in _ALL | library.INWARD
                ]
            case ast.ClassDef(bases=bases):
                own = any("string.Formatter" in self._module.keys(base) for base in bases)
                return [("anything", "string.Formatter")] if own else ()
            case _:
                return ()

    def _judge_reference(self, node: ast.Name | ast.Attribute) -> Iterator[tuple[str, str]]:
        keys = self._module.keys(node)
        for key in keys & library.FUNCTION_SETS:
            if id(node) not in self._membership_tests and id(node) not in self._looked:
                yield "anything", f"functions of {key}"
        if keys & _PASSED and id(node) not in self._module.calls:
            yield "anything", f"{last_name(node)} passed on as a value"
        if isinstance(node, ast.Attribute):
            if node.attr in library.INWARD and not _is_super(node.value):
                yield "anything", f".{node.attr}"
            elif node.attr == "__dict__" and id(node) not in self._looked:
                if self._module.keys(node.value) & library.INNER:
                    yield "anything", "the names of a module"
            elif not keys:
                modules = library.ANYTHING_METHODS_OF.get(node.attr, _NOTHING)
                if not modules.isdisjoint(self._module.modules):
                    yield "anything", f".{node.attr}"

    def _judge_call(self, call: ast.Call) -> Iterator[tuple[str, str]]:
        func = call.func
        name = last_name(func)
        looks = name == "vars" and bool(call.args) and id(call) not in self._looked
        if looks and self._module.keys(call.args[0]) & library.INNER:
            yield "anything", "the names of a module"
        if name == "getattr" and len(call.args) > 1:
            text = self._module.text(call.args[1])
            if text in library.INWARD:
                yield "anything", f"getattr of {text!r}"
        if any(each.arg == "eval_str" for each in call.keywords):
            yield "anything", "annotations that are evaluated"
        if not self._opens:
            return
        many = len(call.args) > 1 or bool(call.keywords)
        if name == "__init__" and many and isinstance(func, ast.Attribute):
            own = _is_super(func.value) or last_name(func.value) in self._module.defined
            if not own:
                yield "changes", "an open file's __init__"
        elif many and (
            _is_class_of(func) or (isinstance(func, ast.Name) and name in self._classes)
        ):
            yield "changes", "a call of an object's class"


def _judge_format_fields(text: str) -> Iterator[tuple[str, str]]:
    for field in _FIELD.findall(text):
        for name in _NAME_IN_FIELD.findall(field):
            if name in library.METHODS or name in library.INWARD:
                yield "changes", f"a format field of {name}"


def _is_class_of(node: ast.expr) -> bool:
    """Return True for `x.__class__` or `type(x)`, but not for `self`."""
    match node:
        case ast.Attribute(value=value, attr="__class__"):
            return last_name(value) not in ("self", "cls")
        case ast.Call(func=ast.Name(id="type"), args=[value]):
            return last_name(value) not in ("self", "cls")
        case _:
            return False


def _is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and last_name(node.func) == "super"
