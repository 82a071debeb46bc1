"""Commands that a database's own client understands beside SQL: those that read.

Exact spellings with plain arguments. Backticks, pipes and a second command are refused.

Settings with passwords (`dconfig` of psql) are refused in `printed_settings.py`.
"""

from __future__ import annotations

import re
from typing import Final

from pulsus.commands.content_inspector import Opinion, Unclear
from pulsus.commands.inspectors.sql.printed_settings import check_setting_pattern
from pulsus.commands.inspectors.sql.split_statements import WORDS
from pulsus.commands.inspectors.sql.syntax_tree import Endless

_PSQL: Final = re.compile(
    r"\\(?:d|d[aAbcCdDfFgilLmnoOpPtTuvxXyEs]|df[anptw]|d[tvmsiE]{2,5}|dA[cfop]|dF[dpt]|ddp|"
    r"de[stuw]|dconfig|drds|drg|dP[itn]|dR[ps]|l|lo_list|list|z|zS|s[fv]|conninfo|encoding|copyright|"
    r"errverbose|h|help|\?|dl|set|pset|x|timing|a|t)(?:(?<=\w)[Sx+]{0,3})(?: +[^`\\|;:\n]*)?"
)
_SETTINGS: Final = re.compile(r"\\dconfig[Sx+]{0,3}(?: +(?P<pattern>.*))?")
_COCKROACH: Final = re.compile(r"\\(?:d|dt|du|dd|df|l|h|\?|set|show)(?: +[\w.]+)?")
_SETS: Final = re.compile(r"\\(?:set|pset|encoding|conninfo)\s+\S")

_SQLITE: Final = WORDS["sqlite_shell"]
_SQLITE_ALONE: Final = frozenset({"dbconfig", "limit", "connection", "quit", "exit"})
_DUCKDB: Final = WORDS["duckdb_shell"]
_DOT: Final = re.compile(r"\.(?P<name>\w+)(?P<rest>(?: +[^\n`;|]*)?)")

_MYSQL: Final = re.compile(r"(?:status|\\s|help(?: [\w ]+)?|\\h|\?)\s*;?", re.IGNORECASE)


def client_command(text: str, client: str) -> bool:
    """Return True if `text` is a command of the `client` that reads; False for what is SQL.

    Raises Unclear for a command that is not known to read, Endless for one that repeats.
    """
    text = text.strip()
    if client == "mysql":
        return _MYSQL.fullmatch(text) is not None
    if client in {"postgres", "cockroach"} and text.startswith("\\"):
        _check_backslash_command(text, client)
        return True
    if client in {"sqlite", "duckdb"} and text.startswith("."):
        _check_dot_command(text, _SQLITE if client == "sqlite" else _DUCKDB)
        return True
    return False


def _check_backslash_command(text: str, client: str) -> None:
    if re.match(r"\\watch\b", text):
        raise Endless(text[:40], "it repeats for ever")
    if settings := _SETTINGS.fullmatch(text):
        check_setting_pattern(settings["pattern"] or "*")
    known = _PSQL if client == "postgres" else _COCKROACH
    if not known.fullmatch(text) or _SETS.match(text):
        raise Unclear(text[:40], "not a command of this client that is known to read")


def _check_dot_command(text: str, known: frozenset[str]) -> None:
    found = _DOT.fullmatch(text)
    name = found["name"] if found else ""
    alone = found is not None and name in _SQLITE_ALONE and not found["rest"].strip()
    if name not in known and not alone:
        raise Unclear(text[:40], "not a command of this shell that is known to read")


_KEYS: Final = (
    "(?:host|hostaddr|port|user|dbname|password|sslmode|connect_timeout|application_name|"
    "client_encoding|target_session_attrs|gssencmode|channel_binding)"
)
_NAME: Final = re.compile(r"(?!-)[^=:]*")
_ADDRESS: Final = re.compile(
    rf"postgres(?:ql)?://[^?]*(?:\?(?:{_KEYS}=[^&%]*)(?:&{_KEYS}=[^&%]*)*)?"
)
_PAIRS: Final = re.compile(rf"(?:\s*{_KEYS}\s*=\s*(?:'[^'\\]*'|[^\s'\\]*)(?=\s|\Z))+\s*")


def postgres(words: tuple[str, ...], argument: str) -> Opinion:
    """Judge `words`: each is a name, an address or `key=value` pairs that only connect."""
    for word in words:
        if not any(way.fullmatch(word) for way in (_NAME, _ADDRESS, _PAIRS)):
            rule = "a connection with more than a place, a user and a database"
            return Opinion(False, rule, word[:40])
    return Opinion(True, "it names a database", words[0][:40])
