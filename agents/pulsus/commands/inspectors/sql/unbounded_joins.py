"""Find joins that pair each row of a table with each row of another: `SELECT … FROM a, b`.

A cartesian product (CROSS JOIN) is refused, unless a LIMIT ends it.

Such a join takes as long as the product of its tables, and a server goes on with it after the
client was ended. A join is followed if a condition compares a column with another one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from math import inf
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from sqlglot.expressions import Expr, Select

MOST_FEW: Final = 1_000
"""Rows of a part that may be paired with a table."""


def has_unbounded_join(root: Expr) -> bool:
    """Return True if a SELECT in the tree has more tables than conditions that connect them."""
    from sqlglot import expressions

    small = {
        cte.alias.lower() for cte in root.find_all(expressions.CTE) if _is_small_query(cte.this)
    }
    selects = root.find_all(expressions.Select)
    return any(
        _is_unconnected(each, small) and not _is_cut_short(each)
        for each in selects
        if each.args.get("joins")
    )


def _is_unconnected(select: Select, small: set[str]) -> bool:
    joins: list[Any] = select.args["joins"]
    source = select.args.get("from_")
    first = source is None or _is_few(source.this, small)
    loose = [
        join
        for join in joins
        if not (
            join.args.get("using")
            or join.args.get("method")
            or _is_few(join.this, small)
            or _has_link(join.args.get("on"))
        )
    ]
    if first and loose:
        loose.pop()
    where = select.args.get("where")
    links = sum(1 for _ in _links(where)) if where is not None else 0
    return len(loose) > links


def _links(node: Expr) -> Iterator[Expr]:
    """Yield the comparisons of a column with a column."""
    from sqlglot import expressions

    kinds = (
        *(expressions.EQ, expressions.NullSafeEQ, expressions.LT, expressions.LTE),
        *(expressions.GT, expressions.GTE, expressions.Between, expressions.Like),
        *(expressions.ILike, expressions.In, expressions.ArrayContainsAll),
    )
    for each in node.find_all(*kinds):
        columns = {column.sql().lower() for column in each.find_all(expressions.Column)}
        if len(columns) > 1 or (isinstance(each, expressions.EQ) and _is_one_row(columns)):
            yield each


def _is_one_row(columns: Collection[str]) -> bool:
    """Return True for the column of a key: `a.id = 5` leaves one row of `a`."""
    return any(name.strip('`"').rpartition(".")[2] in {"id", "oid", "pid"} for name in columns)


def _has_link(condition: Expr | None) -> bool:
    """Return True if the condition of a join says more than `true` or `1 = 1`."""
    from sqlglot import expressions

    if condition is None:
        return False
    columns = {column.sql().lower() for column in condition.find_all(expressions.Column)}
    return len(columns) > 1


def _is_few(source: Expr, small: set[str]) -> bool:
    """Return True for parts of a row (`unnest(a.x)`), a few rows, and what is small by itself."""
    from sqlglot import expressions

    if isinstance(source, expressions.Subquery):
        return _is_small_query(source.this)
    if isinstance(source, expressions.Table):
        return not isinstance(source.this, expressions.Identifier) or (
            source.name.lower() in small and not source.args.get("db")
        )
    return True


def _is_small_query(query: Expr) -> bool:
    """Return True if the query has one row, or as many as it says."""
    from sqlglot import expressions

    if isinstance(query, expressions.Values):
        return True
    if not isinstance(query, expressions.Select):
        return False
    if row_limit(query) <= MOST_FEW or query.args.get("from_") is None:
        return True
    grouped = query.args.get("group") is not None
    return not grouped and any(each.find(expressions.AggFunc) for each in query.expressions)


def _is_cut_short(select: Select) -> bool:
    """Return True if a limit ends the query before all pairs are made."""
    from sqlglot import expressions

    kinds = (expressions.AggFunc, expressions.Order, expressions.Group, expressions.Distinct)
    whole = select.args.get("where") is not None or any(
        each.find(*kinds)
        for key, part in select.args.items()
        if key not in {"with_", "joins", "from_"}
        for each in (part if isinstance(part, list) else [part])
        if hasattr(each, "find")
    )
    return not whole and row_limit(select) <= MOST_FEW


def row_limit(query: Expr) -> float:
    """Return the number after LIMIT, or infinity without one."""
    from sqlglot import expressions

    limit = query.args.get("limit")
    number = limit.args.get("expression") if limit is not None else None
    if not isinstance(number, expressions.Literal) or number.is_string:
        return inf
    return float(number.name)
