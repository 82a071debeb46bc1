"""The transcript of a chat in `.pulsus/sessions/` (assistant architecture §5). Effect: files.

This is the chat history; sessions of signed-in browsers are `web/accounts/web_sessions.py`. A chat
is resumed from here (`pulsus chat --resume`); a corrupt or too large file is refused. Secrets are
redacted before it is written.

A file holds what was said and what tools returned, without secrets. It never holds resolved
resources: what was true then has to be discovered again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from pulsus.agent.model.proposal import AgentMessage
from pulsus.core.system import atomic_write, regular_files
from pulsus.core.system.state_dir import open_state
from pulsus.core.telemetry.redaction import Redactor
from pulsus.core.types import JsonValue
from pulsus.errors import SessionCorrupt, UsageError, storage_errors
from pulsus.fast_dataclass import dataclass

VERSION: Final = 1
FOLDER: Final = "sessions"
_MOST_BYTES: Final = 64 * 1024 * 1024
_ID: Final = re.compile(r"session-\d{8}-\d{6}-[0-9a-f]{6}")
LAST: Final = "last"


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its end. `messages` are those of its run, without the system message."""

    run_id: str
    request: str
    answer: str
    confidence: str
    exit_status: int
    messages: tuple[dict[str, JsonValue], ...] = ()

    def to_json(self) -> dict[str, JsonValue]:
        """Return the exchange as the file has it."""
        return {
            "run_id": self.run_id,
            "request": self.request,
            "answer": self.answer,
            "confidence": self.confidence,
            "exit_status": self.exit_status,
            "messages": [*self.messages],
        }


@dataclass(frozen=True, slots=True)
class SavedSession:
    """A saved chat."""

    session_id: str
    created_at: str
    control_level: str
    exchanges: tuple[Exchange, ...] = ()

    def with_exchange(self, exchange: Exchange) -> SavedSession:
        """Return the session with one more exchange."""
        return replace(self, exchanges=(*self.exchanges, exchange))

    @property
    def request_answer_pairs(self) -> list[tuple[str, str]]:
        """Return the requests and answers, for a model that goes on with the session."""
        return [(each.request, each.answer) for each in self.exchanges]


def messages_to_json(messages: Sequence[AgentMessage]) -> tuple[dict[str, JsonValue], ...]:
    """Return messages as a file has them. The system message has the resolved context: not it."""
    return tuple(
        {"role": each.role, "turn": each.turn, "content": each.content}
        for each in messages
        if each.role != "system"
    )


def new_session(now: datetime, random: bytes, control_level: str) -> SavedSession:
    """Return an empty session. `now` is aware, in UTC; `random` has three bytes."""
    name = f"session-{now:%Y%m%d-%H%M%S}-{random.hex()}"
    return SavedSession(name, now.isoformat(timespec="seconds"), control_level)


def save_session(session: SavedSession, state_dir: Path, redactor: Redactor) -> Path:
    """Write a session, whole or not at all, and return its file.

    Raises DiskFull or StorageUnwritable; an earlier version of the file then stays.
    """
    folder = open_state(state_dir).path / FOLDER
    with storage_errors(folder):
        folder.mkdir(mode=0o700, exist_ok=True)
    body: JsonValue = {
        "schema_version": VERSION,
        "session_id": session.session_id,
        "created_at": session.created_at,
        "control_level": session.control_level,
        "exchanges": [each.to_json() for each in session.exchanges],
    }
    path = folder / f"{session.session_id}.json"
    text = json.dumps(redactor.redact_value(body), ensure_ascii=False, indent=1)
    atomic_write.write_text(path, f"{text}\n")
    return path


def load_session(name: str, state_dir: Path) -> SavedSession:
    """Return the session of an id, or the latest one for "last".

    Raises UsageError for one that does not exist, SessionCorrupt for one that cannot be read.
    """
    folder = state_dir / FOLDER
    known = sorted(path.stem for path in folder.glob("session-*.json"))
    wanted = known[-1] if name == LAST and known else name
    if wanted not in known:
        listed = ", ".join(known[-3:]) or "none yet"
        raise UsageError(
            f"there is no saved session {name!r}",
            hint=f"the latest are: {listed}; they are in {folder}",
        )
    path = folder / f"{wanted}.json"
    try:
        data = json.loads(regular_files.read_file(path, _MOST_BYTES)[0])
        return _to_session(data, wanted)
    except regular_files.UnreadableFile as failure:
        raise _corrupt(path, failure.reason) from None
    except (ValueError, KeyError, TypeError, RecursionError) as failure:
        raise _corrupt(path, f"{type(failure).__name__}: {failure}") from None


def _to_session(data: Any, name: str) -> SavedSession:
    """Return the session in a parsed file. Raises ValueError, KeyError, TypeError."""
    if not isinstance(data, dict) or data.get("schema_version") != VERSION:
        raise ValueError(f"schema_version is not {VERSION}")
    if data["session_id"] != name or not _ID.fullmatch(name):
        raise ValueError(f"session_id {data['session_id']!r} is not the name of the file")
    return SavedSession(
        name,
        _text(data["created_at"]),
        _text(data["control_level"]),
        tuple(_to_exchange(each) for each in data["exchanges"]),
    )


def _to_exchange(row: Any) -> Exchange:
    return Exchange(
        _text(row["run_id"]),
        _text(row["request"]),
        _text(row["answer"]),
        _text(row["confidence"]),
        int(row["exit_status"]),
        tuple(dict(each) for each in row["messages"]),
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _corrupt(path: Path, why: str) -> SessionCorrupt:
    return SessionCorrupt(
        f"the session {path} cannot be read: {why}",
        hint="the file was not changed; start a new session with `pulsus chat`, or repair the file",
        path=str(path),
    )
