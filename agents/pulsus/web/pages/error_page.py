"""Show a refusal as a page to a browser that asked for one; programs get the JSON body.

The status and the text of an error are decided in `web/refusals.py`.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response

from pulsus.web.identity import identify
from pulsus.web.pages.page_view import show_page

AnswerError = Callable[[Request, Exception], Awaitable[Response]]


def as_page(answer: AnswerError) -> AnswerError:
    """Return `answer` with a page in place of the JSON body, where a person would read it."""

    async def shown(request: Request, error: Exception) -> Response:
        response = await answer(request, error)
        accepts = request.headers.get("accept", "")
        if "text/html" not in accepts or request.url.path.startswith("/api/"):
            return response
        said = json.loads(bytes(response.body))["error"]
        person = identify(request, request.app.state.server)
        signed_in = person if person is not None and person.session is not None else None
        page = show_page(request, "error.html", response.status_code, said=said, person=signed_in)
        if "retry-after" in response.headers:
            page.headers["Retry-After"] = response.headers["retry-after"]
        return page

    return shown
