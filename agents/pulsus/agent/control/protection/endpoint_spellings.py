"""Read hosts and ports out of words, in every spelling that a program may take. Pure.

`http://localhost:80`, `[::1]:80`, `-p8080`, `0x7f.1` and `127.0.0.1.nip.io` all name this machine.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from ipaddress import IPv4Address, IPv6Address
from typing import Final
from urllib.parse import unquote, urlsplit

from pulsus.agent.control.protection.processes.own_process import TOKENS
from pulsus.gates.egress import parse_address

_DEFAULT_PORTS: Final = {"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21, "ssh": 22}
_RANGE: Final = re.compile(r"(\d{0,5})-(\d{0,5})")
_ALL_PORTS: Final = range(65536)
_SIX: Final = re.compile(r"[0-9A-Fa-f]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*(?:%[\w.-]+)?")
_BRACKETS: Final = re.compile(r"\[([^\]]*)\]")
_PARTS: Final = re.compile(r"[/@?#]")
_PIECES: Final = re.compile(r"[/@?#:]")
_CLUSTER: Final = 8
"""Letters of options in one word, before a value that is glued to the last."""
_FOUR_NUMBERS: Final = re.compile(r"(?:^|[.-])(\d{1,3}(?:[.-]\d{1,3}){3})(?=[.-]|$)")
_EIGHT_DIGITS: Final = re.compile(r"(?:^|[.-])([0-9a-f]{8})(?=[.-]|$)")
_GLOB: Final = re.compile(r"\[(\w+)-(\w+)(:\d+)?\]|\{([^{}]*)\}")
_PATH_SIGNS: Final = re.compile(r"[/?#]")
_NO_ADDRESS: Final = re.compile(r"[\s\"']")
_MOST_SPELLINGS: Final = 2000
_FEW: Final = 256
Endpoint = tuple[str, range]
"""A host and its ports: without a host "", without a port an empty range."""
_NO_PORT: Final = range(0)
_TRANSLATED: Final = 0x64FF9B << 64
"""The network `64:ff9b::/96` without its last 32 bits."""
_IPAddress = IPv4Address | IPv6Address


def command_tokens(texts: Iterable[str]) -> Iterator[str]:
    """Yield the pieces of words of a command, and values that are glued to their option."""
    for text in texts:
        yield from TOKENS.split(text)
        yield from _glued_values(text)


def _glued_values(text: str) -> Iterator[str]:
    """Yield what may be the value of the last option of `-hlocalhost`, `-4p22`."""
    if text[:1] != "-" or text[:2] == "--":
        return
    for at in range(2, min(len(text), _CLUSTER + 2)):
        if not text[1 : at - 1].isalnum() and at > 2:
            return
        if not (text[at].isdigit() and text[at - 1].isdigit() and at > 2):
            yield text[at:]


def url_spellings(text: str) -> Iterator[str]:
    """Yield a text as a client of URLs may read it: without line ends, and with `%31` as `1`."""
    yield text
    yield unquote(re.sub(r"[\t\r\n]", "", text))


def glob_spellings(text: str, ports: Collection[int]) -> Iterator[str]:
    """Yield what curl makes of `[1-9]` and `{a,b}` in the address of a URL, with the choices that
    may matter: all of a few, else the ends and `ports`. Too many count as this machine."""
    begin = text.find("://") + 3 if "://" in text else 0
    address = _PATH_SIGNS.split(text[begin:], maxsplit=1)[0].rpartition("@")[2]
    if _GLOB.search(address) is None or _NO_ADDRESS.search(address):
        return
    waiting, left = [text[:begin] + address], _MOST_SPELLINGS
    while waiting and left:
        left -= 1
        one = waiting.pop()
        found = _GLOB.search(one)
        if found is None:
            yield one
            continue
        choices = found[4].split(",") if found[4] is not None else _choices(found, ports)
        waiting += [one[: found.start()] + each + one[found.end() :] for each in choices]
    if waiting:
        yield from (f"http://localhost:{port}/" for port in ports)


def _choices(found: re.Match[str], ports: Collection[int]) -> Iterator[str]:
    first, last = found[1], found[2]
    if first.isdecimal() and last.isdecimal():
        span = range(int(first), int(last) + 1)
        few = span if len(span) <= _FEW else (n for n in (span[0], span[-1], *ports) if n in span)
        yield from (str(each).zfill(len(first)) for each in few)
    elif len(first) == len(last) == 1:
        yield from map(chr, range(ord(first), ord(last) + 1))


def addresses_of(name: str) -> Iterator[_IPAddress]:
    """Yield the addresses that a host stands for without a lookup: its own, and what it carries."""
    found = parse_address(_usual_address(name) or name)
    yield from _carried_addresses(found) if found else _named_addresses(name)


def _carried_addresses(address: _IPAddress) -> Iterator[_IPAddress]:
    """Yield an address, and the IPv4 address that it carries in one of the known ways."""
    yield address
    if not isinstance(address, IPv6Address):
        return
    if address.ipv4_mapped or address.sixtofour:
        yield from filter(None, (address.ipv4_mapped, address.sixtofour))
    high, low = divmod(int(address), 1 << 32)
    # `::127.0.0.1` of old, `::ffff:0:127.0.0.1`, and the addresses of translators.
    if high in {0, 0xFFFF << 32, _TRANSLATED} and low > 1:
        yield IPv4Address(low)


def _named_addresses(name: str) -> Iterator[_IPAddress]:
    """Yield the addresses that a name has in it: `127.0.0.1.nip.io`, `app-7f000001.nip.io`.

    Name servers of several public domains answer such a name with that address.
    """
    for found in _FOUR_NUMBERS.finditer(name):
        address = parse_address(found[1].replace("-", "."))
        if address is not None:
            yield address
    for found in _EIGHT_DIGITS.finditer(name):
        yield IPv4Address(int(found[1], 16))


def _usual_address(name: str) -> str:
    """Return an IPv4 address as four decimal numbers, or an empty text.

    The C library also takes `127.1`, `0x7f000001`, `0177.0.0.1` and `2130706433`.
    """
    try:
        numbers = [_parse_number(part) for part in name.split(".")]
    except ValueError:
        return ""
    *first, last = numbers
    rest = 4 - len(first)
    if not 1 <= rest <= 4 or any(each > 255 for each in first) or last >= 256**rest:
        return ""
    return ".".join(map(str, [*first, *last.to_bytes(rest, "big")]))


def _parse_number(text: str) -> int:
    if not text.isascii() or not text[:1].isdigit():
        raise ValueError(text)
    if text[:2].casefold() == "0x":
        return int(text[2:] or "0", 16)
    return int(text, 8) if len(text) > 1 and text[0] == "0" else int(text, 10)


def parse_endpoints(tokens: Iterable[str], *, ranges: bool = False) -> list[Endpoint]:
    """Return the hosts and ports that tokens name, together or apart."""
    return [each for token in tokens for each in _parse_endpoint(token, ranges=ranges)]


def _parse_endpoint(token: str, *, ranges: bool) -> Iterator[Endpoint]:
    """Yield hosts and ports that a token may name: a URL, `host:port`, a host, a port."""
    if "://" in token:
        try:
            parts = urlsplit(token)
            port = parts.port or _DEFAULT_PORTS.get(parts.scheme, 0)
            yield parts.hostname or "", range(port, port + 1)
        except ValueError:
            pass  # `http://::1:80`, `http://a:8_0`: some clients read it, piece by piece
        token = token.partition("://")[2]
    bare = token
    if "[" in token:
        for host in _BRACKETS.findall(token):
            yield host, _NO_PORT
        bare = _BRACKETS.sub("", token)
    yield from _addresses_in(bare)
    for piece in _PIECES.split(bare):
        number = piece.replace("_", "").removeprefix("+").lstrip("0")
        span = _RANGE.fullmatch(piece) if ranges and piece != "--" else None
        # A number of few digits is a port, a longer one may be an address.
        if number.isdecimal() and len(number) <= 5:
            yield "", range(int(number), int(number) + 1)
        elif span is not None and token[:2] != "--":
            ends = int(span[1] or 0), int(span[2]) if span[2] else _ALL_PORTS[-1]
            yield "", range(min(ends), max(ends) + 1)
        else:
            yield piece, _NO_PORT


def _addresses_in(text: str) -> Iterator[Endpoint]:
    """Yield the IPv6 addresses of a text. `::1:8765` is one, and to other programs one with a
    port."""
    if ":" not in text:
        return
    for piece in _PARTS.split(text):
        for six in (piece, piece.rpartition(":")[0]):
            if _SIX.fullmatch(six):
                yield six, _NO_PORT
