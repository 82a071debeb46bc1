"""Check sqlglot's tree of a statement: it may contain only kinds of nodes that read.

This is a second opinion beside the words (`sql.py`): both have to agree that it reads.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from functools import cache
from math import inf
from typing import TYPE_CHECKING, Any, Final

from pulsus.commands.content_inspector import Unclear
from pulsus.commands.inspectors.sql.split_statements import WORDS, Statement

if TYPE_CHECKING:
    from sqlglot.expressions import Expr

_ROOTS: Final = frozenset({"Select", "Union", "Except", "Intersect", "Subquery", "Values"})
_WRITES: Final = frozenset({"Insert", "Update", "Delete"})
_NODES: Final = WORDS["nodes"]
_EXPLAINED: Final = _WRITES | frozenset({"Returning", "OnConflict", "Schema"})
"""Nodes of a write that EXPLAIN shows without running it."""

_NOT_READ: Final = frozenset({"NextValueFor"})
_TABLE_HINTS: Final = WORDS["table_hints"]


def check_tree(statement: Statement, dialect: str, *, explained: bool = False) -> None:
    """Raises Unclear unless every node of the statement's tree reads.

    `explained` allows a write: EXPLAIN without ANALYZE does not run it.
    """
    root = _parse_statement(statement, dialect)
    name = type(root).__name__
    if name not in (_ROOTS | _WRITES if explained else _ROOTS):
        raise Unclear(statement.shown, f"{_spaced_name(name)} is not known to read")
    allowed = _NODES | _EXPLAINED if explained else _NODES
    for node in root.walk():
        _check_node(node, allowed)
    _check_recursion(root, statement)


def _parse_statement(statement: Statement, dialect: str) -> Expr:
    # Late: heavy, and needed only once SQL is judged.
    from sqlglot import parse
    from sqlglot.errors import SqlglotError

    logging.getLogger("sqlglot").setLevel(logging.CRITICAL + 1)
    faults = (SqlglotError, ValueError, TypeError, AttributeError, LookupError, RuntimeError)
    try:
        found = [one for one in parse(statement.text, read=dialect) if one is not None]
    except faults as error:  # whatever the parser trips over is not understood
        raise Unclear(statement.shown, "not understood as SQL") from error
    if len(found) != 1:
        raise Unclear(statement.shown, "not one statement")
    return found[0]


@cache
def _function_class() -> type:
    from sqlglot.expressions import Func

    return Func


def _check_node(node: Expr, allowed: Iterable[str]) -> None:
    name = type(node).__name__
    if name in _NOT_READ or (name not in allowed and not isinstance(node, _function_class())):
        raise Unclear(
            str(node.name or _spaced_name(name))[:40], f"{_spaced_name(name)} is not known to read"
        )
    if name == "WithTableHint":
        for hint in node.expressions:
            if str(hint.name).lower() not in _TABLE_HINTS:
                raise Unclear(str(hint.name), "a table hint that may lock what it reads")


def _check_recursion(root: Expr, statement: Statement) -> None:
    """Raise Endless unless a recursive query ends by a number, by other tables, or by a limit."""
    with_ = root.args.get("with_")
    if with_ is None or _is_cut_short(root):
        return
    from sqlglot import expressions

    for cte in with_.expressions:
        query = cte.this
        if not isinstance(query, expressions.SetOperation) or _row_limit(query) <= MOST_ROUNDS:
            continue
        recursive_part = query.expression
        tables = {table.name.lower() for table in recursive_part.find_all(expressions.Table)}
        if cte.alias.lower() not in tables or tables - {cte.alias.lower()}:
            continue  # no recursion, or one that ends with the rows of another table
        if not any(map(_is_bounding, recursive_part.find_all(expressions.Where))):
            raise Endless(statement.shown, "recursion without a condition that ends it")


MOST_ROUNDS: Final = 1e8


def _is_cut_short(root: Expr) -> bool:
    """Return True if a limit ends the query before all rows are made."""
    from sqlglot import expressions

    if _row_limit(root) > MOST_ROUNDS:
        return False
    kinds = (expressions.AggFunc, expressions.Order, expressions.Group, expressions.Distinct)
    parts = (part for key, part in root.args.items() if key != "with_")
    flat = (each for part in parts for each in (part if isinstance(part, list) else [part]))
    return not any(hasattr(each, "find") and each.find(*kinds) for each in flat)


def _row_limit(query: Expr) -> float:
    """Return the number after LIMIT, or infinity without one."""
    limit = query.args.get("limit")
    return _literal_number(limit.args.get("expression")) if limit is not None else inf


def _literal_number(node: Any) -> float:
    from sqlglot import expressions

    if not isinstance(node, expressions.Literal) or node.is_string:
        return inf
    return float(node.name)


def _is_bounding(where: Expr) -> bool:
    """Return True if the condition compares a column with a number that is not too large."""
    from sqlglot import expressions

    kinds = (expressions.LT, expressions.LTE, expressions.GT, expressions.GTE, expressions.NEQ)
    compared = (side for each in where.find_all(*kinds) for side in (each.left, each.right))
    columns = any(where.find_all(expressions.Column))
    return (
        columns
        and not where.find(expressions.Or)
        and min(map(_literal_number, compared), default=inf) <= (MOST_ROUNDS)
    )


class Endless(Unclear):
    """A text that reads, but need not end."""


def _spaced_name(name: str) -> str:
    return "".join(f" {c}" if c.isupper() else c for c in name).strip().lower()
