"""`connects`: which words of a call name the places that a program connects to.

Hosts are read by it in `commands/destinations/named_destinations.py`; which hosts are allowed is
decided in `gates/egress.py`.

A declaration is a line of tokens: `-h,--host=host` (a value of these options is a host),
`0=url` (the first operand), `1+=host` (the second and all behind it), `last=host`,
`else=local` (nothing else named a place), `also=dynamic`, `port=5432` (without a word that names
a port), `-p,--port=port` and `1+=port` (words that do, for all places but those on the way),
`quiet=-V,--version` (options with which nothing is connected to), `unless=-n` (options with which
no `else` and no `also` counts), `none`. Behind a colon stand
subcommands or operands that a token is for: `0=git:ls-remote|fetch`. Behind `else` and `also`
options stand there too: `else=index:search|--outdated`. An `account` is a name that is asked of the
directory that this machine is set to (LDAP, sssd), if its files do not have it.
"""

from __future__ import annotations

import re
from typing import Final

from pulsus.commands.program_tables.yaml_values import BadTable, nearest
from pulsus.fast_dataclass import dataclass

LOCAL: Final = "localhost"
CONFIGURED: Final = "@configured"
"""The place that the client's own configuration names, not a word of the command."""

PLACES: Final = frozenset(
    {
        *("host", "hosts", "name", "url", "urls", "maybe", "colon", "dig", "lookup", "postgres"),
        *("mongo", "git", "image", "docker", "ldap", "rsync", "mssql", "oracle", "finger", "smb"),
        *("socket", "sockaddr", "context", "dynamic", "resolve", "connect", "relay", "cloud"),
        *("pattern", "inside", "forge", "module", "httpie", "remote", "qemu", "restic", "snmp"),
        *("libvirt", "display", "browse", "node", "ovs", "zone", "gateway"),
        *(
            "inet",
            "account",
            "filter",
            "display_filter",
            "source",
            "socket_filter",
            "remote_port",
            "moved",
            "socket_address",
        ),
    }
)
"""The ways in which a word names a place; `destinations/named_destinations.py` reads each."""
PORTS: Final = frozenset({"port", "setting"})
"""The ways in which a word names a port: alone, or as a setting of ssh (`-o Port=22`)."""
ON_THE_WAY: Final = frozenset({"gateway", "relay", "resolve", "connect"})
"""Places with a port of their own: an option for the port is not about them."""


@dataclass(frozen=True, slots=True)
class DestinationSource:
    """Words that name places: values of `options`, or operands from `first` to `last`."""

    place: str
    options: frozenset[str] = frozenset()
    first: int = 0
    last: int = -1
    when: frozenset[str] = frozenset()
    """A `last` below `first` means no operand. In both, -1 is the last operand of a call."""


@dataclass(frozen=True, slots=True)
class Connects:
    """The places that a program connects to. `otherwise` and `also` are places that no word
    names, each with the subcommands or operands that it is for (none: all)."""

    sources: tuple[DestinationSource, ...] = ()
    otherwise: tuple[tuple[str, frozenset[str]], ...] = ()
    also: tuple[tuple[str, frozenset[str]], ...] = ()
    quiet: frozenset[str] = frozenset()
    unless: frozenset[str] = frozenset()
    port: int | None = None
    ports: tuple[DestinationSource, ...] = ()


ALL: Final = 1 << 30
_OPERAND: Final = re.compile(r"(?P<at>\d+)(?P<on>\+?)")
INDEX: Final = "@index"
"""The public index that the client is set to. Words that another program feeds do not go there."""
_IMPLICIT: Final = {"local": LOCAL, "configured": CONFIGURED, "index": INDEX, "dynamic": ""}


def connects(text: str, name: str) -> Connects | None:
    """Return the declaration that `text` is; None for `none`. Raises BadTable."""
    if text.strip() == "none":
        return None
    sources: list[DestinationSource] = []
    implicit: dict[str, list[tuple[str, frozenset[str]]]] = {"else": [], "also": []}
    named = {"quiet": "", "port": "", "unless": ""}
    for token in text.split():
        key, equals, place = token.rpartition("=")
        if not equals or not key:
            raise BadTable(f"{name}: connects: {token!r} is not WORDS=KIND, as -h,--host=host")
        place, _, listed = place.partition(":")
        when = frozenset(filter(None, listed.split("|")))
        if key in implicit:
            implicit[key].append((_IMPLICIT.get(place, place), when))
        elif key in named:
            named[key] = place
        else:
            sources.append(_parse_source(key, place, when, name))
    places = tuple(each for each in sources if each.place not in PORTS)
    if not places and not any(implicit.values()):
        raise BadTable(f"{name}: connects names no place; write none for a local program")
    port = named["port"]
    if port and not port.isdigit():
        raise BadTable(f"{name}: connects: port {port!r} is no number")
    return Connects(
        sources=places,
        otherwise=tuple(implicit["else"]),
        also=tuple(implicit["also"]),
        quiet=frozenset(filter(None, named["quiet"].split(","))),
        unless=frozenset(filter(None, named["unless"].split(","))),
        port=int(port) if port else None,
        ports=tuple(each for each in sources if each.place in PORTS),
    )


def _parse_source(key: str, place: str, when: frozenset[str], name: str) -> DestinationSource:
    if place not in PLACES | PORTS:
        raise BadTable(f"{name}: connects: kind {place!r}: {nearest(place, PLACES | PORTS)}")
    if key == "last":
        return DestinationSource(place, first=-1, last=-1, when=when)
    found = _OPERAND.fullmatch(key)
    if found:
        first = int(found["at"])
        return DestinationSource(place, first=first, last=ALL if found["on"] else first, when=when)
    options = key.split(",")
    wrong = next((each for each in options if each[:1] not in {"-", "+"}), None)
    if wrong is not None:
        raise BadTable(f"{name}: connects: {wrong!r} is neither an option nor an operand's place")
    return DestinationSource(place, options=frozenset(options), first=0, last=-1, when=when)
