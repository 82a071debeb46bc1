"""Judge SQL. The argument is the dialect or client (`sql:postgres`, `sql:mysql`, …).

INSERT, UPDATE, DELETE, DDL and other words of writes are refused here.

Two opinions have to agree: the words (`statements`), where every function is listed, and the tree
that sqlglot makes of them (`syntax_tree`). Functions are listed for `sql_functions.py`; joins
without a condition are found in `unbounded_joins.py`, generated rows in `row_series.py`. Several
statements read if each does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from math import inf
from typing import Final

from pulsus.commands.content_inspector import Opinion, Unclear
from pulsus.commands.cost.quantities import number
from pulsus.commands.inspectors.sql.client_commands import client_command
from pulsus.commands.inspectors.sql.printed_settings import check_settings
from pulsus.commands.inspectors.sql.row_series import MOST_ROWS
from pulsus.commands.inspectors.sql.row_series import find_endless_rows as check_series
from pulsus.commands.inspectors.sql.show_and_explain import OTHER, reads_otherwise
from pulsus.commands.inspectors.sql.split_statements import WORDS, SqlToken, Statement, statements
from pulsus.commands.inspectors.sql.sql_functions import check_functions as check_calls
from pulsus.commands.inspectors.sql.syntax_tree import Endless
from pulsus.commands.inspectors.sql.syntax_tree import check_tree as check_tree

_QUERIES: Final = frozenset({"select", "with", "values", "table", "("})
_EXPLAINED: Final = frozenset({"insert", "update", "delete"})
_DIALECT: Final = {"cockroach": "postgres"}
"""Clients that speak another's dialect."""

_FORBIDDEN: Final = WORDS["writes"]
_BATCH: Final = WORDS["tsql_statements"]
"""T-SQL needs nothing between statements: each of these may begin another one."""


def inspect(texts: tuple[str, ...], argument: str) -> Opinion:
    """Judge `texts`, each a word of its own."""
    endless: list[Endless] = []
    try:
        for text in texts:
            _judge_text(text, argument, endless)
    except Unclear as error:
        return error.opinion
    if endless:
        return Opinion(True, endless[0].rule, endless[0].word, "unbounded_stream")
    return Opinion(True, "every statement in it only reads", texts[0][:40])


def _judge_text(text: str, client: str, endless: list[Endless]) -> None:
    try:
        if client_command(text, client):
            return
        dialect = _DIALECT.get(client, client)
        found = statements(_prepare_text(text, dialect), dialect)
    except Endless as error:
        endless.append(error)
        return
    if not found:
        raise Unclear(text[:40], "there is no statement in it")
    for statement in found:
        _judge_statement(statement, dialect, endless)


def _prepare_text(text: str, dialect: str) -> str:
    if dialect == "tsql":
        if "$(" in text or "\n" in text:
            raise Unclear(
                text[:40], "sqlcmd puts in variables, and lines may be commands of its own"
            )
        return re.sub(r"\ASET NOCOUNT ON[ ;]+(?=\S)", "", text.strip(), flags=re.IGNORECASE)
    return text


def _judge_statement(statement: Statement, dialect: str, endless: list[Endless]) -> None:
    first = statement.first or statement.tokens[0].text
    check_settings(statement.tokens, dialect)
    if first in _QUERIES or (first == "from" and dialect == "duckdb"):
        _judge_query(statement, dialect, endless)
        return
    if first not in OTHER[dialect]:
        raise Unclear(statement.tokens[0].text, "no statement that is known to read begins so")
    inner = reads_otherwise(statement, dialect)
    if inner is None and first == "pragma":
        return
    if inner is None:
        endless += check_calls(statement.tokens, dialect)
        return
    found = statements(inner.text, dialect)
    if len(found) != 1:
        raise Unclear(statement.shown, "not one statement")
    _judge_query(found[0], dialect, endless, explained=inner.explained)


