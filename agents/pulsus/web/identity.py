"""The sender of a request, by a session cookie or a bearer token, and its rights.

`role_check.py` refuses a sender without the role that a route needs. A bearer token has its own
role, and may do no more than its user. An approver may follow the runs of every user.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import Request

from pulsus.fast_dataclass import dataclass
from pulsus.web.accounts.user_accounts import ROLES, Role, User
from pulsus.web.accounts.web_sessions import COOKIE, WebSession

if TYPE_CHECKING:
    from pulsus.web.server_state import ServerState


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
