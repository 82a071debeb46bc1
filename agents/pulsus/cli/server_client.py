"""Speaks to a running `pulsus serve` as a signed-in user. Effect: network, bounded.

The agent follows its run, and `pulsus approvals` decides cards. The token is sent over TLS, or to
this machine only. Timeouts (connect, answer, silence of a stream) and size limits are here; an
address without TLS is refused. A broken connection of the agent is tried again in
`cli/agent/server_run.py`. A server that does not answer is SERVER_UNREACHABLE.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from pulsus.core.system.regular_files import endless_kind
from pulsus.core.telemetry.sanitize import one_line
from pulsus.errors import (
    ApprovalNeeded,
    ApprovalUnknown,
    Busy,
    FactsIncomplete,
    PlanMoved,
    PulsusError,
    SelfApprovalRefused,
    ServerRefused,
    ServerUnreachable,
    TooManyApprovals,
    UsageError,
)
from pulsus.fast_dataclass import dataclass
from pulsus.late_pattern import late_pattern
from pulsus.llm.http.exchange import (
    ExchangeLimits,
    HttpAnswer,
    HttpRequest,
    WireFailed,
    exchange,
)

TOKEN_VARIABLE: Final = "PULSUS_SERVER_TOKEN"
_LOCAL: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_ADDRESS: Final = late_pattern(r"https?://(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(:\d{1,5})?/?")
_ERROR_NUMBER: Final = late_pattern(r"^\[Errno -?\d+\] ")
_CONNECT_SECONDS: Final = 10.0
_SECONDS: Final = 30.0
_SILENT_SECONDS: Final = 60.0
"""The server sends a heartbeat every 15 s."""

LONGEST_SECONDS: Final = 24 * 3600.0
"""A run of the agent may take that long, and an approved plan until its answer."""

_MOST_STREAM: Final = 256 << 20
_MOST_BYTES: Final = 16 << 20
_MOST_ERROR: Final = 64 << 10
_MOST_TOKEN: Final = 1000
_ERRORS: Final[dict[str, type[PulsusError]]] = {
    each.code: each
    for each in (
        ApprovalUnknown,
        Busy,
        FactsIncomplete,
        PlanMoved,
        SelfApprovalRefused,
        TooManyApprovals,
        UsageError,
    )
}


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One event of a stream. `number` is 0 for an event without one."""

    number: int
    name: str
    fields: Mapping[str, Any]


def token_command(role: str) -> str:
    """Return the hint that makes a token of the role that a command needs."""
    return f"make one: pulsus users token NAME --role {role}"


def read_token_file(file: Path, role: str) -> str:
    """Return the token in the file; `-` is standard input. Raises UsageError.

    `role` is the one that the command needs, for the hint.
    """
    if kind := endless_kind(file):
        raise UsageError(
            f"{file} is {kind}, not a file", hint="give - to read the token from stdin"
        )
    try:
        text = sys.stdin.readline() if str(file) == "-" else file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as failure:
        raise UsageError(f"cannot read {file}: {type(failure).__name__}") from None
    token = text.strip()
    if not token or len(token) > _MOST_TOKEN:
        raise UsageError(f"{file} holds no token", hint=token_command(role))
    return token


def token_place(file: Path | None) -> str:
    """Return where a command took its token from, as an error names it."""
    if file is None:
        return f"the token in {TOKEN_VARIABLE}"
    return "the token from stdin" if str(file) == "-" else f"the token in {file}"


