"""What sqlglot makes of a statement: only kinds of nodes that read may stand in its tree.

A second opinion beside the words (`sql.py`): both have to find nothing but reading.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Final

from pulsus.commands.inspectors.sql_text import Statement, words
from pulsus.commands.inspectors.unclear import Unclear

if TYPE_CHECKING:
    from sqlglot.expressions import Expr

_ROOTS: Final = frozenset({"Select", "Union", "Except", "Intersect", "Subquery", "Values"})
_WRITES: Final = frozenset({"Insert", "Update", "Delete"})
_NODES: Final = _ROOTS | words("""
    Add Adjacent Alias Aliases All Any AtTimeZone Between BitString BitwiseAnd BitwiseLeftShift
    BitwiseNot BitwiseOr BitwiseRightShift BitwiseXor Boolean Bracket ByteString CTE CharacterSet
    Column ColumnDef Cube DPipe DataType DataTypeParam Distance Distinct Div Dot EQ Escape Fetch
    Filter Final ForClause From GT GTE Glob Group GroupingSets Having HexString ILike Identifier
    IgnoreNulls In IndexTableHint IntDiv Interval IntervalOp IntervalSpan Introducer Is JSON
    JSONColumnDef JSONKeyValue JSONPath JSONPathFilter JSONPathKey JSONPathRecursive JSONPathRoot
    JSONPathSelector JSONPathSlice JSONPathSubscript JSONPathUnion JSONPathWildcard JSONSchema
    JSONValue Join Kwarg LT LTE Lambda Lateral Like Limit LimitOptions Literal Match Mod Mul NEQ
    National Neg Not Null NullSafeEQ NullSafeNEQ ObjectIdentifier Offset Order Ordered Overlaps
    Parameter Paren Partition Pivot PivotAlias PivotAny PositionalColumn PreWhere PropertyEQ
    PseudoType Pseudocolumn Qualify QueryOption RawString RespectNulls Rollup SessionParameter
    SimilarTo Slice Sort Star Sub SubqueryPredicate Table TableAlias TableColumn TableSample
    TimeUnit Tuple UnicodeString Var Variadic Where Window WindowSpec With WithFill WithTableHint
    WithinGroup XMLKeyValueOption
""")
_EXPLAINED: Final = _WRITES | frozenset({"Returning", "OnConflict", "Schema"})
"""What stands in a write that EXPLAIN shows without running it."""

_NOT_READ: Final = frozenset({"NextValueFor"})
_TABLE_HINTS: Final = words(
    "nolock readuncommitted readcommitted readpast noexpand index forceseek forcescan"
)


def check(statement: Statement, dialect: str, *, explained: bool = False) -> None:
    """Raises Unclear unless every node of the statement's tree reads.

    `explained` allows a write: EXPLAIN without ANALYZE does not run it.
    """
    root = _parsed(statement, dialect)
    name = type(root).__name__
    if name not in (_ROOTS | _WRITES if explained else _ROOTS):
        raise Unclear(statement.shown, f"{_plain(name)} is not known to read")
    allowed = _NODES | _EXPLAINED if explained else _NODES
    for node in root.walk():
        _node(node, allowed)
    _ends(root, statement)


def _parsed(statement: Statement, dialect: str) -> Expr:
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
def _function() -> type:
    from sqlglot.expressions import Func

    return Func


def _node(node: Expr, allowed: Iterable[str]) -> None:
    name = type(node).__name__
    if name in _NOT_READ or (name not in allowed and not isinstance(node, _function())):
        raise Unclear(str(node.name or _plain(name))[:40], f"{_plain(name)} is not known to read")
    if name == "WithTableHint":
        for hint in node.expressions:
            if str(hint.name).lower() not in _TABLE_HINTS:
                raise Unclear(str(hint.name), "a table hint that may lock what it reads")


def _ends(root: Expr, statement: Statement) -> None:
    """A recursive query ends by a condition or a limit."""
    with_ = root.args.get("with_")
    if with_ is None or not with_.args.get("recursive") or root.args.get("limit"):
        return
    from sqlglot import expressions

    for cte in with_.expressions:
        query = cte.this
        if isinstance(query, expressions.SetOperation) and not query.args.get("limit"):
            again = query.expression
            if not any(again.find(kind) for kind in (expressions.Where, expressions.Join)):
                raise Endless(statement.shown, "recursion without a condition that ends it")


class Endless(Unclear):
    """A text that reads, but need not end."""


def _plain(name: str) -> str:
    return "".join(f" {c}" if c.isupper() else c for c in name).strip().lower()
