"""Session grants: "allow this call again", as narrow as the call that was approved.

"Allow for this session" is kept here (`/grants` in `cli/agent/slash_commands.py` lists and revokes
it), and expires after `agent.grant_minutes` (`config/settings.py`). A grant covers the same parsed
program, options, target and risk, for at most an hour. High risk, unknown destinations and
migrations get no grant: such a request has no key.

Which calls may be granted is decided in `build_call_question.py`, which commands in
`gates/repeated_commands.py`. If a grant covers a call is asked by `call_verdict.py`;
`person_asker.py` gives grants.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Literal

from pulsus.agent.call_digest import call_digest
from pulsus.commands.shell.script_parser import parse_command
from pulsus.commands.shell.words import Unreadable
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass
from pulsus.gates.approval_risk import ApprovalRisk

GrantChange = Literal["granted", "used", "revoked", "expired"]


@dataclass(frozen=True, slots=True)
class SessionGrant:
    """One grant. `command` is what the person saw; `expires` is in seconds of the clock."""

    grant_id: str
    key: str
    command: str
    risk_level: ApprovalRisk
    expires: float


RecordGrant = Callable[[GrantChange, SessionGrant], None]
"""Writes a change of a grant to the record of the run."""


class SessionGrants:
    """The grants of one session, in memory. Safe for use by several threads."""

    def __init__(
        self,
        clock: Callable[[], float],
        *,
        minutes: float,
        record: RecordGrant = lambda change, grant: None,
    ) -> None:
        self._clock, self._seconds, self._record = clock, min(minutes, 60.0) * 60, record
        self._grants: dict[str, SessionGrant] = {}
        self._numbers = count(1)
        self._lock = threading.Lock()

    def add(self, key: str, command: str, risk_level: ApprovalRisk) -> SessionGrant | None:
        """Return a new grant, or None if this call cannot have one."""
        if not key or risk_level == "high" or self._seconds <= 0:
            return None
        with self._lock:
            expires = self._clock() + self._seconds
            name = f"grant-{next(self._numbers)}"
            grant = SessionGrant(name, key, command, risk_level, expires)
            self._grants[key] = grant
        self._record("granted", grant)
        return grant

    def find(self, key: str, risk_level: ApprovalRisk) -> SessionGrant | None:
        """Return the grant that covers exactly this call, or None."""
        if not key:
            return None
        for grant in self._drop_expired():
            self._record("expired", grant)
        with self._lock:
            grant_or_none = self._grants.get(key)
        if grant_or_none is None or grant_or_none.risk_level != risk_level:
            return None
        self._record("used", grant_or_none)
        return grant_or_none

    def shown(self) -> tuple[SessionGrant, ...]:
        """Return the grants that hold now."""
        for grant in self._drop_expired():
            self._record("expired", grant)
        with self._lock:
            return tuple(self._grants.values())

    def revoke(self, grant_id: str) -> bool:
        """Take a grant back. Returns False for an unknown one."""
        with self._lock:
            found = next((g for g in self._grants.values() if g.grant_id == grant_id), None)
            if found is None:
                return False
            del self._grants[found.key]
        self._record("revoked", found)
        return True

    def _drop_expired(self) -> list[SessionGrant]:
        with self._lock:
            now = self._clock()
            gone = [grant for grant in self._grants.values() if now >= grant.expires]
            for grant in gone:
                del self._grants[grant.key]
            return gone


def grant_key(
    tool: str,
    args: Mapping[str, JsonValue],
    resource_ids: Sequence[str],
    risk_level: ApprovalRisk,
    version: str,
) -> str:
    """Return what a grant for this call covers, or an empty text if its command cannot be read.

    Two commands that the shell reads alike have one key. `version` names the policy and the tool's
    file: a change of either ends the grant.
    """
    plain = dict(args)
    command = plain.get("command")
    if isinstance(command, str) and command:
        try:
            plain["command"] = repr(parse_command(command))
        except Unreadable:
            return ""
    digest = call_digest(tool, plain)
    text = "\n".join([digest, risk_level, version, *resource_ids])
    return hashlib.sha256(text.encode()).hexdigest()
