"""The sender of a request and its rights: a session cookie, or a bearer token."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING, Final

from starlette.requests import Request

from pulsus.fast_dataclass import dataclass
from pulsus.web.accounts.user_accounts import ROLES, Role, User
from pulsus.web.accounts.web_sessions import COOKIE, WebSession
from pulsus.web.refusals import Refused

if TYPE_CHECKING:
    from pulsus.web.server_state import ServerState

CSRF_HEADER: Final = "x-csrf-token"
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True, slots=True)
class Identity:
    """The sender of one request. `session` is None for a client with a token."""

    user: User
    role: Role
    session: WebSession | None = None

    @property
    def name(self) -> str:
        """Return the user's name."""
        return self.user.name

    def may(self, role: Role) -> bool:
        """Return True if this request may do what `role` may."""
        return self.user.may(role) and ROLES.index(self.role) >= ROLES.index(role)

    def may_follow(self, user: str) -> bool:
        """Return True if this request may read the agent runs of `user`: own ones, or all."""
        return user == self.name or self.may("approver")


def identify(request: Request, state: ServerState) -> Identity | None:
    """Return the sender, or None. A token counts before a cookie."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme:
        known = state.tokens.check(token.strip()) if scheme.casefold() == "bearer" else None
        user = state.accounts.get(known.user) if known is not None else None
        return Identity(user, known.role) if known is not None and user is not None else None
    session = state.sessions.read(request.cookies.get(COOKIE, ""))
    user = state.accounts.get(session.user) if session is not None else None
    return Identity(user, user.role, session) if user is not None else None


def require(request: Request, state: ServerState, role: Role) -> Identity:
    """Return the sender of a request that `role` may make.

    Raises Refused: 401 without a valid session or token, 403 for another role, or for a change by a
    page that does not send its CSRF token.
    """
    found = identify(request, state)
    if found is None:
        raise Refused(
            401,
            "NOT_SIGNED_IN",
            "sign in first, or send a valid token",
            "open /sign-in, or make a token: pulsus users token NAME --role ROLE",
        )
    if not found.may(role):
        raise Refused(
            403,
            "ROLE_MISSING",
            f"this needs the role {role}, and you have {found.role}",
            "use another user or token: `pulsus users list` and `pulsus users tokens` show roles",
        )
    if found.session is not None and request.method not in _SAFE:
        sent = request.headers.get(CSRF_HEADER, "")
        if not hmac.compare_digest(sent.encode(), found.session.csrf.encode()):
            raise Refused(403, "CSRF_TOKEN_WRONG", "the page is out of date", "load it again")
    return found
