"""Statements that read and are no queries, such as SHOW, DESCRIBE, EXPLAIN and PRAGMA.

EXPLAIN ANALYZE runs its statement, so that statement has to read too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from pulsus.commands.content_inspector import Unclear
from pulsus.commands.inspectors.sql.split_statements import WORDS, Statement, words
from pulsus.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Inner:
    """A statement within another; `explained` if it is not run."""

    text: str
    explained: bool = False


OTHER: Final[Mapping[str, frozenset[str]]] = {
    "postgres": frozenset({"show", "explain"}),
    "mysql": words("show explain describe desc analyze checksum help use"),
    "sqlite": frozenset({"explain", "pragma"}),
    "duckdb": words("show explain describe desc summarize pragma"),
    "clickhouse": words("show explain describe desc exists use"),
    "tsql": words("exec execute sp_who sp_who2 sp_helpdb sp_databases"),
}
"""The first words of what `reads_otherwise` can judge, by dialect."""


def reads_otherwise(statement: Statement, dialect: str) -> Inner | None:
    """Return the statement that has to read too, or None if it reads itself. Raises Unclear.

    Functions in what reads itself are left to the caller.
    """
    return _HOW[statement.first](statement, dialect)


def _check_show(statement: Statement, dialect: str) -> None:
    for token in statement.tokens:
        if token.key in {"select", "into", "outfile"}:
            raise Unclear(token.text, "not known to stand in what SHOW reads")
        if dialect == "duckdb" and "://" in token.text:
            raise Unclear(token.text[:40], "it is fetched from elsewhere")


_EXPLAIN: Final[Mapping[str, re.Pattern[str]]] = {
    dialect: re.compile(rf"\s*(?:explain|describe|desc|analyze)\b(?P<how>{how})\s*", re.IGNORECASE)
    for dialect, how in {
        "postgres": r"(?:\s*\([\w\s,]*\)(?=\s*\w)|(?:\s+(?:analyze|verbose)\b)*)",
        "mysql": r"(?:\s+(?:extended|partitions|analyze|format\s*=\s*(?!into\b)\w+)\b)*",
        "sqlite": r"(?:\s+query\s+plan\b)?",
        "duckdb": r"(?:\s+analyze\b)?(?:\s*\([\w\s,]*\)(?=\s*\w))?",
        "clickhouse": r"(?:\s+(?:ast|syntax|query\s+tree|plan|pipeline|estimate)\b)?"
        r"(?:\s+\w+\s*=\s*\d+(?:\s*,\s*\w+\s*=\s*\d+)*)?",
    }.items()
}
_QUERY: Final = re.compile(r"\(|(?:select|with|values|table|from|insert|update|delete)\b", re.I)
_DESCRIBED: Final = re.compile(
    r"(?!for\b|into\b)[\w.`]+(?:\s+(?:[\w`]+|'[^'\\]*'))?\s*|for\s+connection\s+\d+\s*", re.I
)
_SHOWN: Final = WORDS["explain_options"]
"""Options of EXPLAIN with which it runs nothing."""


def _explained_statement(statement: Statement, dialect: str) -> Inner | None:
    found = _EXPLAIN[dialect].match(statement.text)
    if found is None:
        raise Unclear(statement.shown, "not understood as EXPLAIN")
    rest = statement.text[found.end() :]
    shown = set(re.findall(r"[a-z_]+", found["how"].lower())) <= _SHOWN
    if statement.first == "analyze":  # MariaDB's; ANALYZE TABLE writes
        if re.match(r"\(|(?:select|with)\b", rest, re.IGNORECASE):
            return Inner(rest)
        if re.match(r"table\b", rest, re.IGNORECASE):
            raise Unclear(statement.shown, "it writes the statistics of a table")
    elif _QUERY.match(rest):
        return Inner(rest, explained=shown)
    elif dialect == "mysql" and shown and _DESCRIBED.fullmatch(rest):
        return None
    raise Unclear(
        rest[:40] or statement.shown, "the statement that it explains is not known to read"
    )


def _described_statement(statement: Statement, dialect: str) -> Inner | None:
    """Return the query that DESCRIBE or SUMMARIZE is about, or None for a table."""
    if dialect == "mysql":
        return _explained_statement(statement, dialect)
    rest = re.sub(r"\A\s*\w+\s*(?:table\b\s*)?", "", statement.text, flags=re.IGNORECASE)
    if _QUERY.match(rest):
        return Inner(rest)
    if not rest or re.fullmatch(r"[\w.`\"]+\s*|'[^':]*'\s*", rest):
        return None
    raise Unclear(rest[:40], "the query that it describes is not known to read")


_SQLITE_OF: Final = WORDS["sqlite_pragmas_of"]
_SQLITE_ALONE: Final = WORDS["sqlite_pragmas"]
_DUCKDB: Final = WORDS["duckdb_pragmas"]
_PRAGMA: Final = re.compile(
    r"\s*pragma\s+(?:\w+\s*\.\s*)?(?P<name>\w+)\s*(?P<of>\(\s*[\w'\"`.]+\s*\))?\s*", re.IGNORECASE
)


def _check_pragma(statement: Statement, dialect: str) -> None:
    found = _PRAGMA.fullmatch(statement.text)
    if found is None:
        raise Unclear(statement.shown, "a pragma that may set something")
    name = found["name"].lower()
    known = _SQLITE_OF if found["of"] else _SQLITE_ALONE
    if name not in (_DUCKDB if dialect == "duckdb" else known):
        raise Unclear(found["name"], "not a pragma that is known to read")


_SMALL: Final[Mapping[str, re.Pattern[str]]] = {
    first: re.compile(rf"\s*{first}\b{pattern}\s*", re.IGNORECASE)
    for first, pattern in {
        "use": r"\s+[\w`-]+",
        "help": r"\s+'[\w %]+'",
        "checksum": r"\s+tables?\s+[\w.`, ]+?(?:\s+(?:quick|extended))?",
        "exists": r"\s+(?:(?:temporary|table|database|view|dictionary)\s+)*[\w.`]+",
    }.items()
}


def _check_short_statement(statement: Statement, dialect: str) -> None:
    if not _SMALL[statement.first].fullmatch(statement.text):
        raise Unclear(statement.shown, f"more than {statement.first.upper()} is known to read with")


_PROCEDURES: Final = (
    "sp_who|sp_who2|sp_help|sp_helpdb|sp_helptext|sp_helpindex|sp_helpconstraint|sp_helpfile|"
    "sp_databases|sp_tables|sp_columns|sp_pkeys|sp_fkeys|sp_statistics|sp_lock|sp_server_info|"
    "sp_helpuser|sp_helprole|sp_helprolemember|sp_helplogins|sp_helpsrvrole|sp_helptrigger"
)
_CALL: Final = re.compile(
    rf"\s*(?:exec(?:ute)?\s+)?(?:(?:master\.)?(?:dbo|sys)\.)?(?:{_PROCEDURES})"
    r"(?:\s+(?:@\w+\s*=\s*)?(?:N?'[\w.\[\]% ]*'|[\w.]+))?\s*",
    re.IGNORECASE,
)


def _check_procedure(statement: Statement, dialect: str) -> None:
    if not _CALL.fullmatch(statement.text):
        raise Unclear(statement.shown, "not a procedure that is known to read")


_HOW: Final[Mapping[str, Callable[[Statement, str], Inner | None]]] = {
    "show": _check_show,
    "explain": _explained_statement,
    "analyze": _explained_statement,
    "describe": _described_statement,
    "desc": _described_statement,
    "summarize": _described_statement,
    "pragma": _check_pragma,
    **dict.fromkeys(_SMALL, _check_short_statement),
    **dict.fromkeys(OTHER["tsql"], _check_procedure),
}
