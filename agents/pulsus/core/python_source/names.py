"""What an expression is called, from its syntax. Pure."""

from __future__ import annotations

import ast


def last_name(node: ast.expr) -> str:
    """The last part of a dotted name: `c` of `a.b.c`; "" for what is no name."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
