"""Carry bytes between a sandbox and the hosts that settings allow (spec §8, §17). Effect: network.

It refuses hosts outside the allowlist, too many connections, and more bytes than
`sandbox.max_network_mb`. `routing/delivery/network_allowlist.py` decides which hosts a tool's dry
run may reach. Private addresses behind a name are refused in `connect_to_public_host.py`.

The sandbox's own network stays empty: without an allowed host all network is denied by
`isolation/bwrap_arguments.py` (`--unshare-net`). Threads outside take connections from a Unix
socket that is shown in the sandbox. They read a host and port, compare them with the allowlist,
look the name up themselves, and carry bytes both ways up to a limit. Code inside gets no more than
that, however it talks to the socket.

A connection is requested by one line `host:port`. The answer is `+`, followed by the bytes of the
host, or `-`, an error number and the reason.
"""

from __future__ import annotations

import errno
import os
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from pulsus.config.host_names import canonical_host
from pulsus.core.sandbox.connect_to_public_host import HostNotAllowed, connect_to
from pulsus.core.sandbox.harness.audit_hook import printable
from pulsus.core.system.descriptors import closing_fd

AT_ONCE = 32
MOST = 256
"""Connections of one run: at the same time, and in all."""

_LINE_BYTES = 300
_CHUNK = 65536
_END_SECONDS = 1.0

Reach = Callable[[str], socket.socket]
"""Return a connection to a canonical `host:port`. Raises HostNotAllowed or OSError."""


class Relay:
    """The way from one sandbox to the `allowed` hosts, for `limit` bytes in both directions."""

    def __init__(self, allowed: Sequence[str], limit: int, reach: Reach = connect_to) -> None:
        self._allowed = frozenset(map(canonical_host, allowed))
        self._limit, self._reach = limit, reach
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._folder: Path | None = None
        self._acceptor = threading.Thread(target=self._accept_connections, daemon=True)
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._workers: set[threading.Thread] = set()
        self._asked: set[str] = set()
        self._count = self._bytes = 0
        self._closing = False
        self._problem = ""

    def start(self) -> Path:
        """Return the socket to show in the sandbox, in a folder that only this user can open.

        Raises OSError.
        """
        self._folder = Path(tempfile.mkdtemp(prefix="pulsus-network-"))
        with closing_fd(os.open(self._folder, os.O_PATH | os.O_DIRECTORY)) as folder:
            # By the folder's number: its path may be longer than a Unix address.
            self._listener.bind(f"/proc/self/fd/{folder}/socket")
        path = self._folder / "socket"
        path.chmod(0o666)  # the user of the sandbox may be `nobody`
        self._listener.listen(AT_ONCE)
        self._acceptor.start()
        return path

    def hide(self) -> None:
        """Remove the socket from our file system; the sandbox that has it keeps it."""
        if self._folder is not None:
            with suppress(OSError):
                (self._folder / "socket").unlink(missing_ok=True)
                self._folder.rmdir()

    def problem(self) -> str:
        """Return the reason why the run must end, or ""."""
        if self._problem or self._closing or self._acceptor.is_alive():
            return self._problem
        return "the relay to the allowed hosts ended"

    def asked(self) -> tuple[str, ...]:
        """Return the hosts that were asked for, allowed or not, sorted."""
        with self._lock:
            return tuple(sorted(self._asked))

    def close(self) -> None:
        """End every connection and remove the socket. May be called again."""
        self._closing = True
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits in accept
        self._listener.close()
        self._shut_all()
        until = time.monotonic() + _END_SECONDS
        with self._lock:
            waiting = [t for t in (self._acceptor, *self._workers) if t.is_alive()]
        for thread in waiting:  # one that looks up a name still ends by itself
            thread.join(max(0.0, until - time.monotonic()))
        self.hide()

    def _accept_connections(self) -> None:
        try:
            while not self._closing:
                inside, _ = self._listener.accept()
                self._count += 1
                if self._count > MOST:
                    self._problem = f"it connected more than {MOST} times"
                    inside.close()
                    return
                self._start_thread(self._serve_connection, inside)
        except OSError:
            pass  # closed, or out of descriptors: `problem` says which
        finally:
            self._listener.close()
            self._shut_all()

    def _start_thread(self, task: Callable[..., None], *args: object) -> threading.Thread:
        thread = threading.Thread(target=task, args=args, daemon=True)
        with self._lock:
            self._workers = {each for each in self._workers if each.is_alive()} | {thread}
            thread.start()
        return thread

    def _serve_connection(self, inside: socket.socket) -> None:
        """Answer one connection, and carry its bytes."""
        with suppress(OSError), self._track_socket(inside):
            target = _read_line(inside)
            why = self._find_objection(target)
            if why:
                inside.sendall(_encode_refusal(errno.ECONNREFUSED, why))
                return
            try:
                outside = self._reach(canonical_host(target))
            except (HostNotAllowed, OSError) as error:
                inside.sendall(_encode_refusal(*_describe_failure(error)))
                return
            with self._track_socket(outside):
                inside.sendall(b"+")
                back = self._start_thread(self._carry_bytes, outside, inside)
                self._carry_bytes(inside, outside)
                back.join()

    def _find_objection(self, target: str) -> str:
        """Return the reason why that target is refused, or ""."""
        try:
            wanted = canonical_host(target)
        except ValueError as error:
            wanted, why = printable(target), str(error)
        else:
            why = "" if wanted in self._allowed else f"{wanted} is not among the allowed hosts"
        with self._lock:
            self._asked.add(wanted)
            if len(self._open) > 2 * AT_ONCE:  # two ends each
                return f"a run may hold {AT_ONCE} connections"
        return why

    def _carry_bytes(self, source: socket.socket, sink: socket.socket) -> None:
        """Carry bytes from one end to the other until they end or exceed the limit."""
        try:
            while data := source.recv(_CHUNK):
                with self._lock:
                    self._bytes += len(data)
                    spent = self._bytes > self._limit
                if spent:
                    self._problem = f"it moved more than {self._limit >> 20} MB over the network"
                    self._shut_all()
                    return
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            for each in (source, sink):
                _shut_down(each)

    @contextmanager
    def _track_socket(self, end: socket.socket) -> Iterator[None]:
        """Close the socket at the end of the block. In the block `_shut_all` can shut it."""
        with end:
            with self._lock:
                self._open.add(end)
            try:
                if self._closing or self._problem:
                    raise ConnectionAbortedError
                yield
            finally:
                with self._lock:
                    self._open.discard(end)

    def _shut_all(self) -> None:
        """Shut every connection."""
        with self._lock:
            for each in self._open:
                _shut_down(each)


def _shut_down(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)


def _read_line(inside: socket.socket) -> str:
    """Return the line that was sent, also if it is too long or cut short."""
    line = b""
    while len(line) < _LINE_BYTES and not line.endswith(b"\n") and (byte := inside.recv(1)):
        line += byte
    return line.rstrip(b"\n").decode("ascii", "backslashreplace")


def _describe_failure(error: Exception) -> tuple[int, str]:
    match error:
        case socket.gaierror():
            return errno.EHOSTUNREACH, f"the name cannot be looked up: {error.strerror}"
        case TimeoutError():
            return errno.ETIMEDOUT, "the host does not answer"
        case OSError(errno=int(number)) if number > 0:
            return number, os.strerror(number)
        case _:
            return errno.ECONNREFUSED, str(error)


def _encode_refusal(number: int, why: str) -> bytes:
    return f"-{number} {why}".encode("utf-8", "replace")
