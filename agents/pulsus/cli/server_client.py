"""Speaks to a running `pulsus serve` as a signed-in user. Effect: network.

The token is in the variable PULSUS_SERVER_TOKEN. It is sent over TLS, or to this machine only.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from pulsus.errors import ServerRefused, ServerUnreachable, UsageError
from pulsus.fast_dataclass import dataclass
from pulsus.llm.http.exchange import (
    ExchangeLimits,
    HttpAnswer,
    HttpRequest,
    WireFailed,
    exchange,
)

TOKEN_VARIABLE: Final = "PULSUS_SERVER_TOKEN"
_LOCAL: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_ADDRESS: Final = re.compile(r"https?://(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(:\d{1,5})?/?")
_CONNECT_SECONDS: Final = 10.0
_SILENT_SECONDS: Final = 60.0
"""The server sends a heartbeat every 15 s."""

_RUN_SECONDS: Final = 24 * 3600.0
_MOST_BYTES: Final = 256 * 1024 * 1024
_MOST_ERROR: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One event of a stream. `number` is 0 for an event without one."""

    number: int
    name: str
    fields: Mapping[str, Any]


class ServerClient:
    """A client of one server. `run_id` is that of the last answer that named one."""

    def __init__(self, address: str, token: str) -> None:
        self.address, self._token = address.rstrip("/"), token
        self.run_id = ""

    def ask(self, path: str, body: Mapping[str, Any]) -> None:
        """Send a change. Raises ServerUnreachable, ServerRefused."""
        for _ in self._lines(path, body, 0, _SILENT_SECONDS):
            pass

    def events(
        self, path: str, body: Mapping[str, Any] | None = None, after: int = 0
    ) -> Iterator[StreamEvent]:
        """Yield the events of a stream after the event number `after`.

        Raises ServerUnreachable if the stream breaks off, ServerRefused.
        """
        number, name = 0, ""
        for line in self._lines(path, body, after, _RUN_SECONDS):
            key, _, value = line.partition(":")
            value = value.removeprefix(" ")
            match key:
                case "id" if value.isascii() and value.isdigit():
                    number = int(value)
                case "event":
                    name = value
                case "data" if name:
                    yield StreamEvent(number, name, _fields(value))
                case "":
                    number, name = (0, "") if not line else (number, name)
                case _:
                    pass

    def _lines(
        self, path: str, body: Mapping[str, Any] | None, after: int, seconds: float
    ) -> Iterator[str]:
        headers = {"authorization": f"Bearer {self._token}"}
        if after:
            headers["last-event-id"] = str(after)
        data = None
        if body is not None:
            headers["content-type"], data = "application/json", json.dumps(body).encode()
        local = urlsplit(self.address).hostname in _LOCAL
        request = HttpRequest(f"{self.address}{path}", headers, data, local=local)
        limits = ExchangeLimits(_CONNECT_SECONDS, _SILENT_SECONDS, seconds, _MOST_BYTES)
        try:
            with exchange(request, limits) as answer:
                if answer.status != 200:
                    raise _refused(answer)
                self.run_id = answer.headers.get("x-run-id", self.run_id)
                yield from _split_lines(answer.chunks)
        except WireFailed as failure:
            raise ServerUnreachable(
                f"{self.address} cannot be reached, or broke off: {failure.reason}",
                hint="start it with `pulsus serve`, or name its address with --server",
            ) from None


def connect_server(address: str) -> ServerClient:
    """Return a client. Raises UsageError for an address that is not safe, or without a token."""
    if not _ADDRESS.fullmatch(address):
        raise UsageError(
            f"{address[:80]!r} is no address of a server",
            hint="write it like http://localhost:8765",
        )
    if address.startswith("http:") and urlsplit(address).hostname not in _LOCAL:
        raise UsageError(f"the token would travel unencrypted to {address}", hint="use https://")
    token = os.environ.get(TOKEN_VARIABLE, "").strip()
    if not token:
        raise UsageError(
            f"the variable {TOKEN_VARIABLE} has no token",
            hint="make one on the server's machine: pulsus users token NAME --role operator",
        )
    return ServerClient(address, token)


def _refused(answer: HttpAnswer) -> ServerRefused:
    """Return the error of a refusal, in the words of the server."""
    body = b""
    for chunk in answer.chunks:
        body += chunk
        if len(body) > _MOST_ERROR:
            break
    try:
        said = json.loads(body)["error"]
        code, message, hint = str(said["code"]), str(said["message"]), str(said["hint"])
    except (ValueError, KeyError, TypeError):
        code, message, hint = "", "its answer is not one of Pulsus", "check the address"
    return ServerRefused(
        f"the server refuses it with status {answer.status}: {message}",
        hint=hint or "check the token and its role: pulsus users tokens",
        server_code=code,
    )


def _split_lines(chunks: Iterator[bytes]) -> Iterator[str]:
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line.rstrip(b"\r").decode("utf-8", "replace")


def _fields(text: str) -> Mapping[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
