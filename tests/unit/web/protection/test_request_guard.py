"""A change is taken from an own page only, and no header breaks the guard."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("starlette")

HOST = "localhost:8765"


def status_of(*headers, method="POST"):
    """Return the status of the answer to a request with these headers, 200 if it is passed on."""
    from starlette.responses import Response

    from pulsus.web.protection.request_guard import RequestGuard

    answers = []

    async def receive():
        return {"type": "http.request", "body": b""}

    async def send(message):
        answers.append(message)

    sent = [(name.encode(), value.encode("latin-1")) for name, value in headers]
    scope = {"type": "http", "method": method, "path": "/", "headers": sent}
    asyncio.run(RequestGuard(Response(), [HOST])(scope, receive, send))
    return answers[0]["status"]


@pytest.mark.parametrize(
    "origin",
    ["http://[", "http://[x]", "http://]:1", "null", "", "http://evil.example", "http://\xe9["],
)
def test_a_change_with_a_broken_origin_is_refused_and_is_no_fault(origin):
    assert status_of(("host", HOST), ("origin", origin)) == 403


def test_a_change_of_an_own_page_is_passed_on():
    assert status_of(("host", HOST), ("origin", f"http://{HOST}")) == 200


@pytest.mark.parametrize("length", ["-1", "\xb2", "9" * 30, "1e3", ""])
def test_a_length_that_is_no_number_is_refused_and_is_no_fault(length):
    assert status_of(("host", HOST), ("content-length", length)) == 413


@pytest.mark.parametrize("host", ["evil.example", "localhost", "[", ""])
def test_an_unknown_host_is_refused(host):
    assert status_of(("host", host), method="GET") == 421
