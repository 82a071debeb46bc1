"""Every function that SQL calls is one that is known to read (`sql_functions.yaml`).

An unknown function is refused here, `pg_sleep` and others that wait are returned.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from pulsus.commands.content_inspector import Unclear
from pulsus.commands.inspectors.sql.split_statements import WORDS, SqlToken
from pulsus.commands.inspectors.sql.syntax_tree import Endless
from pulsus.commands.shipped_data import rules_of

_QUALIFIERS: Final[Mapping[str, frozenset[str]]] = {
    "postgres": frozenset({"pg_catalog"}),
    "mysql": frozenset({"sys"}),
    "tsql": frozenset({"sys"}),
}
"""Schemas that hold the server's own functions: elsewhere a known name may be another function."""

_KEYWORDS: Final = WORDS["before_parentheses"]


class _KnownFunctions:
    """Functions of one dialect: exact names, what ends a `*`, and those that wait."""

    def __init__(self, names: Sequence[str], waits: Sequence[str]) -> None:
        self.names = frozenset(name for name in names if "*" not in name)
        wild = [re.escape(name).replace(r"\*", r"\w*") for name in names if "*" in name]
        self.wild = re.compile("|".join(wild) or r"(?!)")
        self.waits = frozenset(waits)

    def has(self, name: str) -> bool:
        return name in self.names or self.wild.fullmatch(name) is not None


@cache
def _known_functions(dialect: str) -> _KnownFunctions:
    raw = rules_of(Path(__file__).with_name("sql_functions.yaml"))
    names = f"{raw['all']} {raw[dialect]}".lower().split()
    return _KnownFunctions(names, raw["waits"].split())


def check_functions(
    tokens: Sequence[SqlToken], dialect: str, *, writes: bool = False
) -> list[Endless]:
    """Return the calls that wait. Raises Unclear for a function that is not known to read.

    `writes`: a write that EXPLAIN shows; names before its columns are no calls.
    """
    known = _known_functions(dialect)
    endless = []
    for at in range(len(tokens) - 1):
        if tokens[at + 1].text != "(" or tokens[at].kind in {"mark", "number"}:
            continue
        if _is_no_call(tokens, at, writes=writes):
            continue
        name = tokens[at].text.lower()
        if tokens[at].kind == "string":
            raise Unclear(tokens[at].text[:40], "in some modes this text names a function")
        _check_schema(tokens, at, dialect)
        if name in known.waits:
            endless.append(Endless(tokens[at].text, "it waits"))
        elif not known.has(name):
            raise Unclear(tokens[at].text[:40], "not a function that is known to read")
    return endless


def _is_no_call(tokens: Sequence[SqlToken], at: int, *, writes: bool) -> bool:
    """Return True if the name before a parenthesis is a keyword, a type or a name that is
    defined."""
    before = tokens[at - 1].key if at else ""
    if tokens[at].key in _KEYWORDS and (not at or tokens[at - 1].text != "."):
        return True
    if before in {"as", "tablesample"}:
        return True
    return (writes and before == "into") or _is_cte(tokens, at)


def _is_cte(tokens: Sequence[SqlToken], at: int) -> bool:
    """Return True for `name (a, b) AS [NOT MATERIALIZED] (SELECT …`: bare names, then a query."""
    end = at + 2
    while end < len(tokens) and (tokens[end].kind in {"word", "name"} or tokens[end].text == ","):
        end += 1
    if [t.text.lower() for t in tokens[end : end + 2]] != [")", "as"]:
        return False
    end += 2
    while end < len(tokens) and tokens[end].key in {"not", "materialized"}:
        end += 1
    behind = [t.text.lower() for t in tokens[end : end + 3] if t.kind in {"word", "mark"}]
    return behind[:2] in (["(", "select"], ["(", "with"]) or behind == ["(", "values", "("]


def _check_schema(tokens: Sequence[SqlToken], at: int, dialect: str) -> None:
    if at < 2 or tokens[at - 1].text != ".":
        return
    schema = tokens[at - 2].text.lower()
    if schema not in _QUALIFIERS.get(dialect, ()) or (at > 2 and tokens[at - 3].text == "."):
        name = f"{tokens[at - 2].text}.{tokens[at].text}"
        raise Unclear(name[:40], "a function of another schema than the server's own")
