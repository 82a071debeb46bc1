"""Connect and send for a supervised tool, if its plan allows it: the network allowlist of a run.

The supervisor reads the address once and connects the tool's own socket to it, so that another
thread cannot exchange the address meanwhile. Effects: looks up names, connects, sends.

Name servers (DNS) may be asked only if they are those of this machine.
"""

from __future__ import annotations

import errno
import fcntl
import os
import struct
import time
from contextlib import ExitStack, closing, suppress

from pulsus.core.sandbox.observation.syscall_notifications import AnsweredLater, WaitingCall, signed
from pulsus.core.system.descriptors import closing_fd
from pulsus.execution.confinement.supervision.file_broker import FileBroker

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import Any

_UNIX, _INET, _INET6, _NETLINK, _STREAM = 1, 2, 10, 16, 1
_ADDRESS_BYTES, _MOST_BYTES, _MOST_PARTS, _MOST_MESSAGES = 128, 1 << 20, 64, 16
_MESSAGE, _MESSAGE_OF_MANY = 56, 64
_MSGHDR = struct.Struct("=QIIQQQQiI")
_FRESH_S = 1.0
_DNS = 53

LOOK_UPS = (
    "/run/nscd/socket", "/var/run/nscd/socket", "/var/lib/sss/pipes/nss",
    "/var/lib/sss/pipes/private/nss", "/run/systemd/userdb/",
)  # fmt: skip
"""The C library asks for users, groups and local names here."""


