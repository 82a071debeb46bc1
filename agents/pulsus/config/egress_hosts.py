"""Check the form of entries of `policy.egress_hosts`. Pure, and loaded with every setting.

If a command may connect to a place is decided in `gates/egress.py`. The allowlist of dry runs is
another setting: `host_names.py`.
"""

from __future__ import annotations

from pulsus.late_pattern import late_pattern

_NAME = r"@?[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?\.?"
_PLACE = late_pattern(
    rf"(?:\*\.)?{_NAME}(?::\d{{1,5}})?|\[[0-9A-Fa-f:.]+\](?::\d{{1,5}})?"
    r"|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*(?:/\d{1,3})?|\d{1,3}(?:\.\d{1,3}){3}/\d{1,2}"
)


def is_place(entry: str) -> bool:
    """Return True for an entry of `policy.egress_hosts`.

    It is a host, `host:port`, `*.domain`, an address or a network.
    """
    return _PLACE.fullmatch(entry) is not None and entry != ":"
