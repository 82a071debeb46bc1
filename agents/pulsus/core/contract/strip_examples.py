"""Removes the examples from a module's docstrings (ADR 33). Pure.

The run without examples, which shows a module that memorised them, is in
`core/validators/steps/smoke_and_dry_run.py`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pulsus.core.python_source import python_parser
from pulsus.late_pattern import late_pattern

_EXAMPLES = late_pattern(r"(?ms)^([ \t]*)Examples:.*?(?=^\1[A-Z][A-Za-z ]*:|\Z)")
_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def remove_examples(source: bytes) -> bytes:
    """Return the module with every `Examples:` section cut from its docstrings.

    Each line of code stays where it is, so that a traceback means the same lines.
    """
    try:
        tree = python_parser.read_tree(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return source
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in sorted(_list_docstrings(tree), key=lambda each: -each.lineno):
        cut = _EXAMPLES.sub("", str(node.value))
        if cut == node.value or node.end_lineno is None or node.end_col_offset is None:
            continue
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        lines = "\n" * (node.end_lineno - node.lineno)
        text = f"({cut!a}{lines})".encode("ascii")
        source = source[:start] + text + source[end:]
    return source


def _list_docstrings(tree: ast.Module) -> Iterator[ast.Constant]:
    for node in ast.walk(tree):
        if isinstance(node, _Documented):
            match node.body:
                case [ast.Expr(value=ast.Constant(value=str()) as found), *_]:
                    yield found
                case _:
                    pass
