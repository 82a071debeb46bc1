"""Routes of the sign-in (login), of the first user, and of signing out.

Too many sign-ins by one address or for one name are refused for a while, which is the only lockout;
the limit (10 in a minute) is in `web/server_setup.py`. The flags of the session cookie are set
here. `web/accounts/user_accounts.py` checks the password. The link that makes the first user works
once (`web/server_state.py`).
"""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qs

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from pulsus.errors import UsageError
from pulsus.web.accounts.user_accounts import LEAST_PASSWORD
from pulsus.web.accounts.web_sessions import COOKIE, SESSION_HOURS
from pulsus.web.identity import identify
from pulsus.web.pages.page_view import show_page
from pulsus.web.refusals import Refused
from pulsus.web.role_check import require_role
from pulsus.web.server_state import ServerState

_FIELD: Final = 1100
"""The longest value of a form field: the longest password, and a little more."""

_LINK_HINT: Final = (
    "sign in at /sign-in if there is a user; else start `pulsus serve` again for a new link"
)


async def sign_in_page(request: Request) -> Response:
    """`GET /sign-in`."""
    state: ServerState = request.app.state.server
    if identify(request, state) is not None:
        return RedirectResponse("/", 303)
    return show_page(request, "sign_in.html", setup=state.setup.code is not None)


async def sign_in(request: Request) -> Response:
    """`POST /sign-in`: the session cookie, or the page again."""
    state: ServerState = request.app.state.server
    form = await _form(request)
    client = request.client.host if request.client else ""
    name = form.get("name", "")
    # By address and by name: neither one address nor many may try a name at will.
    wait = max(state.sign_ins.wait_seconds(f"a:{client}"), state.sign_ins.wait_seconds(f"n:{name}"))
    if wait:
        raise Refused(
            429,
            "TOO_MANY_SIGN_INS",
            "too many sign-ins",
            "wait as long as the header Retry-After says",
            retry_after=wait,
        )
    user = await run_in_threadpool(state.accounts.check, name, form.get("password", ""))
    if user is None:
        return show_page(request, "sign_in.html", 401, failed=True, name=name, setup=False)
    return _signed_in(state, user.name)


async def sign_out(request: Request) -> Response:
    """`POST /sign-out`: the session ends on the server too."""
    state: ServerState = request.app.state.server
    person = require_role(request, state, "viewer")
    if person.session is not None:
        state.sessions.end(person.session)
    response = RedirectResponse("/sign-in", 303)
    response.delete_cookie(COOKIE)
    return response


async def setup_page(request: Request) -> Response:
    """`GET /setup/{code}`: make the first user, an approver."""
    state: ServerState = request.app.state.server
    _require_setup(state, request.path_params["code"])
    return show_page(request, "setup.html", least=LEAST_PASSWORD)


async def setup(request: Request) -> Response:
    """`POST /setup/{code}`: the first user is made, and the link is used up."""
    state: ServerState = request.app.state.server
    code = request.path_params["code"]
    _require_setup(state, code)
    form = await _form(request)
    name, password = form.get("name", ""), form.get("password", "")
    try:
        used = await run_in_threadpool(
            state.setup.use, code, lambda: state.accounts.add(name, "approver", password)
        )
    except UsageError as wrong:
        said = f"{wrong.message}: {wrong.hint}"
        return show_page(request, "setup.html", 400, least=LEAST_PASSWORD, name=name, wrong=said)
    if not used:
        raise Refused(404, "NOT_FOUND", "this link is not valid any more", _LINK_HINT)
    return _signed_in(state, name)


def _signed_in(state: ServerState, name: str) -> Response:
    response = RedirectResponse("/", 303)
    response.set_cookie(
        COOKIE,
        state.sessions.issue(name),
        max_age=int(SESSION_HOURS * 3600),
        httponly=True,
        samesite="strict",
        secure=state.secure_cookies,
    )
    return response


def _require_setup(state: ServerState, code: str) -> None:
    if not state.setup.fits(code):
        raise Refused(404, "NOT_FOUND", "this link is not valid any more", _LINK_HINT)


async def _form(request: Request) -> dict[str, str]:
    """Return the fields of a form. The last value of a name counts."""
    body = await request.body()
    try:
        fields = parse_qs(body.decode("utf-8", "replace"), True, max_num_fields=20)
    except ValueError:
        raise Refused(
            400, "FORM_WRONG", "the form has too many fields", "fill in the form of the page"
        ) from None
    return {name: values[-1][:_FIELD] for name, values in fields.items()}


ROUTES: Final = [
    Route("/sign-in", sign_in_page, methods=["GET"]),
    Route("/sign-in", sign_in, methods=["POST"]),
    Route("/sign-out", sign_out, methods=["POST"]),
    Route("/setup/{code}", setup_page, methods=["GET"]),
    Route("/setup/{code}", setup, methods=["POST"]),
]
