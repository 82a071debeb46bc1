"""Check whether a URL answers, with which HTTP status and how quickly.

Sends one GET (or HEAD) request and follows redirects between http and https pages; a redirect from
https back to http, or to anything else, counts as a failure. Up to 1 MiB of the answer is read, to
look for `contains` and to see that it arrives. Proxies in the environment are not used. A site
that does not answer is a result with `ok` false and an `error`, not an exception.

Args:
    url (str): An http or https address, without user name and password.
    expect_status (int): The status the page must have; 0 accepts any from 200 to 299.
    contains (str): Text the page must contain; empty means any page.
    max_milliseconds (float): The answer must be complete within this time; 0 means no limit.
    timeout_seconds (float): How long to wait for the connection and for the whole answer.
    method (str): `GET` or `HEAD`.
    follow_redirects (bool): Ask on where the page was moved to; otherwise report the redirect.
    verify_tls (bool): Refuse certificates that are not trusted.

Returns:
    ok (bool): Whether it answered as expected.
    status (int): HTTP status; null where nothing answered.
    milliseconds (float): Time to the end of the answer.
    first_byte_ms (float): Time to the first byte of the answer; null where nothing answered.
    bytes (int): How much of the page was read.
    content_type (str): The kind of page; null where the server does not say.
    final_url (str): Where redirects led to.
    redirects (list[str]): The addresses in between.
    error (str): Why it is not ok; null where it is.

Side effects:
    Sends a request that the server may log.

Kind: read

Effects:
    paths: none
    hosts: the host of the URL and those it redirects to
    commands: none

Secrets: none

Examples:
    - title: nobody listens
      inputs: {url: "http://127.0.0.1:9/", timeout_seconds: 2}
      output:
        ok: false
        status: null
        milliseconds: ...
        first_byte_ms: null
        bytes: 0
        content_type: null
        final_url: http://127.0.0.1:9/
        redirects: []
        error: ...
"""

from __future__ import annotations

import http.client
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

MOST = 1 << 20
MOVED = (301, 302, 303, 307, 308)


class Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects within http and https and remembers them."""

    def __init__(self, follow: bool) -> None:
        self.follow = follow
        self.visited: list[str] = []

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        if not self.follow:
            return None
        scheme = urllib.parse.urlsplit(newurl).scheme
        if scheme not in ("http", "https") or (req.type == "https" and scheme == "http"):
            fp.close()
            raise urllib.error.URLError(f"redirect from {req.type} to {scheme} was not followed")
        self.visited.append(req.full_url)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def run(
    url: str,
    expect_status: int = 0,
    contains: str = "",
    max_milliseconds: float = 0.0,
    timeout_seconds: float = 10.0,
    method: str = "GET",
    follow_redirects: bool = True,
    verify_tls: bool = True,
) -> dict[str, Any]:
    """Ask once and say how it went."""
    _check(url, method, timeout_seconds)
    redirects = Redirects(follow_redirects)
    opener = _opener(redirects, verify_tls)
    request = urllib.request.Request(url, method=method, headers={"User-Agent": "pulsus-health"})
    answer: dict[str, Any] = {"status": None, "first_byte_ms": None, "content_type": None}
    answer |= {"bytes": 0, "final_url": url, "error": None}
    body = b""
    begun = time.monotonic()
    try:
        try:
            response = opener.open(request, timeout=timeout_seconds)
        except urllib.error.HTTPError as error:
            response = error
            if follow_redirects and error.code in MOVED and error.headers.get("Location"):
                why = str(error.reason).partition("\n")[0]
                answer["error"] = f"the redirect was not followed: {why}"
        with response:
            answer["first_byte_ms"] = _since(begun)
            answer |= {"status": response.status, "final_url": response.url}
            answer["content_type"] = response.headers.get("Content-Type")
            while len(body) < MOST and (part := response.read1(65_536)):
                body += part
                if time.monotonic() - begun > timeout_seconds:
                    raise TimeoutError
            missing_bytes = getattr(response, "length", None) or 0
            if len(body) < MOST and missing_bytes:
                answer["error"] = f"the answer broke off {missing_bytes} bytes before its end"
    except TimeoutError:
        answer["error"] = f"no complete answer within {timeout_seconds} seconds"
    except urllib.error.URLError as error:
        answer["error"] = _reason(error.reason, timeout_seconds)
    except (OSError, http.client.HTTPException, ValueError, OverflowError) as error:
        # The last two: a redirect to an address that is none.
        answer["error"] = f"{type(error).__name__}: {error}"
    spent = _since(begun)
    answer |= {"milliseconds": spent, "bytes": len(body), "redirects": redirects.visited}
    if answer["error"] is None:
        late = 0 < max_milliseconds < spent
        missing = bool(contains) and contains.encode() not in body
        answer["error"] = _complaint(answer["status"], expect_status, late, missing)
    return {"ok": answer["error"] is None} | answer


def _check(url: str, method: str, timeout_seconds: float) -> None:
    try:
        parts = urllib.parse.urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ValueError(f"the url cannot be read ({error}): give host and port plainly") from None
    if "@" in parts.netloc:
        raise ValueError(f"the url of {parts.hostname} holds a user name: give it without one")
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise ValueError(f"url {url!r} is no web address: give one that starts with https://")
    if not url.isascii() or not url.isprintable() or " " in url:
        raise ValueError(f"url {url!r} holds spaces or non-ASCII letters: percent-encode them")
    if method not in ("GET", "HEAD"):
        raise ValueError(f"method {method!r} is not allowed: give GET or HEAD")
    if not timeout_seconds > 0:
        raise ValueError(f"timeout_seconds {timeout_seconds} is no time: give more than 0")


def _opener(redirects: Redirects, verify_tls: bool) -> urllib.request.OpenerDirector:
    """Knows http and https alone: no files, no ftp, no proxies."""
    context = ssl.create_default_context()
    if not verify_tls:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(context=context),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        redirects,
    ):
        opener.add_handler(handler)
    return opener


def _complaint(status: int, expected: int, late: bool, missing: bool) -> str | None:
    if expected and status != expected:
        return f"status is {status}, expected {expected}"
    if not expected and not 200 <= status <= 299:
        return f"status is {status}, expected 200 to 299"
    if missing:
        return "the page does not contain the expected text"
    return "the answer took longer than allowed" if late else None


def _reason(reason: object, timeout_seconds: float) -> str:
    if isinstance(reason, TimeoutError):
        return f"no answer within {timeout_seconds} seconds"
    return (
        getattr(reason, "verify_message", None) or getattr(reason, "strerror", None) or str(reason)
    )


def _since(begun: float) -> float:
    return round((time.monotonic() - begun) * 1000, 3)
