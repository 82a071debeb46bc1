"""A client of a running `pulsus serve`, for commands of a person. Effect: HTTP, bounded.

The token of the person is sent as a bearer token. It is in no error, log or address.
"""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from pulsus.core.telemetry.sanitize import one_line
from pulsus.errors import (
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

_MOST_BYTES: Final = 16 << 20
_SECONDS: Final = 30.0
LONGEST_SECONDS: Final = 24 * 3600.0
"""An approved plan is carried out before the server answers: each action may take minutes."""

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
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True)
class ApprovalClient:
    """Sends requests of one person to one server. `repr` does not show the token."""

    address: str
    token: str = field(repr=False)

    def __post_init__(self) -> None:
        """Check the address and the token. Raises UsageError."""
        parts = urlsplit(self.address)
        try:
            port_is_valid = parts.port is None or parts.port > 0
        except ValueError:
            port_is_valid = False
        if parts.scheme not in ("http", "https") or not parts.hostname or not port_is_valid:
            raise UsageError(
                f"{one_line(self.address, 200)!r} is no address of a server",
                hint="write it as http://localhost:8765",
            )
        if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
            raise UsageError(
                f"{parts.hostname} is another machine, and the token would travel unencrypted",
                hint="use https://",
            )
        if not self.token.isascii() or not self.token.isprintable() or " " in self.token:
            raise UsageError("the token has characters that no token has", hint=_TOKEN_HINT)

    def get(self, path: str) -> Any:
        """Return the JSON at a path. Raises ServerUnreachable and what the server refuses with."""
        return self._ask("GET", path, None, _SECONDS)

    def post(self, path: str, body: dict[str, Any], seconds: float = _SECONDS) -> Any:
        """Return the JSON that answers a change. Raises as `get` does."""
        return self._ask("POST", path, body, seconds)

    def _ask(self, method: str, path: str, body: dict[str, Any] | None, seconds: float) -> Any:
        parts = urlsplit(self.address)
        kind = (
            http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        )
        connection = kind(str(parts.hostname), parts.port, timeout=seconds)
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        try:
            connection.request(
                method, path, json.dumps(body) if body is not None else None, headers
            )
            answer = connection.getresponse()
            data = answer.read(_MOST_BYTES + 1)
        except (OSError, http.client.HTTPException) as failure:
            why = getattr(failure, "strerror", None) or type(failure).__name__
            raise ServerUnreachable(
                f"no pulsus serve answers at {self.address}: {why}",
                hint="start it with `pulsus serve`, or name another one with --server URL",
                address=self.address,
            ) from None
        finally:
            connection.close()
        return _read(self.address, answer.status, data)


_TOKEN_HINT: Final = "make one: pulsus users token NAME --role approver"


def require_server(address: str) -> None:
    """Return if a server answers at the address. Raises ServerUnreachable, ServerRefused."""
    ApprovalClient(address, "").get("/healthz")


def _read(address: str, status: int, data: bytes) -> Any:
    """Return the JSON of an answer. Raises the error that it holds."""
    try:
        found = json.loads(data) if len(data) <= _MOST_BYTES else None
    except ValueError:
        found = None
    if status == 200 and found is not None:
        return found
    error = found.get("error") if isinstance(found, dict) else None
    if not isinstance(error, dict):
        raise ServerRefused(
            f"{address} answers with status {status}, and not as pulsus serve does",
            hint="is it another program? name the server with --server URL",
        )
    code, message = str(error.get("code", "")), one_line(str(error.get("message", "")), 500)
    hint = one_line(str(error.get("hint", "")), 500)
    if code in _ERRORS:
        raise _ERRORS[code](message, hint=hint)
    raise ServerRefused(
        f"{code}: {message}",
        hint=hint or (_TOKEN_HINT if status in (401, 403) else ""),
        status=status,
        server_code=code,
    )
