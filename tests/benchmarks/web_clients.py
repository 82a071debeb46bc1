"""Many clients of one event stream in one process: when each of them saw each event."""

from __future__ import annotations

import asyncio
import re
import time

_ID = re.compile(rb"^id: (\d+)", re.MULTILINE)


class StreamClient(asyncio.Protocol):
    """One client. `seen` has the time of each event by its number, from the first connection on."""

    def __init__(self, address, token):
        self._address, self._token = address, token
        self.seen: dict[int, float] = {}
        self.repeated = 0
        self.greeted = False
        self._rest = b""
        self._transport: asyncio.Transport | None = None

    async def connect(self):
        """Connect, and go on after the last event that was seen."""
        host, port = self._address
        self._rest, self.greeted = b"", False
        last = f"Last-Event-ID: {max(self.seen)}\r\n" if self.seen else ""
        loop = asyncio.get_running_loop()
        self._transport, _ = await loop.create_connection(lambda: self, host, port)
        self._transport.write(
            f"GET /api/v1/events HTTP/1.1\r\nHost: localhost:{port}\r\n"
            f"Authorization: Bearer {self._token}\r\n{last}\r\n".encode()
        )

    def drop(self):
        """Break the connection."""
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data):
        now, text = time.monotonic(), self._rest + data
        end = text.rfind(b"\n") + 1
        self.greeted = self.greeted or b"event: hello" in text
        for match in _ID.finditer(text, 0, end):
            number = int(match[1])
            self.repeated += number in self.seen
            self.seen.setdefault(number, now)
        self._rest = text[end:]


async def connect_all(clients):
    """Connect all clients, some at a time, and return once each of them is subscribed."""
    for start in range(0, len(clients), 50):
        await asyncio.gather(*(each.connect() for each in clients[start : start + 50]))
    while not all(each.greeted for each in clients):
        await asyncio.sleep(0.05)
