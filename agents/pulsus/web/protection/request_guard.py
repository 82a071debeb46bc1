"""Refuse requests that come from elsewhere or are too large; set the security headers of answers.

A page of another site must not use this server through the user's browser: not by DNS rebinding
(the Host header is checked against the names that the server was started with), not by a form or a
script (the Origin of every change is checked). A body has at most 256 KiB. The headers are CSP and
its like, also against clickjacking; no header allows another origin (CORS). Who sends a request is
found by `web/identity.py`; the role that a page needs, and the CSRF token, are checked by
`web/role_check.py`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BODY: Final = 256 * 1024
_CHANGES: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_METHODS: Final = _CHANGES | {"GET", "HEAD", "OPTIONS"}

HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # "no-referrer" would make browsers send `Origin: null` with each form.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


def error_body(code: str, message: str, hint: str) -> dict[str, object]:
    """Return the JSON body of every refusal."""
    return {"error": {"code": code, "message": message, "hint": hint}}


class RequestGuard:
    """ASGI middleware. `hosts` are the names of this server with their port, in lower case."""

    def __init__(self, app: ASGIApp, hosts: Collection[str], *, tls: bool = False) -> None:
        self._app, self._hosts = app, frozenset(hosts)
        self._scheme = "https" if tls else "http"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it with a refusal."""
        if scope["type"] != "http":
            # Nothing here uses web sockets.
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        guarded = _with_headers(send)
        refusal = self._refusal(scope["method"], headers)
        if refusal is not None:
            await refusal(scope, receive, guarded)
            return
        await self._app(scope, _limited(receive), guarded)

    def _refusal(self, method: str, headers: Headers) -> JSONResponse | None:
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].casefold() not in self._hosts:
            return _refused(
                421,
                "HOST_UNKNOWN",
                "this server does not have the name that the header Host of the request gives",
                "use the address that `pulsus serve` printed, or start it with --name HOST",
            )
        if method not in _METHODS:
            return _refused(
                405,
                "METHOD_NOT_ALLOWED",
                f"{method[:20]} is not allowed",
                f"use one of {', '.join(sorted(_METHODS))}",
            )
        if method in _CHANGES and not self._is_own(headers, hosts[0]):
            return _refused(
                403,
                "ORIGIN_REFUSED",
                "the request comes from a page of another site",
                "open the page of this server, at the address that `pulsus serve` printed",
            )
        length = headers.get("content-length", "0")
        if not length.isascii() or not length.isdigit() or int(length[:20]) > MOST_BODY:
            return _refused(
                413,
                "BODY_TOO_LARGE",
                f"a request says its length, which is at most {MOST_BODY} bytes: {length[:20]!r}",
                "send less at once",
            )
        return None

    def _is_own(self, headers: Headers, host: str) -> bool:
        """Return True for a change from an own page, or from a client that is no browser."""
        site = headers.get("sec-fetch-site")
        if site not in (None, "same-origin", "none"):
            return False
        origin = headers.get("origin")
        if origin is None:
            # Browsers send one with each change: without it only a token counts.
            return True
        try:
            found = urlsplit(origin)
        except ValueError:  # such as an address with half of its brackets
            return False
        return found.scheme == self._scheme and found.netloc.casefold() == host.casefold()


def _refused(status: int, code: str, message: str, hint: str) -> JSONResponse:
    return JSONResponse(error_body(code, message, hint), status)


def _with_headers(send: Send) -> Send:
    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            if "cache-control" not in headers:
                headers["Cache-Control"] = "no-store"
        await send(message)

    return guarded


class BodyTooLarge(Exception):
    """A body without a declared length is longer than the limit."""


def _limited(receive: Receive) -> Receive:
    seen = 0

    async def limited() -> Message:
        nonlocal seen
        message = await receive()
        if message["type"] == "http.request":
            seen += len(message.get("body", b""))
            if seen > MOST_BODY:
                raise BodyTooLarge
        return message

    return limited
