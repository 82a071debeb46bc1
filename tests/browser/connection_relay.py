"""Passes connections on to a server, until they are cut: a network that fails for a while."""

from __future__ import annotations

import contextlib
import socket
import threading

from tests.patience import PATIENCE_SECONDS


class ConnectionRelay:
    """Listens at the server's own port, on another address of loopback."""

    def __init__(self, address, port):
        self._target = ("127.0.0.1", port)
        self._listening = socket.create_server((address, port))
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._down = False
        self._threads: list[threading.Thread] = []
        self._start(self._accept)

    def cut(self):
        """Break every connection, and refuse new ones."""
        with self._lock:
            self._down = True
            for each in self._open:
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)

    def mend(self):
        """Accept connections again."""
        self._down = False

    def close(self):
        """End the relay."""
        self.cut()
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for thread in self._threads:
            thread.join(PATIENCE_SECONDS)
        for each in self._open:
            each.close()

    def _accept(self):
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            if self._down:
                client.close()
                continue
            server = socket.create_connection(self._target)
            with self._lock:
                self._open |= {client, server}
            for pair in ((client, server), (server, client)):
                self._start(self._pass, *pair)

    def _start(self, target, *args):
        thread = threading.Thread(target=target, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _pass(self, source, sink):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
        for each in (source, sink):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
