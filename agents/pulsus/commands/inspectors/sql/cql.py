"""Judge CQL and InfluxQL. Both know few statements, and no function with effects.

User-defined functions of CQL run in a sandbox without I/O; InfluxQL has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pulsus.commands.content_inspector import Opinion, Unclear
from pulsus.commands.inspectors.sql.split_statements import WORDS, Statement, statements, words

_READS: Final[Mapping[str, frozenset[str]]] = {
    "cql": words("select describe desc list show help"),
    "influxql": words("select show explain"),
}
"""First words of the statements of each language that read."""

_WRITES: Final = WORDS["cql_writes"]


def cql(texts: tuple[str, ...], argument: str) -> Opinion:
    """Judge `texts` for cqlsh."""
    return _judge_texts(texts, "cql")


def influxql(texts: tuple[str, ...], argument: str) -> Opinion:
    """Judge `texts` for influx 1.x."""
    return _judge_texts(texts, "influxql")


def _judge_texts(texts: tuple[str, ...], language: str) -> Opinion:
    try:
        for text in texts:
            found = statements(text, language)
            if not found:
                raise Unclear(text[:40], "there is no statement in it")
            for statement in found:
                _check_statement(statement, _READS[language])
    except Unclear as error:
        return error.opinion
    return Opinion(True, "every statement in it only reads", texts[0][:40])


def _check_statement(statement: Statement, reads: frozenset[str]) -> None:
    if statement.first not in reads:
        raise Unclear(statement.tokens[0].text, "no statement that is known to read begins so")
    if statement.first == "help" and len(statement.tokens) > 1:
        raise Unclear(statement.shown, "of a topic it opens a browser")
    for token in statement.tokens:
        if token.key in _WRITES:
            raise Unclear(token.text, "a word of statements that write")