class SocketBroker:
    """The local sockets and hosts that a run may reach.

    A host is a name or an address, either with `:port`. `hosts` of None means every host.
    """

    def __init__(
        self, files: FileBroker, local: Collection[str], hosts: Collection[str] | None
    ) -> None:
        self._files = files
        self._local = tuple(os.fsencode(each) for each in (*LOOK_UPS, *local))
        self._hosts = None if hosts is None else [_split_port(each) for each in hosts]
        self._resolved: dict[str, tuple[float, frozenset[str]]] = {}
        self._servers: frozenset[str] | None = None
        self.calls: dict[str, Callable[[WaitingCall], int | None]] = {
            "bind": self._bind_socket,
            "connect": self._connect_socket,
            "sendto": self._send_to,
            "sendmsg": self._send_message,
            "sendmmsg": self._send_messages,
        }

    def _connect_socket(self, q: WaitingCall) -> None:
        raw = q.memory(q.args[1], min(q.args[2] & 0xFFFFFFFF, _ADDRESS_BYTES))
        family = int.from_bytes(raw[:2], "little")
        if family == _UNIX:
            self._connect_locally(q, raw[2:])
            return
        address = _parse_internet(family, raw)
        with ExitStack() as stack:
            socket = stack.enter_context(closing(self._callers_socket(q, family)))
            self._require_allowed(address, socket)
            if socket.type == _STREAM and not _is_non_blocking(socket):
                stack.pop_all()
                _answer_in_thread(q, socket, lambda: socket.connect(address))
            socket.connect(address)

    def _connect_locally(self, q: WaitingCall, path: bytes) -> None:
        name = path.partition(b"\0")[0]
        allowed = name in self._local or any(
            each.endswith(b"/") and name.startswith(each) and b"/" not in name[len(each) :]
            for each in self._local
        )
        if not name.startswith(b"/") or not (allowed or self._files.below(name)):
            raise PermissionError(errno.EACCES, "a local socket that is not declared")
        with closing(self._callers_socket(q, _UNIX)) as socket:
            waits = not _is_non_blocking(socket)
            socket.setblocking(False)  # the caller's socket too, until it has its answer
            try:
                if allowed:
                    socket.connect(name)
                else:
                    with self._files.parent(name) as (place, last):
                        found = os.open(last, os.O_PATH | os.O_NOFOLLOW, dir_fd=place)
                    with closing_fd(found):
                        socket.connect(f"/proc/self/fd/{found}")
            finally:
                if waits:
                    fcntl.fcntl(
                        socket, fcntl.F_SETFL, fcntl.fcntl(socket, fcntl.F_GETFL) & ~os.O_NONBLOCK
                    )

    def _bind_socket(self, q: WaitingCall) -> None:
        """Bind the caller's socket.

        Only called without Landlock, since a local socket is a new file.
        """
        raw = q.memory(q.args[1], min(q.args[2] & 0xFFFFFFFF, _ADDRESS_BYTES))
        family = int.from_bytes(raw[:2], "little")
        with closing(self._callers_socket(q, family)) as socket:
            if family == _UNIX:
                with self._files.parent(raw[2:].partition(b"\0")[0]) as (place, last):
                    socket.bind(b"/proc/self/fd/%d/%s" % (place, last))
            elif family == _NETLINK:
                socket.bind(struct.unpack("=II", raw[4:12]))
            else:
                socket.bind(_parse_internet(family, raw))

    def _send_to(self, q: WaitingCall) -> int:
        size = min(q.args[2], _MOST_BYTES)
        raw = q.memory(q.args[4], min(q.args[5] & 0xFFFFFFFF, _ADDRESS_BYTES))
        data = q.memory(q.args[1], size)
        return self._send_data(q, data, signed(q.args[3]), raw)

    def _send_message(self, q: WaitingCall) -> int:
        head = q.memory(q.args[1], _MESSAGE)
        return self._send_data(q, *self._parse_message(q, head, signed(q.args[2])))

    def _send_messages(self, q: WaitingCall) -> int:
        count = min(q.args[2] & 0xFFFFFFFF, _MOST_MESSAGES)
        done = 0
        for number in range(count):
            at = q.args[1] + number * _MESSAGE_OF_MANY
            message = self._parse_message(q, q.memory(at, _MESSAGE), signed(q.args[3]))
            try:
                size = self._send_data(q, *message, wait=False)
            except OSError:
                if done:
                    return done
                raise
            q.write(at + _MESSAGE, struct.pack("=I", size))
            done += 1
        return done

    def _parse_message(self, q: WaitingCall, head: bytes, flags: int) -> tuple[bytes, int, bytes]:
        """Return the bytes, flags and address of a `struct msghdr`."""
        name, size, _, parts, count, _, control, _, _ = _MSGHDR.unpack(head)
        if control:
            raise PermissionError(errno.EACCES, "a message that carries more than bytes")
        if count > _MOST_PARTS:
            raise OSError(errno.EMSGSIZE, "too many parts")
        table = q.memory(parts, 16 * count)
        data = b""
        for where, length in struct.iter_unpack("=QQ", table):
            data += q.memory(where, min(length, _MOST_BYTES - len(data))) if length else b""
        raw = q.memory(name, min(size, _ADDRESS_BYTES)) if name and size else b""
        return data, flags, raw

    def _send_data(
        self, q: WaitingCall, data: bytes, flags: int, raw: bytes, wait: bool = True
    ) -> int:
        family = int.from_bytes(raw[:2], "little") if raw else 0
        address = _parse_internet(family, raw) if raw else None
        if flags & 0x20000000:
            raise PermissionError(errno.EACCES, "a connection without connect")
        with ExitStack() as stack:
            socket = stack.enter_context(closing(self._callers_socket(q, family)))
            if socket.family not in (_UNIX, _INET, _INET6):
                raise PermissionError(errno.EACCES, "no socket of this run")
            if address is not None:
                self._require_allowed(address, socket)
            if wait and socket.type == _STREAM and not _is_non_blocking(socket):
                stack.pop_all()
                _answer_in_thread(q, socket, lambda: socket.send(data, flags))
            if address is not None and socket.type != _STREAM:
                return int(socket.sendto(data, flags, address))
            return int(socket.send(data, flags))

    def _callers_socket(self, q: WaitingCall, family: int) -> Any:
        """Return the caller's socket, if it is of that family (0: any). Raises OSError."""
        import _socket

        found = q.file(signed(q.args[0]))
        try:
            socket = _socket.socket(fileno=found)
        except OSError:
            os.close(found)
            raise
        if family and socket.family != family:
            socket.close()
            raise OSError(errno.EAFNOSUPPORT, "the address is of another family")
        return socket

    def _require_allowed(self, address: tuple[Any, ...], socket: Any) -> None:
        """Raise PermissionError unless the plan allows that address."""
        host, port = _canonical_host(str(address[0])), int(address[1])
        if self._hosts is None or self._is_allowed_host(host, port):
            return
        if port == _DNS and host in self._find_name_servers():
            return
        raise PermissionError(errno.EACCES, f"{host} is not among the declared hosts")

    def _is_allowed_host(self, host: str, port: int) -> bool:
        fitting = [name for name, wanted in self._hosts or () if wanted in (0, port)]
        if host in fitting:
            return True
        return any(host in self._look_up_addresses(n, host) for n in fitting if not _is_address(n))

    def _look_up_addresses(self, name: str, wanted: str) -> frozenset[str]:
        """Return the addresses of a name, looked up again if `wanted` is not among them."""
        import _socket

        at, known = self._resolved.get(name, (0.0, frozenset()))
        if wanted not in known and time.monotonic() - at > _FRESH_S:
            with suppress(OSError, UnicodeError):
                found = _socket.getaddrinfo(name, None)
                known |= {_canonical_host(str(each[4][0])) for each in found}
            self._resolved[name] = time.monotonic(), known
        return known

    def _find_name_servers(self) -> frozenset[str]:
        if self._servers is None:
            self._servers = frozenset(_configured_servers())
        return self._servers


