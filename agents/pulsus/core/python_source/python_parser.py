"""Python source as a syntax tree, read by one thread at a time. Pure.

Modules that are too expensive to parse are given up in `core/system/fork_pool.py`.

CPython counts the depth of a tree for all threads together. If two read at once, one can get a
`SystemError`, or a `RecursionError` for source that is not deep. So only this module calls
`ast.parse`, and a library that parses does it under `only_reader`.
"""

import ast
import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_one_reader = threading.RLock()
# A process is forked while no thread reads: its copy of the lock would stay locked.
os.register_at_fork(
    before=_one_reader.acquire,
    after_in_parent=_one_reader.release,
    after_in_child=_one_reader.release,
)


@contextmanager
def only_reader() -> Iterator[None]:
    """Let no other thread parse in the block, because a library parses there on its own."""
    with _one_reader:
        yield


def read_tree(source: str | bytes) -> ast.Module:
    """Return the syntax tree of a module. Hide the parser's warnings.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: It is not Python, or too deep.
    """
    with _one_reader, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


def read_compilable_tree(source: str) -> ast.Module:
    """Return the syntax tree of a module that Python can also compile. Nothing is run.

    Compiling finds what the grammar alone lets through, such as two arguments of one name. The
    tree is compiled, not the text, because the text would be parsed twice.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: It is not Python, or too deep.
    """
    with _one_reader, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(source)
        compile(tree, "<tool>", "exec", dont_inherit=True)
        return tree


def read_literal(source: str | ast.AST) -> Any:
    """Return the value of a literal, given as source or as its node.

    Raises:
        SyntaxError, ValueError, TypeError, RecursionError, MemoryError: It is no literal.
    """
    with _one_reader:
        return ast.literal_eval(source)
