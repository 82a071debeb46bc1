"""Check the role (viewer, operator, approver) that a page or route needs, and the CSRF token.

Each route names its role: only an approver decides on cards (`web/api/approval_routes.py`). The
order of the roles is in `web/accounts/user_accounts.py`. The approval of an own request (four eyes)
is refused in `approvals/cards/waiting_approvals.py`.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING, Final

from starlette.requests import Request

from pulsus.web.accounts.user_accounts import Role
from pulsus.web.identity import Identity, identify
from pulsus.web.refusals import Refused

if TYPE_CHECKING:
    from pulsus.web.server_state import ServerState

CSRF_HEADER: Final = "x-csrf-token"
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})


def require_role(request: Request, state: ServerState, role: Role) -> Identity:
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