class ServerClient:
    """Sends requests of one person to one server; without a token, of a stranger.

    `run_id` is that of the last answer that named one. The token is in no error, log or address.
    """

    def __init__(
        self, address: str, token: str, role: str = "viewer", place: str = "the token"
    ) -> None:
        """Check the address and the token. Raises UsageError.

        Errors name the `place` of the token, and the `role` that another one needs.
        """
        _require_address(address)
        if not token.isascii() or not token.isprintable() or " " in token:
            raise UsageError(f"{place} has characters that no token has", hint=token_command(role))
        self.address, self._token = address.rstrip("/"), token
        self._role, self._place = role, place
        self.run_id = ""

    def get(self, path: str) -> Any:
        """Return the JSON at a path. Raises ServerUnreachable and what the server refuses with."""
        return self._json(path, None, _SECONDS)

    def post(self, path: str, body: Mapping[str, Any], seconds: float = _SECONDS) -> Any:
        """Return the JSON that answers a change. Raises as `get` does."""
        return self._json(path, body, seconds)

    def events(
        self, path: str, body: Mapping[str, Any] | None = None, after: int = 0
    ) -> Iterator[StreamEvent]:
        """Yield the events of a stream after the event number `after`.

        Raises ServerUnreachable if the stream breaks off, and what the server refuses with.
        """
        limits = ExchangeLimits(_CONNECT_SECONDS, _SILENT_SECONDS, LONGEST_SECONDS, _MOST_STREAM)
        number, name = 0, ""
        with self._answer(path, body, limits, after) as answer:
            for line in _split_lines(answer.chunks):
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

    def _json(self, path: str, body: Mapping[str, Any] | None, seconds: float) -> Any:
        limits = ExchangeLimits(_CONNECT_SECONDS, seconds, seconds, _MOST_BYTES)
        with self._answer(path, body, limits) as answer:
            data = b"".join(answer.chunks)
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            raise self._no_pulsus(answer.status) from None

    @contextmanager
    def _answer(
        self, path: str, body: Mapping[str, Any] | None, limits: ExchangeLimits, after: int = 0
    ) -> Iterator[HttpAnswer]:
        """Give the answer of status 200. Raises ServerUnreachable, or the server's refusal."""
        headers = {"authorization": f"Bearer {self._token}"} if self._token else {}
        if after:
            headers["last-event-id"] = str(after)
        data = None
        if body is not None:
            headers["content-type"], data = "application/json", json.dumps(body).encode()
        local = urlsplit(self.address).hostname in _LOCAL
        request = HttpRequest(f"{self.address}{path}", headers, data, local=local)
        try:
            with exchange(request, limits) as answer:
                if answer.status != 200:
                    raise self._refusal(answer)
                self.run_id = answer.headers.get("x-run-id", self.run_id)
                yield answer
        except WireFailed as failure:
            reason = _ERROR_NUMBER.sub("", failure.reason)
            broke = failure.why != "connect"
            raise ServerUnreachable(
                f"the answer of {self.address} broke off: {reason}"
                if broke
                else f"no pulsus serve answers at {self.address}: {reason}",
                hint="start it with `pulsus serve`, or name another one with --server URL",
                address=self.address,
            ) from None

    def _refusal(self, answer: HttpAnswer) -> PulsusError:
        """Return the error of a refusal, in the words of the server."""
        body = b""
        for chunk in answer.chunks:
            body += chunk
            if len(body) > _MOST_ERROR:
                break
        try:
            error = json.loads(body)["error"]
            code, message, hint = (str(error[key]) for key in ("code", "message", "hint"))
        except (ValueError, KeyError, TypeError, RecursionError):
            return self._no_pulsus(answer.status)
        message, hint = one_line(message, 500), one_line(hint, 500)
        if code == "NOT_SIGNED_IN" and self._token:  # the server speaks to a browser
            message = f"{self._place} is not valid at {self.address}, or has expired"
            hint = f"{token_command(self._role)}; `pulsus users tokens` lists them"
        if code in _ERRORS:
            return _ERRORS[code](message, hint=hint)
        return ServerRefused(
            f"{one_line(code, 80)}: {message}",
            hint=hint or (token_command(self._role) if answer.status in (401, 403) else ""),
            status=answer.status,
            server_code=code,
        )

    def _no_pulsus(self, status: int) -> ServerRefused:
        return ServerRefused(
            f"{self.address} answers with status {status}, and not as pulsus serve does",
            hint="is it another program? name the server with --server URL",
        )


def connect_server(address: str) -> ServerClient:
    """Return a client for the agent, with the token of the environment.

    Raises ApprovalNeeded without one.
    """
    _require_address(address)
    token = os.environ.get(TOKEN_VARIABLE, "").strip()
    if not token:
        raise ApprovalNeeded(
            f"your token is needed, and the variable {TOKEN_VARIABLE} has none",
            hint="make one on the server's machine: pulsus users token NAME --role operator",
        )
    return ServerClient(address, token, "operator", token_place(None))


def require_server(address: str) -> None:
    """Return if a server answers at the address. Raises ServerUnreachable, ServerRefused."""
    ServerClient(address, "").get("/healthz")


def _require_address(address: str) -> None:
    """Raise UsageError for an invalid address, or one to which a token would travel in clear."""
    port = address.rstrip("/").rpartition(":")[2]
    if not _ADDRESS.fullmatch(address) or (port.isdigit() and not 0 < int(port) < 65536):
        raise UsageError(
            f"{one_line(address, 200)!r} is no address of a server",
            hint="write it as http://localhost:8765",
        )
    host = urlsplit(address).hostname
    if address.startswith("http:") and host not in _LOCAL:
        raise UsageError(
            f"{host} is another machine, and the token would travel unencrypted",
            hint="use https://",
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
