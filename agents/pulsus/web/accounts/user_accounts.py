"""The local users of the server and their roles, in `.pulsus/accounts/`. Effect: files.

Passwords are kept as argon2id hashes only. `add` refuses a short password, a name that is taken,
and more than 1,000 users. No failed sign-in locks an account: `web/pages/sign_in_routes.py` limits
how often one may be tried. The last approver may be disabled too; `cli/serve/users_command.py` then
warns. The role that a request needs is checked in `web/role_check.py`.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Literal, get_args

from pulsus.core.text.plurals import counted
from pulsus.core.types import JsonValue
from pulsus.errors import UsageError
from pulsus.fast_dataclass import dataclass
from pulsus.web.accounts.account_file import AccountFile

Role = Literal["viewer", "operator", "approver"]
"""A viewer sees, an operator also starts agent runs, an approver also decides."""

ROLES: Final[tuple[Role, ...]] = get_args(Role)

FILE: Final = "users.json"
LEAST_PASSWORD: Final = 12
MOST_PASSWORD: Final = 1024
_MOST_USERS: Final = 1000
_KEYS: Final = ("name", "role", "password_hash", "enabled")
_NAME: Final = re.compile(r"[a-z][a-z0-9._-]{0,31}")


@dataclass(frozen=True, slots=True)
class User:
    """One person. `password_hash` is an argon2id hash with its parameters."""

    name: str
    role: Role
    password_hash: str
    enabled: bool = True

    def __repr__(self) -> str:
        """Return a text without the hash."""
        return f"User({self.name!r}, {self.role!r})"

    def may(self, role: Role) -> bool:
        """Return True if this person may do what `role` may."""
        return self.enabled and ROLES.index(self.role) >= ROLES.index(role)


class UserAccounts:
    """The users of one project. Safe for use by several threads of one process."""

    def __init__(self, state_dir: Path) -> None:
        from argon2 import PasswordHasher

        self._hasher = PasswordHasher()
        self._lock = threading.Lock()
        # A name that does not exist costs as much time as a wrong password.
        self._unknown = self._hasher.hash("no user has this password")
        self._file = AccountFile(state_dir, FILE)
        self._known: dict[str, User] = {}

    @property
    def _users(self) -> dict[str, User]:
        """Return the users on record: another process may have changed them."""
        with self._lock:
            if self._file.is_newer():
                self._known = self._file.load(_read_users)
            return self._known

    def users(self) -> tuple[User, ...]:
        """Return all users by name. Raises StateCorrupt, as every method."""
        return tuple(sorted(self._users.values(), key=lambda user: user.name))

    def get(self, name: str) -> User | None:
        """Return the enabled user of that name."""
        user = self._users.get(name)
        return user if user is not None and user.enabled else None

    def approvers(self) -> int:
        """Return how many people may approve."""
        return sum(user.may("approver") for user in self._users.values())

    def add(self, name: str, role: Role, password: str) -> User:
        """Add a user. Raises UsageError for a bad or taken name, or a short password."""
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"{name!r} is no user name",
                hint="use 1 to 32 of a-z, 0-9, dot, hyphen and underscore; begin with a letter",
            )
        if not LEAST_PASSWORD <= len(password) <= MOST_PASSWORD:
            raise UsageError(
                f"the password has {counted(len(password), 'character')}",
                hint=f"use {LEAST_PASSWORD} to {MOST_PASSWORD}",
            )
        user = User(name, role, self._hasher.hash(password))
        with self._file.locked():
            users = self._users
            if name in users:
                enable = f", or let this one in: pulsus users enable {name}"
                raise UsageError(
                    f"there is a user {name!r} already",
                    hint="a password or a role cannot be changed: choose another name"
                    + ("" if users[name].enabled else enable),
                )
            if len(users) >= _MOST_USERS:
                raise UsageError(f"there are {_MOST_USERS} users already")
            self._save({**users, name: user})
        return user

    def disable(self, name: str) -> User:
        """Lock a user out. Sessions and tokens of this user end at once. Raises UsageError."""
        return self._set_enabled(name, enabled=False)

    def enable(self, name: str) -> User:
        """Let a disabled user sign in again, as before. Raises UsageError."""
        return self._set_enabled(name, enabled=True)

    def _set_enabled(self, name: str, *, enabled: bool) -> User:
        with self._file.locked():
            users = self._users
            if name not in users:
                raise UsageError(
                    f"there is no user {name!r}",
                    hint="correct the name; `pulsus users list` shows every user",
                )
            changed = replace(users[name], enabled=enabled)
            self._save({**users, name: changed})
        return changed

    def check(self, name: str, password: str) -> User | None:
        """Return the enabled user with this password, or None."""
        from argon2.exceptions import InvalidHashError, VerificationError

        user = self._users.get(name)
        kept = user.password_hash if user is not None else self._unknown
        try:
            self._hasher.verify(kept, password[:MOST_PASSWORD])
        except (VerificationError, InvalidHashError):
            return None
        return user if user is not None and user.enabled else None

    def _save(self, users: dict[str, User]) -> None:
        rows: list[JsonValue] = [
            {
                "name": user.name,
                "role": user.role,
                "password_hash": user.password_hash,
                "enabled": user.enabled,
            }
            for user in users.values()
        ]
        self._file.save("users", rows)


def _read_users(data: Mapping[str, Any]) -> dict[str, User]:
    users: dict[str, User] = {}
    for row in data["users"]:
        name, role, kept, enabled = (row[key] for key in _KEYS)
        if role not in ROLES or not _NAME.fullmatch(name) or name in users:
            raise ValueError(f"user {name!r} is not valid, or is there twice")
        if not isinstance(kept, str) or not isinstance(enabled, bool):
            raise TypeError(f"user {name!r} has a value of the wrong type")
        users[name] = User(name, role, kept, enabled)
    return users
