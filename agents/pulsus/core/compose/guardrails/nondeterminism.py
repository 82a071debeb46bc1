"""Results that differ from run to run: chance without a seed, the order of a set. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pulsus.core.python_source.scopes import Problem

_SOURCES = ("Random", "seed")


def problems(tree: ast.Module) -> Iterator[Problem]:
    """(line, what is wrong) of chance that no seed repeats, and of sets put in an order."""
    yield from _chance(tree)
    yield from _set_order(tree)


def _set_order(tree: ast.Module) -> Iterator[Problem]:
    """A set put in an order as it comes: that of texts differs from process to process."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="list" | "tuple" | "enumerate"), args=[inner, *_]):
                ordered = _is_set(inner)
            case ast.Call(func=ast.Attribute(attr="join"), args=[inner]):
                ordered = _is_set(inner)
            case ast.ListComp(generators=[first, *_]):
                ordered = _is_set(first.iter)
            case _:
                continue
        if ordered:
            yield (
                node.lineno,
                "the order of a set differs from run to run: use sorted() or dict.fromkeys()",
            )


def _is_set(node: ast.expr) -> bool:
    match node:
        case ast.Set() | ast.SetComp():
            return True
        case ast.Call(func=ast.Name(id="set" | "frozenset")):
            return True
        case _:
            return False


def _chance(tree: ast.Module) -> Iterator[Problem]:
    """Uses of `random` that no seed makes repeatable."""
    names, froms = _random_names(tree)
    if not (names or froms):
        return
    uses = [(node, what) for node in ast.walk(tree) if (what := _used(node, names, froms))]
    seeded = any(isinstance(n, ast.Call) and _seeds(n, names, froms) for n in ast.walk(tree))
    for node, what in uses:
        line = getattr(node, "lineno", 0)
        if what == "SystemRandom":
            yield line, "random.SystemRandom cannot be seeded"
        elif what not in _SOURCES and not seeded:
            yield line, f"random.{what} without a seed: use random.Random(seed) with a fixed seed"
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = _used(node.func, names, froms)
            if called in _SOURCES and not _seeds(node, names, froms):
                yield node.lineno, f"random.{called}() without a seed: give it a fixed one"


def _random_names(tree: ast.Module) -> tuple[set[str], dict[str, str]]:
    """(names of the module, what other names were taken from it)."""
    names: set[str] = set()
    froms: dict[str, str] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=aliases):
                names |= {a.asname or a.name for a in aliases if a.name == "random"}
            case ast.ImportFrom(module="random", names=aliases):
                froms |= {a.asname or a.name: a.name for a in aliases}
            case _:
                pass
    return names, froms


def _used(node: ast.AST, names: set[str], froms: dict[str, str]) -> str:
    match node:
        case ast.Attribute(value=ast.Name(id=name), attr=attr) if name in names:
            return attr
        case ast.Name(id=name, ctx=ast.Load()) if name in froms:
            return froms[name]
        case _:
            return ""


def _seeds(call: ast.Call, names: set[str], froms: dict[str, str]) -> bool:
    """Whether the call makes or seeds a generator with something."""
    given = [*call.args, *(k.value for k in call.keywords)]
    fixed = bool(given) and not any(isinstance(a, ast.Constant) and a.value is None for a in given)
    return fixed and _used(call.func, names, froms) in _SOURCES
