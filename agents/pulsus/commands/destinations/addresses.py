"""Hosts and ports inside a word. Pure.

IP addresses, IPv6 in brackets, ports and URLs are parsed here. An ambiguous spelling counts as
unknown.

Programs differ on what an address means: on backslashes, on `#` before `@`, on numbers with leading
zeros. A text that they may read in two ways raises UnknownPlace, never the likelier of the two.

The kinds of words that name hosts are in `named_destinations.py`.
"""

from __future__ import annotations

import re
from typing import Final

from pulsus.fast_dataclass import dataclass


class UnknownPlace(ValueError):
    """The place that a word names cannot be told."""


@dataclass(frozen=True, slots=True)
class NetworkPlace:
    """A host name or address as it was written, without brackets and user; and its port."""

    host: str
    port: int | None = None


_NAME: Final = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_.])?")
_SIX: Final = re.compile(r"[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*(?:%[A-Za-z0-9_.-]+)?")
_BRACKETED: Final = re.compile(r"\[(?P<host>[^\]]*)\](?::(?P<port>\d*))?")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_ENDS: Final = re.compile(r"[/?#]")


def host(text: str) -> NetworkPlace:
    """Read `host`, `host:port`, `user@host`, `[::1]:port` or `::1`. Raises UnknownPlace."""
    bare = _strip_user(text)
    found = _BRACKETED.fullmatch(bare)
    if found:
        if not _SIX.fullmatch(found["host"]):
            raise UnknownPlace(text)
        return NetworkPlace(found["host"], _parse_port(found["port"], text))
    if bare.count(":") > 1:
        if not _SIX.fullmatch(bare):
            raise UnknownPlace(text)
        return NetworkPlace(bare)
    name, _, port = bare.partition(":")
    if not _is_host_name(name):
        raise UnknownPlace(text)
    return NetworkPlace(name, _parse_port(port, text))


def _is_host_name(name: str) -> bool:
    """Return True if `name` is a host name: of ASCII, or of other letters that IDNA may write."""
    if _NAME.fullmatch(name):
        return ".." not in name
    return not name.isascii() and all(c.isalnum() or c in ".-" for c in name)


def _strip_user(text: str) -> str:
    """Return the text behind the last `@`. Raises UnknownPlace if the user part holds a sign that
    ends an address."""
    user, at, bare = text.rpartition("@")
    if at and re.search(r"[/?#\\\s@\[\]]", user):
        raise UnknownPlace(text)
    return bare


def _parse_port(text: str | None, whole: str) -> int | None:
    if not text:
        return None
    if not text.isdigit() or not text.isascii() or len(text) > 5:
        raise UnknownPlace(whole)
    return int(text)


def url(text: str) -> NetworkPlace:
    """Return the host of an address, with its scheme or without. Raises UnknownPlace."""
    if re.search(r"[\\\s\x00-\x1f\x7f]", text):
        raise UnknownPlace(text)
    scheme = _SCHEME.match(text)
    rest = text[scheme.end() :] if scheme else text
    authority = _ENDS.split(rest, maxsplit=1)[0]
    behind = rest[len(authority) :]
    # `http://known#@evil`: not every program ends the address at the same sign.
    if "@" in behind and behind[:1] in {"?", "#"}:
        raise UnknownPlace(text)
    # `http:/evil` and `http:evil`: curl takes one slash for two.
    if not authority or (not scheme and re.match(r"[A-Za-z][A-Za-z0-9+.-]*:/", text)):
        raise UnknownPlace(text)
    if re.search(r"%|[{}]", authority) and not authority.startswith("["):
        raise UnknownPlace(text)
    if authority.count(":") > 1 and "[" not in authority and "@" not in authority:
        raise UnknownPlace(text)
    return host(authority)


def has_scheme(text: str) -> bool:
    """Return True if the text begins with `scheme://`."""
    return _SCHEME.match(text) is not None
