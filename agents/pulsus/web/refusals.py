"""JSON answers; refusals and failures all have one body and an HTTP status (contracts).

Here is decided which HTTP status an error of Pulsus gets. Other kinds of refusals are listed in
`core/compose/plans/dsl/refusal.py`.
"""

from __future__ import annotations

import json
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from pulsus.errors import (
    ApprovalUnknown,
    Busy,
    Denied,
    DiskFull,
    LlmNotConfigured,
    PlanMoved,
    PulsusError,
    RequestInvalid,
    SelfApprovalRefused,
    ToolNotFound,
    TooManyApprovals,
    UsageError,
)
from pulsus.web.protection.request_guard import MOST_BODY, error_body

_STATUS: Final[tuple[tuple[type[PulsusError], int], ...]] = (
    (ApprovalUnknown, 404),
    (ToolNotFound, 404),
    (SelfApprovalRefused, 403),
    (TooManyApprovals, 429),
    (PlanMoved, 409),
    (Denied, 403),
    (UsageError, 400),
    (RequestInvalid, 400),
    (LlmNotConfigured, 503),
    (Busy, 503),
    (DiskFull, 507),
)


class AsciiJson(JSONResponse):
    """A JSON answer in ASCII: the name of a file that is no UTF-8 cannot break it."""

    def render(self, content: Any) -> bytes:
        """Return the body."""
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


class Refused(Exception):
    """A request that is answered with a status, an error code, the reason, and the fix (`hint`)."""

    def __init__(
        self, status: int, code: str, message: str, hint: str, *, retry_after: float = 0.0
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.hint = status, code, message, hint
        self.retry_after = retry_after


def http_status(error: PulsusError) -> int:
    """Return the HTTP status of an error of Pulsus; 500 for one that is no fault of the client."""
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


async def answer_refused(request: Request, error: Exception) -> Response:
    """Answer a Refused."""
    assert isinstance(error, Refused)
    headers = {"Retry-After": str(int(error.retry_after) + 1)} if error.retry_after else None
    body = error_body(error.code, error.message, error.hint)
    return AsciiJson(body, error.status, headers)


async def answer_pulsus_error(request: Request, error: Exception) -> Response:
    """Answer a PulsusError. Its texts are made for users, and hold no secret."""
    assert isinstance(error, PulsusError)
    return AsciiJson(error_body(error.code, error.message, error.hint), http_status(error))


async def answer_too_large(request: Request, error: Exception) -> Response:
    """Answer a body that is too large."""
    message, hint = f"the request has more than {MOST_BODY} bytes", "send less at once"
    return AsciiJson(error_body("BODY_TOO_LARGE", message, hint), 413)


async def answer_not_found(request: Request, error: Exception) -> Response:
    """Answer an unknown address or a wrong method."""
    status = getattr(error, "status_code", 404)
    code = {404: "NOT_FOUND", 405: "METHOD_NOT_ALLOWED"}.get(status, "REQUEST_REFUSED")
    message = getattr(error, "detail", "not found")
    headers = getattr(error, "headers", None)
    hint = "/openapi.json lists the addresses and their methods"
    body = error_body(code, f"{message}: {request.url.path[:200]}", hint)
    return AsciiJson(body, status, headers)
