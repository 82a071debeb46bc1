"""The hosts in the connection strings (DSN) of databases, as their clients read them.

Each reader gives the places of a word, none where the word names no place. It raises UnknownPlace
if the word may name several.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pulsus.commands.destinations.addresses import NetworkPlace, UnknownPlace, has_scheme, host, url
from pulsus.commands.program_tables.connects_declaration import CONFIGURED, LOCAL

_SETTING: Final = re.compile(r"\s*(\w+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|(\S*))\s*")


def read_postgres(text: str) -> Iterator[NetworkPlace]:
    """Read a URL, or settings such as `host=db1 dbname=shop`."""
    if has_scheme(text):
        yield from _read_postgres_url(text)
    elif "=" in text:
        yield from _read_postgres_settings(text)


def _read_postgres_url(text: str) -> Iterator[NetworkPlace]:
    rest = text.partition("://")[2]
    authority, _, query = rest.partition("?")
    authority = authority.partition("/")[0].rpartition("@")[2]
    if re.search(r"(?i)(?:^|&)(?:service|%)", query):
        raise UnknownPlace(text)
    named = re.findall(r"(?i)(?:^|&)(?:hostaddr|host)=([^&]*)", query)
    for each in [
        *filter(None, authority.split(",")),
        *(h for one in named for h in one.split(",")),
    ]:
        yield from read_socket_or_host(each)


def read_postgres_ports(text: str) -> Iterator[str]:
    """Yield the ports that a connection string names apart from its hosts."""
    if has_scheme(text):
        query = text.partition("?")[2]
        named = re.findall(r"(?i)(?:^|&)port=([^&]*)", query)
    else:
        named = [f[2] or f[3] or "" for f in _SETTING.finditer(text) if f[1].lower() == "port"]
    for one in named:
        yield from one.split(",")


def _read_postgres_settings(text: str) -> Iterator[NetworkPlace]:
    at = 0
    while at < len(text):
        found = _SETTING.match(text, at)
        if found is None or "\\" in found[0]:
            raise UnknownPlace(text)
        name, value = found[1].lower(), found[2] if found[2] is not None else found[3]
        if name == "service":
            raise UnknownPlace(text)
        if name in {"host", "hostaddr"}:
            for each in value.split(","):
                yield from read_socket_or_host(each)
        at = found.end()


def read_socket_or_host(text: str) -> Iterator[NetworkPlace]:
    """Read a host, or the folder of a socket of this machine."""
    if not text or text[:1] in {"/", "@"} or text.lower().startswith("%2f"):
        yield NetworkPlace(LOCAL)
    else:
        yield host(text)


def read_mongo(text: str) -> Iterator[NetworkPlace]:
    """Read a URL, `host/database`, or a database of the default server."""
    if not has_scheme(text) and "/" not in text and "." not in text and ":" not in text:
        return  # a database of the default server
    rest = text.partition("://")[2] or text
    authority = re.split(r"[/?]", rest, maxsplit=1)[0].rpartition("@")[2]
    for each in authority.split(","):
        yield host(each)


def read_mssql(text: str) -> Iterator[NetworkPlace]:
    r"""Read a server such as `tcp:db1,1433` or `db1\instance`."""
    bare = re.sub(r"(?i)^(tcp|admin|lpc|np):", "", text).partition("\\")[0]
    name, _, port = bare.partition(",")
    yield (
        NetworkPlace(LOCAL)
        if name in {"", ".", "(local)"}
        else host(f"{name}:{port}" if port else name)
    )


def read_oracle(text: str) -> Iterator[NetworkPlace]:
    """Read `user@host/service`; a plain name is one of the client's own configuration."""
    behind = text.rpartition("@")[2]
    if "@" not in text or not behind:
        return
    if "(" in behind:
        raise UnknownPlace(text)
    yield (
        url(behind.removeprefix("//")) if re.search(r"[/:.]", behind) else NetworkPlace(CONFIGURED)
    )