def _configured_servers() -> list[str]:
    """Return the name servers of /etc/resolv.conf, by default those of this machine."""
    found: list[str] = []
    with suppress(OSError):
        with open("/etc/resolv.conf", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
            words = [line.split() for line in file]
        found = [
            _canonical_host(each[1]) for each in words if each[:1] == ["nameserver"] and each[1:]
        ]
    return found or ["127.0.0.1", "::1"]


def _split_port(host: str) -> tuple[str, int]:
    """Return (name or address, port or 0)."""
    if host.startswith("["):
        name, _, port = host[1:].partition("]")
        return _canonical_host(name), int(port.removeprefix(":") or 0)
    name, colon, port = host.rpartition(":")
    if colon and ":" not in name and port.isdigit():
        return _canonical_host(name), int(port)
    return _canonical_host(host), 0


def _canonical_host(host: str) -> str:
    """Return the usual spelling of a host: an IPv4 address in IPv6 form is that IPv4 address."""
    low = host.rstrip(".").lower().partition("%")[0]
    return low.removeprefix("::ffff:") if low.count(".") == 3 else low


def _is_address(name: str) -> bool:
    return ":" in name or name.rpartition(".")[2].isdigit()


def _parse_internet(family: int, raw: bytes) -> tuple[Any, ...]:
    """Return the address as Python's sockets take it. Raises OSError for another family."""
    import _socket

    if family == _INET and len(raw) >= 8:
        return _socket.inet_ntop(_INET, raw[4:8]), int.from_bytes(raw[2:4], "big")
    if family == _INET6 and len(raw) >= 24:
        port, flow = struct.unpack(">HI", raw[2:8])
        scope = int.from_bytes(raw[24:28], "little")
        return _socket.inet_ntop(_INET6, raw[8:24]), port, flow, scope
    raise OSError(errno.EAFNOSUPPORT, "a family that is not carried")


def _is_non_blocking(socket: Any) -> bool:
    return bool(fcntl.fcntl(socket.fileno(), fcntl.F_GETFL) & os.O_NONBLOCK)


def _answer_in_thread(q: WaitingCall, socket: Any, act: Callable[[], int | None]) -> None:
    """Perform the call in a thread that answers the caller. Always raises AnsweredLater."""
    import _thread

    def perform() -> None:
        try:
            with closing(socket):
                value = act()
            q.answer(value or 0)
        except OSError as error:
            q.fail(error.errno or errno.EIO)

    _thread.start_new_thread(perform, ())
    raise AnsweredLater
