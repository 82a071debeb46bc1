"""Server-sent events out of bytes (WHATWG HTML, 9.2). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pulsus.llm.http.exchange import WireFailed

MAX_EVENT = 1 << 20
"""Bytes of one event; a piece of text has some hundred."""


def events(chunks: Iterable[bytes]) -> Iterator[str]:
    """The data of each event. Raises WireFailed for an event longer than MAX_EVENT.

    An event that the end of the stream cuts off is not given.
    """
    data: list[str] = []
    size = 0
    for line in _lines(chunks):
        if not line:
            if data:
                yield "\n".join(data)
            data, size = [], 0
            continue
        name, _, value = line.partition(b":")
        if name == b"data":
            size += len(value)
            if size > MAX_EVENT:
                raise WireFailed("too_long", "one event of the stream is longer than is taken")
            data.append(value.removeprefix(b" ").decode("utf-8", "replace"))


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Lines ended by LF or CR LF. (A bare CR, which no server of models sends, ends none.)"""
    begun: list[bytes] = []
    size = 0
    for chunk in chunks:
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            yield b"".join((*begun, line)).removesuffix(b"\r")
            begun, size = [], 0
        begun.append(rest)
        size += len(rest)
        if size > MAX_EVENT:
            raise WireFailed("too_long", "one event of the stream is longer than is taken")
