"""Lists the nodes of a syntax tree faster than `ast.walk` does. Pure.

Every check of a validation reads all nodes: with a thousand modules that is a good part of its
work. So fields that never hold a node are not looked at.
"""

from __future__ import annotations

import ast

_PLAIN = frozenset(
    (
        *("id", "attr", "type_comment", "kind", "asname", "module", "level", "conversion"),
        *("simple", "is_async", "rest", "kwd_attrs"),
    )
)
"""Fields that hold text, numbers or nothing in every class of nodes."""
_MARKS = frozenset(("ctx", "op", "ops"))
"""Fields that hold `Load()`, `Add()`, `Eq()` and similar. They are almost half of all nodes."""
_FIELDS: tuple[dict[type[ast.AST], tuple[str, ...]], dict[type[ast.AST], tuple[str, ...]]] = (
    {},
    {},
)
"""The result of `node_fields`, without marks and with them."""


def list_nodes(tree: ast.AST, *, marks: bool = True) -> list[ast.AST]:
    """Return the tree and all nodes below it, in the order of `ast.walk`.

    Without `marks` the contexts and operators are left out. Their parents still have them.
    """
    found = [tree]
    add = found.append
    for node in found:  # grows while it is read: children follow all nodes of the level above
        for field in node_fields(type(node), marks):
            value = getattr(node, field, None)
            if isinstance(value, list):
                for each in value:
                    if isinstance(each, ast.AST):
                        add(each)
            elif isinstance(value, ast.AST):
                add(value)
    return found


def list_children(node: ast.AST) -> list[ast.AST]:
    """Return the direct children of a node, in the order of its fields."""
    found: list[ast.AST] = []
    for field in node_fields(type(node), True):
        value = getattr(node, field, None)
        if isinstance(value, list):
            found += [each for each in value if isinstance(each, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def node_fields(kind: type[ast.AST], marks: bool) -> tuple[str, ...]:
    """Return the fields of a class of nodes that may hold nodes, with or without `marks`."""
    known = _FIELDS[marks].get(kind)
    if known is None:
        left_out = _PLAIN if marks else _PLAIN | _MARKS
        known = tuple(field for field in kind._fields if field not in left_out)
        _FIELDS[marks][kind] = known
    return known
