"""Check sqlglot's tree of a statement: it may contain only kinds of nodes that read.

A recursive query (WITH RECURSIVE) that may not end is refused here.

This is a second opinion beside the words (`sql.py`): both have to agree that it reads.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from functools import cache
from math import inf
from typing import TYPE_CHECKING, Any, Final

from pulsus.commands.content_inspector import Unclear
from pulsus.commands.inspectors.sql.split_statements import WORDS, Statement
from pulsus.commands.inspectors.sql.unbounded_joins import has_unbounded_join, row_limit

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
    if has_unbounded_join(root):
        raise Endless(statement.shown, "a join without a condition pairs all rows")


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
    if with_ is None:
        return
    from sqlglot import expressions

    cut_short = _is_cut_short(root)
    for cte in with_.expressions:
        query = cte.this
        if isinstance(query, expressions.SetOperation) and _grows_each_round(query.expression, cte):
            raise Endless(statement.shown, "recursion that may double a text or its rows")
        if cut_short:
            continue
        if not isinstance(query, expressions.SetOperation) or row_limit(query) <= MOST_ROUNDS:
            continue
        recursive_part = query.expression
        tables = {table.name.lower() for table in recursive_part.find_all(expressions.Table)}
        if cte.alias.lower() not in tables or tables - {cte.alias.lower()}:
            continue  # no recursion, or one that ends with the rows of another table
        if not _is_bounding(recursive_part, _column_names(cte)):
            raise Endless(statement.shown, "recursion without a condition that ends it")


_LONGER: Final = frozenset(
    {
        *("replace", "repeat", "replicate", "rpad", "lpad", "regexp_replace", "hex", "format"),
        *("printf", "quote", "encode", "to_hex", "array_cat", "translate", "overlay"),
    }
)
"""Functions whose answer may be longer than what they get, by a factor."""
_SERIES: Final = frozenset(
    {
        *("generate_series", "exploding_generate_series", "range", "unnest", "numbers"),
        *("sequence", "explode", "generate_date_array", "generate_timestamp_array"),
    }
)


def _grows_each_round(recursive_part: Expr, cte: Expr) -> bool:
    """Return True if a round of a recursive query may double a text, or make rows of its own."""
    from sqlglot import expressions

    tables = {table.name.lower() for table in recursive_part.find_all(expressions.Table)}
    if cte.alias.lower() not in tables:
        return False
    calls = {_function_name(each) for each in recursive_part.find_all(expressions.Func)}
    if calls & (_LONGER | _SERIES):
        return True
    joins = (expressions.DPipe, expressions.Concat, expressions.ConcatWs, expressions.ArrayConcat)
    for value in recursive_part.expressions:
        if value.find(*joins) is not None:
            names = [column.name.lower() for column in value.find_all(expressions.Column)]
            if len(names) > len({*names}):
                return True
    return False


def _function_name(call: Expr) -> str:
    from sqlglot import expressions

    if isinstance(call, expressions.Func) and not isinstance(call, expressions.Anonymous):
        return call.sql_name().lower()
    return str(call.this).lower()


def _column_names(cte: Expr) -> list[str]:
    """Return the names of the columns that `WITH t(a, b)` gives, or those of its first query."""
    given = cte.args["alias"].args.get("columns") or ()
    names = [column.name.lower() for column in given]
    first = cte.this.this
    return names or [each.alias_or_name.lower() for each in getattr(first, "expressions", ())]


MOST_ROUNDS: Final = 1e8


def _is_cut_short(root: Expr) -> bool:
    """Return True if a limit ends the query before all rows are made."""
    from sqlglot import expressions

    if row_limit(root) > MOST_ROUNDS or _skipped_rows(root) > MOST_ROUNDS:
        return False
    if root.args.get("where") is not None or root.args.get("joins"):
        return False  # it may look for a row that never comes
    kinds = (
        *(expressions.AggFunc, expressions.Order, expressions.Group, expressions.Distinct),
        *(expressions.Window, expressions.Query),
    )
    parts = (part for key, part in root.args.items() if key != "with_")
    flat = (each for part in parts for each in (part if isinstance(part, list) else [part]))
    return not any(hasattr(each, "find") and each.find(*kinds) for each in flat)


def _skipped_rows(query: Expr) -> float:
    offset = query.args.get("offset")
    return _literal_number(offset.args.get("expression")) if offset is not None else 0.0


def _literal_number(node: Any) -> float:
    from sqlglot import expressions

    if not isinstance(node, expressions.Literal) or node.is_string:
        return inf
    return float(node.name)


def _is_bounding(recursive_part: Expr, names: Sequence[str]) -> bool:
    """Return True if a condition stops a column that comes nearer to it with each round: `n + 1`
    with `n < 100`, or `n - 1` with `n > 0`. `names` are the columns of the query."""
    from sqlglot import expressions

    up = (expressions.LT, expressions.LTE)
    down = (expressions.GT, expressions.GTE)
    steps = {
        name: _step(each) for name, each in zip(names, recursive_part.expressions, strict=False)
    }
    for where in recursive_part.find_all(expressions.Where):
        if where.find(expressions.Or, expressions.Not):
            continue
        for each in where.find_all(*up, *down, expressions.NEQ):
            for side, other, mirrored in (
                (each.left, each.right, False),
                (each.right, each.left, True),
            ):
                column = side.find(expressions.Column)
                if column is None or _literal_number(other) > MOST_ROUNDS:
                    continue
                step = steps.get(column.name.lower(), 0)
                rising = isinstance(each, down if mirrored else up)
                falling = isinstance(each, up if mirrored else down)
                if (rising and step > 0) or (falling and step < 0):
                    return True
    return False


def _step(value: Expr) -> float:
    """Return by how much `n + 1` or `n - 1` changes its column, or 0 if that cannot be told."""
    from sqlglot import expressions

    inner = value.unalias()
    if isinstance(inner, expressions.Paren):
        inner = inner.this
    if not isinstance(inner, (expressions.Add, expressions.Sub, expressions.Mul)):
        return 0.0
    if inner.find(expressions.Column) is None:
        return 0.0
    sign = -1.0 if isinstance(inner, expressions.Sub) else 1.0
    sizes = [_literal_number(side) for side in (inner.left, inner.right)]
    known = [size for size in sizes if size != inf]
    least = 1 if isinstance(inner, expressions.Mul) else 0
    return sign if len(known) == 1 and known[0] > least else 0.0


class Endless(Unclear):
    """A text that reads, but need not end."""


def _spaced_name(name: str) -> str:
    return "".join(f" {c}" if c.isupper() else c for c in name).strip().lower()
