"""Refuse queries that print settings of a server in which passwords stand (`SHOW ALL`).

A setting such as `primary_conninfo` or `archive_command` holds credentials. A query may print only
settings that it names, and none of those that are listed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from pulsus.commands.content_inspector import Unclear
from pulsus.commands.inspectors.sql.split_statements import WORDS, SqlToken
from pulsus.commands.shell.glob_overlap import patterns_overlap

_SECRETS: Final = {name: WORDS[f"{name}_secret_settings"] for name in ("postgres", "mysql")}
_PLACES: Final = {name: WORDS[f"{name}_places_of_settings"] for name in ("postgres", "mysql")}
_CONDITION: Final = (
    r"where (?:\w+ \. )?(?:name|variable_name) (?:(?:=|like|ilike|~) §|in \( §(?: , §)* \))"
    r"(?: and (?:\w+ \. )?\w+ (?:=|like|ilike|<|>|<=|>=) (?:§|\d+))*"
)
_NAMED: Final = re.compile(
    rf"select (?:(?!from )\S+ )+from (?:\w+ \. )?\w+ (?:as )?(?:(?!where )\w+ )?{_CONDITION}"
    r"(?: order by [\w., ]+)?(?: limit \d+)?"
)
_SHOWN: Final = re.compile(rf"show (?:(?:global|session|local) )?variables (?:like §|{_CONDITION})")
_PLAIN: Final = WORDS["columns_without_values"]
_RULE: Final = "it prints settings that it does not name, passwords among them"


def check_settings(tokens: Sequence[SqlToken], dialect: str) -> None:
    """Raises Unclear for a statement that prints settings with a password, or unnamed ones."""
    if dialect not in _SECRETS:
        return
    texts = [token.text.lower() for token in tokens]
    if texts[:1] == ["show"]:
        _check_show(texts[1:], tokens, dialect)
        return
    place = next((text for text in texts if text in _PLACES[dialect]), "")
    if place and _prints_values(texts) and not _names_settings(tokens):
        raise Unclear(place, f"{_RULE}; a condition such as {_example(dialect)} names one")
    named = _named_here(texts, tokens, dialect, whole=bool(place))
    _refuse_secrets(named, dialect)


def check_setting_pattern(pattern: str) -> None:
    """Raises Unclear for a pattern of psql's \\dconfig that fits a setting with a password."""
    _refuse_secrets(pattern.replace('"', "").split(), "postgres")


def _check_show(texts: Sequence[str], tokens: Sequence[SqlToken], dialect: str) -> None:
    if dialect == "postgres":
        if texts[:1] == ["all"] or "settings" in texts:
            raise Unclear("SHOW ALL", _RULE)
        _refuse_secrets([".".join(text for text in texts if text not in {".", '"'})], dialect)
    elif "variables" in texts:
        if not _SHOWN.fullmatch(_shape(tokens)):
            raise Unclear("SHOW VARIABLES", f"{_RULE}; LIKE 'max%' names some")
        _refuse_secrets([t.text for t in tokens if t.kind == "string"], dialect)


def _prints_values(texts: Sequence[str]) -> bool:
    """Return False if a query asks only for columns without values, or counts."""
    if texts[0] != "select" or "from" not in texts or "select" in texts[1:]:
        return True
    asked = " ".join(texts[1 : texts.index("from")]).replace("count ( * )", "count")
    return not _PLAIN.issuperset(asked.split())


def _names_settings(tokens: Sequence[SqlToken]) -> bool:
    """Return True if a plain condition keeps a query of one table to settings that it names."""
    return _NAMED.fullmatch(_shape(tokens)) is not None


def _shape(tokens: Sequence[SqlToken]) -> str:
    """Return a statement as words with a blank between, and `§` for each text."""
    return " ".join("§" if t.kind == "string" else t.text.lower() for t in tokens)


def _named_here(
    texts: Sequence[str], tokens: Sequence[SqlToken], dialect: str, *, whole: bool
) -> Iterator[str]:
    """Yield the settings that a query names: texts in its conditions, `current_setting('…')`."""
    server = dialect == "mysql" and any(t.kind != "string" and t.text[:1] == "@" for t in tokens)
    for at, token in enumerate(tokens):
        in_call = texts[max(at - 2, 0) : at] == ["current_setting", "("]
        if in_call and (token.kind != "string" or texts[at + 1 : at + 2] not in ([")"], [","])):
            raise Unclear(token.text, "the setting that it prints is not a literal name")
        if token.kind == "string":
            searched = at > 0 and texts[at - 1] == "~"
            if searched and whole and not token.text.replace("_", "").isalnum():
                raise Unclear(token.text, "an expression that may fit any setting")
            if whole or in_call:
                yield f"%{token.text}%" if searched else token.text
        elif server:
            yield token.text.lstrip("@")


def _refuse_secrets(named: Iterator[str] | Sequence[str], dialect: str) -> None:
    for text in named:
        if "." in text and "%" in text:
            raise Unclear(text, "settings of applications may hold passwords")
        pattern = text.lower().replace("\\_", "_").replace("%", "*").replace("_", "?")
        for secret in _SECRETS[dialect]:
            word = secret.strip("*").replace("_", "?")
            # A pattern fits names with any word, so only known names and its own words count.
            meant = word in pattern if "*" in secret else patterns_overlap(pattern, secret)
            if meant:
                raise Unclear(text, f"the setting {secret} may hold a password")


def _example(dialect: str) -> str:
    return "name = 'work_mem'" if dialect == "postgres" else "variable_name = 'max_connections'"