def _judge_query(
    statement: Statement, dialect: str, endless: list[Endless], *, explained: bool = False
) -> None:
    first = statement.first or statement.tokens[0].text
    writes = explained and first in _EXPLAINED
    if not writes:
        _refuse_write_words(statement.tokens, dialect)
    if dialect == "duckdb":
        _refuse_addresses(statement.tokens)
    if dialect == "sqlite":
        _refuse_bare_pragmas(statement.tokens)
    if dialect == "clickhouse" and _is_endless_count(statement.tokens):
        endless.append(Endless(statement.shown, "it counts on without a limit"))
    endless += check_calls(statement.tokens, dialect, writes=writes)
    # What EXPLAIN shows without running it makes no rows.
    endless += [] if explained else check_series(statement.tokens)
    try:
        check_tree(statement, dialect, explained=writes)
    except Endless as error:
        endless += [] if explained else [error]


def _refuse_write_words(tokens: Sequence[SqlToken], dialect: str) -> None:
    forbidden = _FORBIDDEN | _BATCH if dialect == "tsql" else _FORBIDDEN
    for at, token in enumerate(tokens):
        if token.key not in forbidden or (tokens[at - 1].text == "." and token.key != "nextval"):
            continue
        if at + 1 < len(tokens) and tokens[at + 1].text == "(" and dialect == "mysql":
            continue  # INSERT(), TRUNCATE(): functions there, judged as such
        raise Unclear(token.text, "a word of statements that write")


def _refuse_bare_pragmas(tokens: Sequence[SqlToken]) -> None:
    """Refuse `FROM pragma_optimize`: it is a call, even without parentheses."""
    for token, behind in zip(tokens, (*tokens[1:], None), strict=True):
        bare = behind is None or behind.text != "("
        if bare and token.text.lower() == "pragma_optimize":
            raise Unclear(token.text, "a pragma that writes")


_ADDRESS: Final = re.compile(r"[A-Za-z0-9+.-]+://")
_FILES: Final = re.compile(r"read_\w+|parquet_\w+|sniff_csv|glob", re.IGNORECASE)


def _refuse_addresses(tokens: Sequence[SqlToken]) -> None:
    """Refuse addresses: DuckDB fetches what they name, and installs what it needs for that."""
    for at, token in enumerate(tokens):
        behind = tokens[at + 1 : at + 2]
        if _FILES.fullmatch(token.text) and behind and behind[0].text == "(":
            _require_literal(tokens, at + 2)
        if token.kind in {"string", "name"} and _ADDRESS.match(token.text):
            before = tokens[at - 1]
            if before.key in {"from", "join"} or before.text in {",", "(", "["}:
                raise Unclear(token.text[:40], "it is fetched from elsewhere")


def _require_literal(tokens: Sequence[SqlToken], at: int) -> None:
    """Refuse anything but a text or a list of texts: a computed text could be an address."""
    end = at
    if tokens[at] == SqlToken("mark", "["):
        end += 1
        while tokens[end].kind == "string" or tokens[end] == SqlToken("mark", ","):
            end += 1
        end += tokens[end] == SqlToken("mark", "]")
    elif tokens[at].kind == "string":
        end += 1
    if end == at or tokens[end] not in {SqlToken("mark", ","), SqlToken("mark", ")")}:
        raise Unclear(tokens[at - 2].text, "the files it reads are no literal")


def _is_endless_count(tokens: Sequence[SqlToken]) -> bool:
    """Return True for ClickHouse's endless tables (`system.numbers`, `numbers()`) without a
    LIMIT."""
    limits = (b for a, b in pairwise(tokens) if a.key == "limit")
    if any((number(token.text) or inf) <= MOST_ROWS for token in limits):
        return False
    for at, token in enumerate(tokens):
        if token.text.lower().removesuffix("_mt") in {"numbers", "zeros", "numbers_rand"}:
            behind = [t.text for t in tokens[at + 1 : at + 3]]
            if behind[:1] != ["("] or behind == ["(", ")"]:
                return True
    return False
