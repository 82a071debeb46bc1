"""API tokens of clients that are no browsers: one role each, revocable (contracts). Effect: files.

A token is shown once, when it is made, and expires after 1 to 366 days (the default, 90, is in
`cli/serve/users_command.py`). The number of tokens has no limit. `check` refuses an expired or
revoked one. `.pulsus/accounts/tokens.json` has its SHA-256 hash. The commands send one by
`cli/server_client.py`. The token that opens one approval card is another one:
`approvals/cards/one_time_token.py`.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from pulsus.approvals.cards.one_time_token import hash_token
from pulsus.core.telemetry.ids import Clock, utc_now
from pulsus.core.types import JsonValue
from pulsus.errors import UsageError
from pulsus.fast_dataclass import dataclass
from pulsus.web.accounts.account_file import AccountFile
from pulsus.web.accounts.user_accounts import ROLES, Role

FILE: Final = "tokens.json"
PREFIX: Final = "pulsus_"
"""Begins every token, so that scanners for leaked secrets find it."""

_MOST_DAYS: Final = 366


@dataclass(frozen=True, slots=True)
class BearerToken:
    """A token on record. Times are ISO 8601 in UTC. It may do what `role` and its user both may."""

    id: str
    user: str
    role: Role
    sha256: str
    created_at: str
    expires_at: str
    revoked: bool = False


class BearerTokens:
    """The tokens of one project. Safe for use by several threads of one process."""

    def __init__(self, state_dir: Path, clock: Clock = utc_now) -> None:
        self._clock, self._file = clock, AccountFile(state_dir, FILE)
        self._lock = threading.Lock()
        self._known: dict[str, BearerToken] = {}

    @property
    def _tokens(self) -> dict[str, BearerToken]:
        """Return the tokens on record: another process may have changed them."""
        with self._lock:
            if self._file.is_newer():
                self._known = self._file.load(_read_tokens)
            return self._known

    def tokens(self) -> tuple[BearerToken, ...]:
        """Return all tokens on record, the oldest first."""
        return tuple(self._tokens.values())

    def make(self, user: str, role: Role, days: int) -> tuple[str, BearerToken]:
        """Return a new token and its record. Raises UsageError for a term out of range."""
        if not 1 <= days <= _MOST_DAYS:
            raise UsageError(f"a token is valid for 1 to {_MOST_DAYS} days, not {days}")
        token, now = PREFIX + secrets.token_hex(32), self._clock()
        kept = BearerToken(
            f"tok-{secrets.token_hex(4)}",
            user,
            role,
            hash_token(token).hex(),
            now.isoformat(timespec="seconds"),
            (now + timedelta(days=days)).isoformat(timespec="seconds"),
        )
        with self._file.locked():
            self._save({**self._tokens, kept.id: kept})
        return token, kept

    def revoke(self, token_id: str) -> None:
        """End a token at once. Raises UsageError for an unknown id."""
        with self._file.locked():
            tokens = self._tokens
            if token_id not in tokens:
                raise UsageError(
                    f"there is no token {token_id!r}", hint="`pulsus users tokens` lists them"
                )
            self._save({**tokens, token_id: replace(tokens[token_id], revoked=True)})

    def check(self, token: str) -> BearerToken | None:
        """Return the record of a token that is valid now."""
        if not token.startswith(PREFIX):
            return None
        wanted, now = hash_token(token).hex(), self._clock()
        for each in self._tokens.values():
            if secrets.compare_digest(each.sha256, wanted):
                ends = datetime.fromisoformat(each.expires_at)
                return None if each.revoked or now >= ends else each
        return None

    def _save(self, tokens: dict[str, BearerToken]) -> None:
        rows: list[JsonValue] = [
            {
                "id": each.id,
                "user": each.user,
                "role": each.role,
                "sha256": each.sha256,
                "created_at": each.created_at,
                "expires_at": each.expires_at,
                "revoked": each.revoked,
            }
            for each in tokens.values()
        ]
        self._file.save("tokens", rows)


def _read_tokens(data: Mapping[str, Any]) -> dict[str, BearerToken]:
    found = [BearerToken(**row) for row in data["tokens"]]
    for each in found:
        datetime.fromisoformat(each.expires_at)
        if each.role not in ROLES:
            raise ValueError(f"token {each.id!r} has no valid role")
    return {each.id: each for each in found}
