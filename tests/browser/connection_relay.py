"""Passes connections on to a server, until they are cut: a network that fails for a while."""

from __future__ import annotations

import contextlib
import socket
import threading


class ConnectionRelay:
    """Listens at the server's own port, on another address of loopback."""

    def __init__(self, address, port):
        self._target = ("127.0.0.1", port)
        self._listening = socket.create_server((address, port))
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._down = False
        threading.Thread(target=self._accept, daemon=True).start()

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
                threading.Thread(target=self._pass, args=pair, daemon=True).start()

    def _pass(self, source, sink):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
        for each in (source, sink):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
