"""Names an expression by its syntax. Pure.

Names of tools are checked in `core/storage/records/promotion_target.py`, and lookalike names in
`core/validators/unicode/confusable_names.py`.
"""

from __future__ import annotations

import ast


def last_name(node: ast.expr) -> str:
    """Return the last part of a dotted name, `c` of `a.b.c`, or ""."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
