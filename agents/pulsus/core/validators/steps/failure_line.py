"""Where in a module a failed run is shown. Pure."""

from __future__ import annotations

import ast


def line_of(source: bytes, entry: str, raised: int) -> int:
    """The line that raised, from 1; that of the entry point where none of the module's did.

    `raised` is what the sandbox says, and counts only where the module has such a line.
    """
    if 1 <= raised <= source.count(b"\n") + 1:
        return raised
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == entry:
            return node.lineno
    return 1
