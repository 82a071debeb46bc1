"""Requests for approval that wait in `state.db` and outlive their process (ADR 56).

`cli/requester.py` asks. At most 100 wait. A request expires after its minutes, and also if the
clock was set back. It has the bytes that an approval is for, and no token: a server makes a card of
it, and mints tokens for its approvers (`web/request_cards.py`, `waiting_approvals.py`). Effect:
database.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from sqlite3 import Connection
from typing import Final, Literal, get_args

from pulsus.core.storage.state_db import state_db
from pulsus.core.telemetry.ids import Clock, RandomBytes, utc_now
from pulsus.core.text.plurals import counted
from pulsus.core.types import JsonValue
from pulsus.errors import TooManyApprovals
from pulsus.fast_dataclass import dataclass

RequestKind = Literal["plan", "promotion"]
REQUEST_KINDS: Final[frozenset[str]] = frozenset(get_args(RequestKind))

MOST_WAITING: Final = 100
_STEP_BACK: Final = timedelta(minutes=1)
"""A clock that is set back further than this ends the requests that are newer than its time."""

_COLUMNS: Final = "card, kind, content, fields, requester, reason, made_at, expires_at"


@dataclass(frozen=True, slots=True)
class StoredRequest:
    """One request. Times are ISO 8601 in UTC. `content` are the bytes that an approval is for.

    `fields` say what is asked for them, and `requester` who asked.
    """

    kind: RequestKind
    content: bytes
    fields: Mapping[str, JsonValue]
    requester: str
    reason: str
    card: str = ""
    made_at: str = ""
    expires_at: str = ""

    def seconds_left(self, now: datetime) -> float:
        """Return the seconds until it expires: 0 or less if it has, or if the clock went back."""
        made, ends = map(datetime.fromisoformat, (self.made_at, self.expires_at))
        if now < made - _STEP_BACK:
            return 0.0
        return min(ends - now, ends - made).total_seconds()


class StoredRequests:
    """The requests of one project. All methods raise Busy, DiskFull, StorageUnwritable and
    StateCorrupt. Each opens the database anew, so that any thread may call them.
    """

    def __init__(
        self,
        state_dir: Path,
        project: Path,
        clock: Clock = utc_now,
        random: RandomBytes = secrets.token_bytes,
    ) -> None:
        self._state_dir, self._project = state_dir, project
        self._clock, self._random = clock, random

    def add(self, request: StoredRequest, minutes: float) -> StoredRequest:
        """Keep a request, and return it with its id and times. Raises TooManyApprovals."""
        now = self._clock()
        kept = replace(
            request,
            card=f"apr-{self._random(8).hex()}",
            made_at=now.isoformat(timespec="seconds"),
            expires_at=(now + timedelta(minutes=minutes)).isoformat(timespec="seconds"),
        )
        with self._database() as database:
            database.execute("BEGIN IMMEDIATE")
            waiting = database.execute(
                "SELECT count(*) FROM requests WHERE state = 'pending' AND expires_at > ?",
                (kept.made_at,),
            ).fetchone()[0]
            if waiting >= MOST_WAITING:
                raise TooManyApprovals(
                    f"no more than {counted(waiting, 'request')} for approval can wait at a time",
                    hint="approve or deny some of them first",
                )
            database.execute(
                f"INSERT INTO requests ({_COLUMNS}, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, "
                "'pending')",
                (
                    kept.card, kept.kind, kept.content,
                    json.dumps(dict(kept.fields), allow_nan=False), kept.requester, kept.reason,
                    kept.made_at, kept.expires_at,
                ),
            )  # fmt: skip
            database.execute("COMMIT")
        return kept

    def pending(self) -> tuple[StoredRequest, ...]:
        """Return the requests without a decision, the oldest first, also those that expired."""
        if not state_db.has_state_db(self._state_dir):
            return ()
        with self._database() as database:
            rows = database.execute(
                f"SELECT {_COLUMNS} FROM requests WHERE state = 'pending' ORDER BY number"
            )
            return tuple(_to_request(row) for row in rows)

    def expire(self, card: str) -> None:
        """End a request whose time is over."""
        with self._database() as database:
            database.execute(
                "UPDATE requests SET state = 'expired' WHERE card = ? AND state = 'pending'",
                (card,),
            )

    @contextmanager
    def _database(self) -> Iterator[Connection]:
        with (
            closing(state_db.open_state_db(self._state_dir, self._project)) as database,
            state_db.database_errors(self._state_dir / state_db.FILE),
        ):
            yield database


def _to_request(row: tuple[str, RequestKind, bytes, str, str, str, str, str]) -> StoredRequest:
    card, kind, content, fields, requester, reason, made_at, expires_at = row
    return StoredRequest(
        kind, bytes(content), json.loads(fields), requester, reason, card, made_at, expires_at
    )
