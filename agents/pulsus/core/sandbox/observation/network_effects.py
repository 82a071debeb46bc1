"""Read hosts, ports and sockets from the system calls of a sandbox (spec §8, §17).

This only observes. The network is blocked by an empty namespace
(`core/sandbox/isolation/bwrap_arguments.py`).

Effect: reads /proc and asks a socket of the sandbox for its address, through `process_memory.py`.
"""

from __future__ import annotations

import posixpath
import socket
import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress

from pulsus.core.sandbox.harness.audit_hook import Fact, printable, reported_path
from pulsus.core.sandbox.harness.socket_proxy import SOCKET as _RELAY
from pulsus.core.sandbox.observation.observed_effects import is_loopback
from pulsus.core.sandbox.observation.process_memory import Caller, SandboxView

CALLS = ("bind", "connect", "sendto", "sendmsg", "sendmmsg", "listen")
_ADDRESS_BYTES = 128
_QUESTION_BYTES = 512
_MESSAGES = 8  # messages of one call that are read
# The C library asks for users, groups and names here; no tool does so itself.
_LOOK_UPS = (
    *("/run/nscd/socket", "/var/run/nscd/socket", "/var/lib/sss/pipes/nss", _RELAY),
    *("/run/systemd/resolve/io.systemd.Resolve", "/run/systemd/machine/io.systemd.Machine"),
)
_USERS = "/run/systemd/userdb/"  # one socket for each service that knows users
_RESOLVER = "127.0.0.1:53"  # the default if no name server is configured
_EPHEMERAL = 32768  # the kernel chooses ports from this number on


class NetworkEffects:
    """The hosts and ports of one sandbox, as its calls name them."""

    def __init__(self, inside: SandboxView) -> None:
        self._inside = inside
        self._unasked: set[int] = (
            set()
        )  # callers that connected to the resolver and asked nothing yet

    def facts(self, name: str, caller: Caller, args: Sequence[int]) -> Iterator[Fact]:
        """Name the hosts and sockets that a call reaches, and the ports at which it listens."""
        if name == "listen":
            yield from self._facts_of_listening(caller.bound_to(args[0]))
            return
        for address in _read_addresses(name, caller, args):
            yield from self._facts_of_address(name, caller, address)
        for text in _read_looked_up_names(name, caller, args):
            self._unasked.discard(caller.pid)
            yield "h", printable(text)

    def last(self) -> Iterator[Fact]:
        """Yield the resolver if a process connected to it and looked up no name."""
        if self._unasked:
            yield "h", _RESOLVER

    def _facts_of_address(self, name: str, caller: Caller, address: bytes) -> Iterator[Fact]:
        family = int.from_bytes(address[:2], "little")
        if family == socket.AF_UNIX:
            yield from self._facts_of_unix_socket(caller, address[2:], binds=name == "bind")
        elif family in (socket.AF_INET, socket.AF_INET6):
            host, port = _parse_address(family, address)
            if name == "bind":
                if port:
                    yield "s", f"calls listen at {_format_address(host, port)}"
                return
            text = _format_address(host, port)
            if text == _RESOLVER and name == "connect":
                if caller.pid in self._unasked:
                    yield "h", text
                self._unasked.add(caller.pid)
                return
            if is_loopback(host) and port >= _EPHEMERAL and self._inside.listens(port):
                yield "l", str(port)
            yield "h", text

    def _facts_of_listening(self, bound: tuple[str, int] | None) -> Iterator[Fact]:
        """Yield an effect if other machines can reach the socket. The kernel chose its port."""
        if bound is not None and not is_loopback(bound[0]):
            yield "s", f"calls listen at {_format_address(bound[0], 0)}"

    def _facts_of_unix_socket(self, caller: Caller, raw: bytes, *, binds: bool) -> Iterator[Fact]:
        if raw[:1] == b"\0":
            if not raw.strip(b"\0"):
                return
            name = "unix:@" + printable(raw[1:].decode("utf-8", "backslashreplace"))
            yield ("s", f"calls listen at {name}") if binds else ("h", name)
            return
        name = raw.partition(b"\0")[0].decode("utf-8", "backslashreplace")
        if not name:
            return
        path = name if name[0] == "/" else f"{caller.base(-1)}/{name}"
        real = caller.real(self._inside, path, follow=not binds)
        shown = reported_path(real)
        if binds:
            if shown:
                yield "p", shown
        elif shown and not (_is_look_up(real) or _is_look_up(posixpath.normpath(path))):
            yield "h", "unix:" + shown


def _is_look_up(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    return path in _LOOK_UPS or (folder + "/" == _USERS and bool(name))


def _parse_address(family: int, address: bytes) -> tuple[str, int]:
    raw = address[4:8] if family == socket.AF_INET else address[8:24]
    (port,) = struct.unpack_from("!H", address, 2)
    return socket.inet_ntop(family, raw), port


def _format_address(host: str, port: int) -> str:
    name = f"[{host}]" if ":" in host else host
    return f"{name}:{port}" if port else name


def _read_addresses(name: str, caller: Caller, args: Sequence[int]) -> Iterator[bytes]:
    match name:
        case "bind" | "connect":
            yield caller.bytes(args[1], min(args[2] & 0xFFFF, _ADDRESS_BYTES))
        case "sendto":
            if args[4]:
                yield caller.bytes(args[4], min(args[5] & 0xFFFF, _ADDRESS_BYTES))
        case _:
            for head in _read_message_headers(name, caller, args):
                address, length = struct.unpack_from("=QI", head)
                if address:
                    yield caller.bytes(address, min(length, _ADDRESS_BYTES))


def _read_message_headers(name: str, caller: Caller, args: Sequence[int]) -> Iterator[bytes]:
    """Yield the first few `struct msghdr` of a call."""
    count, size = (1, 56) if name == "sendmsg" else (min(args[2], _MESSAGES), 64)
    for number in range(count):
        yield caller.bytes(args[1] + number * size, 56)


def _read_looked_up_names(name: str, caller: Caller, args: Sequence[int]) -> Iterator[str]:
    """Yield the names that a program looks up, from its questions to a name server."""
    if name == "sendto":
        sent = [(args[1], args[2])]
    elif name in ("sendmsg", "sendmmsg"):
        heads = (
            struct.unpack_from("=Q8x2Q", head) for head in _read_message_headers(name, caller, args)
        )
        sent = [struct.unpack("=2Q", caller.bytes(parts, 16)) for _, parts, count in heads if count]
    else:
        return
    for start, size in sent:
        with suppress(OSError):
            if text := parse_dns_question(caller.bytes(start, min(size, _QUESTION_BYTES))):
                yield text


def parse_dns_question(data: bytes) -> str:
    """Return the name that a DNS message asks for (RFC 1035 §4), or "" if it is no question."""
    if len(data) < 17 or data[2] & 0xF8 or data[4:10] != b"\0\1\0\0\0\0":
        return ""
    labels, at = [], 12
    while at < len(data) and 0 < data[at] < 64:
        labels.append(data[at + 1 : at + 1 + data[at]])
        at += 1 + data[at]
    if data[at : at + 1] != b"\0" or data[at + 3 : at + 5] != b"\0\1" or not labels:
        return ""
    return b".".join(labels).decode("ascii", "backslashreplace").lower()
