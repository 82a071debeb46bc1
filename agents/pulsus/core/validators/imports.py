"""Which imports lie outside an allowlist (spec §7). Pure.

Lint, not a boundary: what is not seen here meets the sandbox. It sees import statements, the
functions that import or run text, modules reached through other modules (`pathlib.os`), and the
attributes that lead from any object to all others.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Iterator

from pulsus.core.validators.builtin_use import uses

RUNNERS = ("__import__", "compile", "eval", "exec")
"""Builtins that import or run text."""

_BUILTINS = ("__builtins__", "__loader__", "__spec__")
_LEADING_OUT = (
    "__bases__",
    "__builtins__",
    "__code__",
    "__globals__",
    "__import__",
    "__loader__",
    "__mro__",
    "__spec__",
    "__subclasses__",
)
_ALWAYS = ("__future__",)
_OWN_PARTS = {("collections", "abc")}  # a part of its own, not the module `abc`


def outside(source_tree: ast.AST, allowed: Collection[str]) -> tuple[str, ...]:
    """One line for each thing that is not in `allowed`, in the order of the lines.

    `allowed` are module names; a name allows what lies below it (`collections` allows
    `collections.abc`). Each line starts with `line N: ` and names what to take away.
    """
    found = {
        *_imports(source_tree, allowed),
        *_through_modules(source_tree, allowed),
        *(
            (line, f"{name} imports modules or runs text: call a function instead")
            for line, name in uses(source_tree, (*RUNNERS, *_BUILTINS))
        ),
        *_attributes(source_tree),
    }
    return tuple(f"line {line}: {text}" for line, text in sorted(found))


def imported(tree: ast.AST) -> tuple[tuple[int, str], ...]:
    """(line, dotted module) of every absolute import statement, nested ones included."""
    found: list[tuple[int, str]] = []
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                found += [(node.lineno, alias.name) for alias in names]
            case ast.ImportFrom(module=str(module), level=0):
                found.append((node.lineno, module))
            case _:
                pass
    return tuple(found)


def allows(allowed: Collection[str], module: str) -> bool:
    """Whether the dotted name, or a package it lies in, is allowed."""
    parts = module.split(".")
    return any(".".join(parts[:n]) in allowed for n in range(1, len(parts) + 1))


def _imports(tree: ast.AST, allowed: Collection[str]) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            yield node.lineno, "a relative import: a tool is one module"
    for line, module in imported(tree):
        if module not in _ALWAYS and not allows(allowed, module):
            yield line, f"import of {module}, which is not allowed"


def _through_modules(tree: ast.AST, allowed: Collection[str]) -> Iterator[tuple[int, str]]:
    """Modules taken from inside another one: `from pathlib import os`, `json.codecs`."""
    bound = _bound_modules(tree)
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(module), names=names, level=0):
                for alias in names:
                    if _smuggled(module, alias.name, allowed):
                        yield node.lineno, f"import of {alias.name} from inside {module}"
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if name in bound:
                if _smuggled(bound[name], attr, allowed):
                    yield node.lineno, f"{attr} reached through {bound[name]}: it is not allowed"
            case ast.Call(func=ast.Name(id="getattr"), args=[ast.Name(id=name), which, *_]) if (
                name in bound
            ):
                text = which.value if isinstance(which, ast.Constant) else None
                if not isinstance(text, str):
                    yield node.lineno, f"getattr({name}, …) with a computed name: name it"
                elif _smuggled(bound[name], text, allowed):
                    yield node.lineno, f"{text} reached through {name}: it is not allowed"
            case _:
                pass


def _bound_modules(tree: ast.AST) -> dict[str, str]:
    """Local name → module, for every `import` statement."""
    bound: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                bound[alias.asname or top] = alias.name if alias.asname else top
    return bound


def _smuggled(module: str, name: str, allowed: Collection[str]) -> bool:
    top = module.partition(".")[0]
    plain = name.removeprefix("_")
    return (
        top in sys.stdlib_module_names
        and plain in sys.stdlib_module_names
        and not allows(allowed, plain)
        and (module, name) not in _OWN_PARTS
    )


def _attributes(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=name) if name in _LEADING_OUT:
                yield node.lineno, f"{name} leads out of what is allowed: remove it"
            case ast.Call(
                func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str(name)), *_]
            ) if name in (*_LEADING_OUT, *RUNNERS):
                yield node.lineno, f"getattr of {name!r} leads out of what is allowed: remove it"
            case ast.Subscript(slice=ast.Constant(value=str(name))) if name in _LEADING_OUT:
                yield node.lineno, f"[{name!r}] leads out of what is allowed: remove it"
            case _:
                pass
