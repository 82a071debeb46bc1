"""Lets Python's sockets reach the allowed hosts, and no others, through the relay (spec §17).

The allowlist itself is decided in `routing/delivery/network_allowlist.py`, and applied outside in
`core/sandbox/network_relay.py`.

Runs inside the sandbox, only where settings allow a host. The sandbox keeps its empty network: a
connection to an allowed host becomes a Unix one to the relay outside, put under the same number as
the socket that the candidate connects. The relay decides; here is only what makes it fit.
"""

from __future__ import annotations

import posix  # what `os` wraps, without its start-up
import sys

from pulsus.core.sandbox.harness.audit_hook import to_numeric_address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

SOCKET = "/run/pulsus/network"
PATIENCE = 30.0
"""Seconds to wait for a connection if the candidate sets no timeout."""

_PLACEHOLDERS = "198.18.0."  # reserved for network tests (RFC 2544): no host answers there
_MOST_NAMES = 254
_TEXT_BYTES = 500


class AllowedHosts:
    """The allowed hosts: `names` have a placeholder each, addresses stand for themselves."""

    def __init__(self, allowed: list[str]) -> None:
        self._targets: set[tuple[str, int]] = set()
        self._names: dict[str, str] = {}
        for entry in allowed:
            host, _, port = entry.rpartition(":")
            host = host.strip("[]")
            self._targets.add((host, int(port)))
            if ":" not in host and not host.rpartition(".")[2].isdigit():
                number = len(self._names) % _MOST_NAMES + 1
                self._names.setdefault(host, f"{_PLACEHOLDERS}{number}")
        self._places = {place: name for name, place in self._names.items()}

    def named(self, host: object) -> tuple[str, str] | None:
        """Return (name, placeholder) if `host` is a name with an allowed port, in any spelling."""
        name = _canonical_name(host)
        place = self._names.get(name)
        return (name, place) if place else None

    def target(self, address: object) -> tuple[str, int] | None:
        """Return the target to ask the relay for, or None if the relay does not serve it."""
        if not (isinstance(address, tuple) and len(address) >= 2 and type(address[1]) is int):
            return None
        host = _canonical_name(address[0])
        host = self._places.get(host, host)
        known = host in self._names or (host, address[1]) in self._targets
        return (host, address[1]) if known else None


def install(allowed: list[str]) -> None:
    """Route connections to the allowed hosts through the relay from now on."""
    import socket

    hosts = AllowedHosts(allowed)
    peers: dict[int, Any] = {}
    _patch_connecting(socket, hosts, peers)
    _patch_socket_queries(socket, peers)
    _patch_name_lookups(socket, hosts)


def _patch_connecting(socket: Any, hosts: AllowedHosts, peers: dict[int, Any]) -> None:
    kind = socket.socket
    plain_connect, plain_connect_ex = kind.connect, kind.connect_ex
    families = (socket.AF_INET, socket.AF_INET6)

    def connect(self: Any, address: object, /) -> None:
        target = hosts.target(address)
        if target is None or self.family not in families or self.type != socket.SOCK_STREAM:
            plain_connect(self, address)
            return
        sys.audit("socket.connect", self, target)
        link = _open_relay_connection(socket, target, self.gettimeout())
        with link:
            peers[posix.fstat(link.fileno()).st_ino] = _format_peer(
                self.family == families[0], address
            )
            posix.dup2(link.fileno(), self.fileno(), inheritable=False)
        posix.set_blocking(self.fileno(), self.gettimeout() is None)

    def connect_ex(self: Any, address: object, /) -> int:
        if hosts.target(address) is None:
            code: int = plain_connect_ex(self, address)
            return code
        try:
            connect(self, address)
        except OSError as error:
            return error.errno or 5
        return 0

    kind.connect, kind.connect_ex = connect, connect_ex


