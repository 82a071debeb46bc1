"""Refuses results that differ from run to run: chance without a seed, the order of a set. Pure.

This holds for generated modules (`random` without a seed). `all_rules.py` asks.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pulsus.core.python_source.scopes import Problem, Syntax

_SOURCES = ("Random", "seed")


def find_problems(syntax: Syntax) -> Iterator[Problem]:
    """Yield (line, problem) of chance without a seed, and of sets put in an order."""
    yield from _find_unseeded_random(syntax)
    yield from _find_ordered_sets(syntax)


def _find_ordered_sets(syntax: Syntax) -> Iterator[Problem]:
    """Refuse a set that is put in an order: the order of texts differs between processes."""
    for node in syntax.nodes:
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


def _find_unseeded_random(syntax: Syntax) -> Iterator[Problem]:
    """Yield uses of `random` that no seed makes repeatable."""
    calls = syntax.calls.values()
    seeded = any(_is_seeded_call(call, syntax) for call in calls)
    for node in syntax.nodes:
        used, line = _random_name(node, syntax), getattr(node, "lineno", 0)
        if used == "SystemRandom":
            yield line, "random.SystemRandom cannot be seeded"
        elif used and used not in _SOURCES and not seeded:
            yield line, f"random.{used} without a seed: use random.Random(seed) with a fixed seed"
    for call in calls:
        if (called := _random_name(call.func, syntax)) in _SOURCES and not _is_seeded_call(
            call, syntax
        ):
            yield call.lineno, f"random.{called}() without a seed: give it a fixed one"


def _random_name(node: ast.AST, syntax: Syntax) -> str:
    """Return the name in `random` that a node reads, or ""."""
    if isinstance(node, ast.Attribute) or (
        isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    ):
        home, _, name = syntax.origin(node).rpartition(".")
        return name if home == "random" else ""
    return ""


def _is_seeded_call(call: ast.Call, syntax: Syntax) -> bool:
    """Return True if the call makes or seeds a generator with a value."""
    given = [*call.args, *(k.value for k in call.keywords)]
    fixed = bool(given) and not any(isinstance(a, ast.Constant) and a.value is None for a in given)
    return fixed and _random_name(call.func, syntax) in _SOURCES
