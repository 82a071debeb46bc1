"""Hosts within an address that is fetched: a proxy or prober connects to them for the caller. Pure.

`http://localhost:9115/probe?target=example.org` asks this machine to connect to example.org, and so
may `http://localhost:3142/example.org/x` and a header `Host: example.org`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

from pulsus.commands.destinations.addresses import NetworkPlace, UnknownPlace, host

_AUTHORITY: Final = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*://)?[^/?#]*")
_WITHIN: Final = re.compile(r"(?i)(?:[a-z][a-z0-9+.-]{1,12}:/{1,3}|https?/{3})([^\s/?#&,;'\"]+)")
_NAMED: Final = re.compile(
    r"(?:[A-Za-z0-9_-]+\.)+(?P<ending>[A-Za-z]{2,24})\.?(?::\d{1,5})?|(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?"
)
_FILES: Final = frozenset(
    {
        *("html", "htm", "js", "mjs", "css", "json", "jsonl", "xml", "txt", "csv", "tsv", "yaml"),
        *("yml", "toml", "ico", "png", "jpg", "jpeg", "gif", "svg", "webp", "php", "jsp", "asp"),
        *("aspx", "cgi", "log", "gz", "zip", "tar", "tgz", "md", "pdf", "map", "wasm", "proto"),
        *(
            "conf",
            "ini",
            "pem",
            "crt",
            "deb",
            "rpm",
            "iso",
            "xz",
            "bz2",
            "sig",
            "asc",
            "atom",
            "rss",
        ),
    }
)
"""Endings of files, which are no top-level domains that a proxy is asked for."""
_HEADER: Final = re.compile(r"(?i)\s*(?:x-forwarded-)?host\s*:\s*(\S+)\s*")


def relayed_hosts(address: str) -> Iterator[NetworkPlace | None]:
    """Yield each place that the path or query of an address names, and None for an unknown one."""
    behind = unquote(unquote(address[_AUTHORITY.match(address).end() :]))  # type: ignore[union-attr]
    yield from (_place(found[1]) for found in _WITHIN.finditer(behind))
    path, _, query = behind.partition("?")
    texts = [path.strip("/").partition("/")[0]]
    texts += [pair.rpartition("=")[2] for pair in re.split(r"[&;]", query)]
    for text in texts:
        named = _NAMED.fullmatch(text)
        if named and (named["ending"] or "").lower() not in _FILES:
            yield _place(text)


def host_of_header(header: str) -> Iterator[NetworkPlace | None]:
    """Yield the place that a header of a request names as its host."""
    found = _HEADER.fullmatch(header)
    if found:
        yield _place(found[1])


def _place(text: str) -> NetworkPlace | None:
    try:
        return host(text)
    except UnknownPlace:
        return None
