"""Entries of `policy.egress_hosts`. Pure."""

from __future__ import annotations

import re
from typing import Final

_NAME: Final = r"@?[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?\.?"
_PLACE: Final = re.compile(
    rf"(?:\*\.)?{_NAME}(?::\d{{1,5}})?|\[[0-9A-Fa-f:.]+\](?::\d{{1,5}})?"
    r"|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*(?:/\d{1,3})?|\d{1,3}(?:\.\d{1,3}){3}/\d{1,2}"
)


def is_place(entry: str) -> bool:
    """Return True for a host, `host:port`, `*.domain`, an address or a network."""
    return _PLACE.fullmatch(entry) is not None and entry != ":"