def _patch_socket_queries(socket: Any, peers: dict[int, Any]) -> None:
    """Make a relayed socket answer like a TCP socket. Its TCP options have no effect."""
    kind = socket.socket
    levels = (socket.IPPROTO_TCP, socket.IPPROTO_IP, socket.IPPROTO_IPV6)

    def peer_of(self: Any) -> Any:
        fd = self.fileno()
        return peers.get(posix.fstat(fd).st_ino) if fd >= 0 and peers else None

    def patch_query(name: str, answer: Callable[[Any], object]) -> None:
        plain = getattr(kind, name)

        def method(self: Any, /) -> object:
            peer = peer_of(self)
            return plain(self) if peer is None else answer(peer)

        setattr(kind, name, method)

    def patch_option(name: str, answer: object) -> None:
        plain = getattr(kind, name)

        def method(self: Any, level: int, /, *rest: Any) -> object:
            relayed = level in levels and peer_of(self) is not None
            return answer if relayed else plain(self, level, *rest)

        setattr(kind, name, method)

    patch_query("getpeername", lambda peer: peer)
    patch_query("getsockname", lambda peer: ("0.0.0.0", 0) if len(peer) == 2 else ("::", 0, 0, 0))
    patch_option("setsockopt", None)
    patch_option("getsockopt", 0)


def _patch_name_lookups(socket: Any, hosts: AllowedHosts) -> None:
    plain_info, plain_host = socket.getaddrinfo, socket.gethostbyname

    def getaddrinfo(
        host: Any, port: Any, family: int = 0, type: int = 0, proto: int = 0, flags: int = 0
    ) -> Any:
        found = hosts.named(host)
        wanted = family in (0, socket.AF_INET) and type in (0, socket.SOCK_STREAM)
        if found is None or not wanted or proto not in (0, socket.IPPROTO_TCP):
            return plain_info(host, port, family, type, proto, flags)
        name, place = found
        number = _parse_port(socket, port)
        sys.audit("socket.getaddrinfo", name, number, family, type, proto)
        full = name if flags & socket.AI_CANONNAME else ""
        stream = socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP
        return [(*stream, full, (place, number))]

    def gethostbyname(host: Any, /) -> Any:
        found = hosts.named(host)
        if found is None:
            return plain_host(host)
        sys.audit("socket.gethostbyname", found[0])
        return found[1]

    socket.getaddrinfo, socket.gethostbyname = getaddrinfo, gethostbyname


def _open_relay_connection(socket: Any, target: tuple[str, int], timeout: float | None) -> Any:
    """Return a connection to the target. Raises OSError with the relay's own message."""
    host, port = target
    host = f"[{host}]" if ":" in host else host
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        link.settimeout(timeout or PATIENCE)
        link.connect(SOCKET)
        link.sendall(f"{host}:{port}\n".encode("ascii"))
        answer = link.recv(1)
        if answer == b"+":
            return link
        text = b""
        while len(text) < _TEXT_BYTES and (more := link.recv(_TEXT_BYTES)):
            text += more
    except BaseException:  # also KeyboardInterrupt: no caller has this socket to close it
        link.close()
        raise
    link.close()
    code, _, why = text.decode("utf-8", "replace").partition(" ")
    if answer != b"-" or not code.isdigit():
        raise ConnectionResetError(104, "the relay of the sandbox gave no answer")
    raise OSError(int(code), why)


def _canonical_name(host: object) -> str:
    """Return a name or address in the form that settings use."""
    if isinstance(host, bytes | bytearray):
        host = host.decode("ascii", "replace")
    if not isinstance(host, str):
        return ""
    name = host.removesuffix(".")
    if not name.isascii():
        try:
            name = name.encode("idna").decode("ascii")
        except UnicodeError:
            return ""
    return to_numeric_address(name.lower())


def _parse_port(socket: Any, port: Any) -> int:
    if isinstance(port, bytes):
        port = port.decode("ascii", "replace")
    if port is None or port == "":
        return 0
    if isinstance(port, str) and not port.isdigit():
        try:
            return int(socket.getservbyname(port, "tcp"))
        except OSError:
            raise socket.gaierror(
                socket.EAI_SERVICE, "Servname not supported for ai_socktype"
            ) from None
    return int(port)


def _format_peer(v4: bool, address: Any) -> Any:
    """Return the peer's address in the form of that kind of socket."""
    host, port = address[:2]
    host = host if isinstance(host, str) else bytes(host).decode("ascii", "replace")
    return (host, port) if v4 else (host, port, 0, 0)
