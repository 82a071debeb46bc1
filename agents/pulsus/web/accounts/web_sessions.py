"""Sessions of signed-in browsers: signed cookies that end with the server (contracts). Pure.

A session expires 12 hours after the sign-in, also if it is in use: there is no idle timeout. `end`
is the logout. The key is made at the start, so a restart signs everyone out. The user's role is
looked up at each request (`web/identity.py`). The flags of the cookie (HttpOnly, SameSite, Secure)
are set in `web/pages/sign_in_routes.py`.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
from collections.abc import Callable
from typing import Final

from pulsus.fast_dataclass import dataclass

COOKIE: Final = "pulsus_session"
SESSION_HOURS: Final = 12.0
_ALGORITHM: Final = "HS256"


@dataclass(frozen=True, slots=True)
class WebSession:
    """A session that is valid now. `csrf` is what its pages send with each change."""

    user: str
    session_id: str
    csrf: str


class WebSessions:
    """Issues and reads the sessions of one server. `now` is the time in seconds since 1970."""

    def __init__(self, now: Callable[[], float], *, hours: float = SESSION_HOURS) -> None:
        self._key, self._now, self._seconds = secrets.token_bytes(32), now, hours * 3600
        self._ended: set[str] = set()
        self._lock = threading.Lock()

    def issue(self, user: str) -> str:
        """Return the cookie of a new session."""
        import jwt

        now = int(self._now())
        claims = {
            "sub": user,
            "sid": secrets.token_hex(16),
            "iat": now,
            "exp": now + int(self._seconds),
        }
        return jwt.encode(claims, self._key, algorithm=_ALGORITHM)

    def read(self, cookie: str) -> WebSession | None:
        """Return the session of a cookie; None for one that is forged, ended or expired."""
        import jwt

        try:
            claims = jwt.decode(
                cookie,
                self._key,
                algorithms=[_ALGORITHM],
                options={
                    "require": ["sub", "sid", "exp"],
                    "verify_exp": False,
                    "verify_iat": False,
                },
            )
        except jwt.InvalidTokenError:
            return None
        user, session_id, ends = claims["sub"], claims["sid"], claims["exp"]
        if self._now() >= ends or session_id in self._ended:
            return None
        return WebSession(user, session_id, self._csrf(session_id))

    def end(self, session: WebSession) -> None:
        """Sign a session out."""
        with self._lock:
            self._ended.add(session.session_id)

    def _csrf(self, session_id: str) -> str:
        return hmac.new(self._key, b"csrf:" + session_id.encode(), hashlib.sha256).hexdigest()
