"""Hosts within an address that is fetched: a proxy or prober connects to them for the caller. Pure.

This finds requests that use a proxy to reach another host (SSRF).

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
_TARGETS: Final = frozenset(
    {
        *("target", "host", "hostname", "url", "uri", "dest", "destination", "addr", "address"),
        *("server", "proxy", "upstream", "remote", "endpoint", "domain", "dns", "site", "origin"),
    }
)
"""Names of values that say where a service connects to, also without a dot in the name."""
_PROXIES: Final = frozenset({"1080", "3128", "3129", "3142", "8118"})
"""Ports of proxies that take the host from the path."""
_PORT: Final = re.compile(r":(\d+)$")
_HEADER: Final = re.compile(r"(?i)(?:[\w-]*host|forwarded)\s*:\s*(?:.*\bhost=)?\"?([^\s;,\"]+)")


def relayed_hosts(address: str) -> Iterator[NetworkPlace | None]:
    """Yield each place that the path or query of an address names, and None for an unknown one."""
    name, is_item, value = address.partition("==")
    if is_item and "/" not in name:  # an item of HTTPie
        yield from _places_of_pair(name, unquote(value))
        return
    authority = address[: _AUTHORITY.match(address).end()]  # type: ignore[union-attr]
    behind = unquote(unquote(address[len(authority) :]))
    yield from _addresses_in(behind)
    path, _, query = behind.partition("?")
    first = path.strip("/").partition("/")[0]
    port = _PORT.search(authority)
    if first and (
        (port and port[1] in _PROXIES and "/" in path.strip("/")) or _is_host_like(first)
    ):
        yield _place(first)
    for pair in re.split(r"[&;]", query):
        name, _, value = pair.rpartition("=")
        yield from _places_of_pair(name, value)


def hosts_in_header(header: str) -> Iterator[NetworkPlace | None]:
    """Yield the places that a header or a cookie of a request names."""
    yield from _addresses_in(unquote(header))
    found = _HEADER.match(header.strip())
    if found:
        yield _place(found[1])


def _addresses_in(text: str) -> Iterator[NetworkPlace | None]:
    yield from (_place(found[1]) for found in _WITHIN.finditer(text))


def _places_of_pair(name: str, value: str) -> Iterator[NetworkPlace | None]:
    named = name.rpartition("&")[2].casefold() in _TARGETS
    if value and "://" not in value and (named or _is_host_like(value)):
        yield _place(value.partition("/")[0])


def _is_host_like(text: str) -> bool:
    found = _NAMED.fullmatch(text)
    return found is not None and (found["ending"] or "").lower() not in _FILES


def _place(text: str) -> NetworkPlace | None:
    try:
        return host(text)
    except UnknownPlace:
        return None
