"""Nodes of a syntax tree, listed as the standard library lists them."""

import argparse
import ast
import dataclasses
import inspect
import tokenize

import pytest

from pulsus.core.python_source.module_index import ModuleIndex
from pulsus.core.python_source.syntax_nodes import list_children, list_nodes

MARKS = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
PATTERNS = """
match value:
    case {"a": 1, **rest} | [1, *rest] if rest:
        pass
    case Point(x=0, y=other) as whole:
        f"{other!r:>{width}}"
async def run(*args: int, key: str = "a", **more) -> None:
    async with a as b, c: await d
    global state
    [x for x in y if not -x or x < 1 <= 2]
"""
TREES = [
    pytest.param(PATTERNS, id="every kind of syntax"),
    *(
        pytest.param(inspect.getsource(module), id=module.__name__)
        for module in (argparse, ast, dataclasses, tokenize)
    ),
]


@pytest.mark.parametrize("source", TREES)
def test_no_node_is_lost_or_moved(source):
    tree = ast.parse(source, type_comments=True)
    assert list_nodes(tree) == list(ast.walk(tree))
    assert all(list_children(n) == list(ast.iter_child_nodes(n)) for n in ast.walk(tree))


@pytest.mark.parametrize("source", TREES)
def test_an_index_leaves_out_contexts_and_operators_only(source):
    tree = ast.parse(source)
    expected = [node for node in ast.walk(tree) if not isinstance(node, MARKS)]
    assert list(ModuleIndex(tree).nodes) == expected
