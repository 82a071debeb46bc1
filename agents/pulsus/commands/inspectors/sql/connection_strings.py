"""Does this name a PostgreSQL database and no more (libpq connection strings)?

A connection string may also hold server settings (`options`), files and keys, a service file.
"""

from __future__ import annotations

import re
from typing import Final

from pulsus.commands.content import Opinion

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
    """Whether each of `words` is a name, an address or `key=value` pairs that only connect."""
    for word in words:
        if not any(way.fullmatch(word) for way in (_NAME, _ADDRESS, _PAIRS)):
            rule = "a connection with more than host, user, database and the like"
            return Opinion(False, rule, word[:40])
    return Opinion(True, "it names a database", words[0][:40])
