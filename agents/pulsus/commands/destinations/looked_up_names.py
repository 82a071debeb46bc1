"""Names that a program looks up in passing: in a filter, for its own address, in a port. Pure.

A DNS lookup sends the name to a name server, so it counts as a destination.

`ss dst web1` and `ping -I web1` do not connect to web1, but ask for its address.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pulsus.commands.destinations.addresses import NetworkPlace, host
from pulsus.commands.shipped_data import words_of

_WORDS: Final = Path(__file__).with_name("filter_words.yaml")

_ADDRESS: Final = re.compile(
    r"\[?(?:\d{1,3}(?:\.\d{1,3}){0,3}|(?:[0-9A-Fa-f]{0,4}:){2,}[0-9A-Fa-f:.]*)\]?(?:/\d+)?"
)
_NUMBER: Final = re.compile(r"[+-]?(?:0x[0-9a-fA-F]+|\d+(?:[-:]\d*)?)|\*")
_SEPARATORS: Final = re.compile(r"[\s()!&|=<>,{}\[\]+*/~^]+")
_PORT: Final = re.compile(r"[\w-]*|\*")
_CARD: Final = re.compile(
    r"(?:lo|any|eth|en|wl|ww|ib|br|bond|team|dummy|tun|tap|wg|ppp|veth|virbr|vmbr|docker|cni|flannel|cali"
    r"|cilium|vxlan|vlan|vnet|macvtap|ipvlan|tailscale|zt|utun|bridge|awdl|lxc|lxd|podman"
    r"|hci|usb|sit|gre|tunl|nebula|kube-ipvs|ovs|fw|fwbr|fwln|fwpr|vti|xfrm)[0-9a-f]{0,12}"
    r"(?:[opsdfnxu][0-9a-fx]{1,12}){0,5}(?:[.:@]\d{1,4})?"
)
"""Names of network cards. Another word may be the name of a host."""
_LONGEST_CARD: Final = 20


def _is_plain(text: str) -> bool:
    return not text or bool(_ADDRESS.fullmatch(text) or _NUMBER.fullmatch(text))


def _is_card(text: str) -> bool:
    return len(text) <= _LONGEST_CARD and _CARD.fullmatch(text) is not None


def _read_looked_up(text: str) -> Iterator[NetworkPlace]:
    name = text.removesuffix(".")
    if not _is_plain(name):
        yield NetworkPlace(host(name).host)


def read_filter(text: str) -> Iterator[NetworkPlace]:
    """Read an expression of tcpdump: a word that its language does not have is a name."""
    known = words_of(_WORDS)["packets"]
    for token in re.split(r"[\s()!&|=<>,+*]+", text):
        bare = token.split("[", 1)[0].strip("\"'\\]").partition("/")[0]
        if bare.lower() not in known and not _is_card(bare) and bare:
            yield from _read_looked_up(bare)


def read_display_filter(text: str) -> Iterator[NetworkPlace]:
    """Read an expression of Wireshark: an unquoted word that a field is compared to is a name."""
    known = words_of(_WORDS)["fields"]
    for token in _SEPARATORS.split(re.sub(r"\"[^\"]*\"", _name_in_quotes, text)):
        last = token.rpartition(".")[2]
        if token.lower() in known or last.lower() in known or _is_plain(token):
            continue
        if "." in token and re.fullmatch(r"[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*", token):
            first = token.partition(".")[0]
            if first in known:
                continue
        if re.fullmatch(r"[\w.-]+", token) and "." in token:
            yield from _read_looked_up(token)


def _name_in_quotes(found: re.Match[str]) -> str:
    """Return a quoted text as a word if it may be the name of a host."""
    return f" {found[0][1:-1]} " if re.fullmatch(r"\"[\w.-]+\"", found[0]) else " "


def read_source(text: str) -> Iterator[NetworkPlace]:
    """Read a card, or an address of this machine, that a program sends from. Another word is
    looked up."""
    for part in text.split("!"):
        if part not in {"if", "host", "ifhost"} and not _is_card(part):
            yield from _read_looked_up(part.partition("%")[0])


def read_socket_filter(text: str) -> Iterator[NetworkPlace]:
    """Read a word of ss: `dst web1:443`."""
    known = words_of(_WORDS)["sockets"]
    for token in re.split(r"[\s()!&|=<>,]+", text.rpartition("@")[2]):
        if token.lower() in known or token[:1] in {":", "/", "*", "["} or _is_plain(token):
            continue
        name, colon, port = token.rpartition(":")
        name = name if colon and _PORT.fullmatch(port) else token
        name = name.rpartition(":")[2] if name.startswith(("inet:", "inet6:")) else name
        if name.partition(":")[0] not in {"unix", "link", "netlink", "vsock", "packet"}:
            yield from _read_looked_up(name)


def read_socket_address(text: str) -> Iterator[NetworkPlace]:
    """Read a word of lsof: `tcp@web1:80` with -i, or a file."""
    if "@" in text and "/" not in text:
        yield from read_socket_filter(text)


def read_remote_port(text: str) -> Iterator[NetworkPlace]:
    """Read a port of fuser: `LOCAL,HOST,REMOTE/tcp`. A file has no comma that counts."""
    bare = re.sub(r"/(?:tcp|udp)$", "", text)
    if "," in bare and "/" not in bare:
        yield from _read_looked_up(bare.split(",")[1])
