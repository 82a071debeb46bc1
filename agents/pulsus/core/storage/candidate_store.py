"""Candidates in `_tmp/` that were not promoted, to be offered again (spec §16). Effect: files.

Beside `NAME.py` lies `NAME.json`, which is written here: where the module came from, and why it was
rejected or failed. The module itself is written in `routing/delivery/candidate_module.py`.
`routing/delivery/pending_candidates.py` decides which ones an identical request gets again, and
`retention.py` when they expire and are deleted.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, get_args

from pulsus.core.system import atomic_write
from pulsus.core.telemetry.redaction import Redactor
from pulsus.core.types import JsonValue
from pulsus.errors import storage_errors

Status = Literal["pending", "rejected", "failed"]

_LOG = logging.getLogger(__name__)
_MAX_NOTE_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class StoredCandidate:
    """A module in `_tmp/`. `reasons` say why it failed or was rejected; `created_at` is aware.

    `sha256` is that of the module as it was made; None if it was not noted. `made` is how a
    generator made it, None for a composition.
    """

    module: Path
    request: str
    route_id: str | None
    run_id: str
    status: Status
    reasons: tuple[str, ...]
    created_at: datetime
    sha256: str | None = None
    made: Mapping[str, JsonValue] | None = None

    @property
    def note(self) -> Path:
        """The JSON file beside the module."""
        return self.module.with_suffix(".json")


def write(candidate: StoredCandidate, redactor: Redactor) -> None:
    """Keep, or replace, what is known about the candidate; its module is written by the caller.

    Raises DiskFull or StorageUnwritable.
    """
    note: dict[str, JsonValue] = {
        "request": redactor.redact(candidate.request),
        "route_id": candidate.route_id,
        "run_id": candidate.run_id,
        "status": candidate.status,
        "reasons": [redactor.redact(reason) for reason in candidate.reasons],
        "created_at": candidate.created_at.astimezone(UTC).isoformat(timespec="seconds"),
        "sha256": candidate.sha256,
    }
    if candidate.made is not None:
        note["made"] = redactor.redact_value(dict(candidate.made))
    atomic_write.write_text(candidate.note, json.dumps(note, indent=2) + "\n")


def read_candidate(module: Path) -> StoredCandidate | None:
    """Return the candidate's note, or None, with a logged warning if it is unreadable."""
    note = module.with_suffix(".json")
    try:
        with note.open("rb") as file:
            data = file.read(_MAX_NOTE_BYTES + 1)
        if len(data) > _MAX_NOTE_BYTES:
            raise ValueError(f"longer than {_MAX_NOTE_BYTES} bytes")
        return _parse_candidate(module, data)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, OverflowError, RecursionError) as failure:
        _LOG.warning("ignored the candidate's note %s: %s", note, failure)
        return None


def list_candidates(tmp_dir: Path) -> tuple[StoredCandidate, ...]:
    """Return every candidate that still has its module, newest first; links are not followed."""
    if not tmp_dir.is_dir():
        return ()
    modules = (p for p in sorted(tmp_dir.glob("*.py")) if p.is_file() and not p.is_symlink())
    found = [c for c in map(read_candidate, modules) if c is not None]
    return tuple(sorted(found, key=lambda c: c.created_at, reverse=True))


def remove(module: Path) -> None:
    """Delete the candidate and its note; what is not there is fine. Raises StorageUnwritable."""
    for path in (module, module.with_suffix(".json")):
        with storage_errors(path):
            path.unlink(missing_ok=True)


def _parse_candidate(module: Path, data: bytes) -> StoredCandidate:
    row = json.loads(data)
    created = datetime.fromisoformat(row["created_at"])
    if created.tzinfo is None:
        raise ValueError(f"created_at {row['created_at']!r} has no offset")
    created = created.astimezone(UTC)
    if row["status"] not in get_args(Status):
        raise ValueError(f"status {row['status']!r} is none of {get_args(Status)}")
    return StoredCandidate(
        module=module,
        request=str(row["request"]),
        route_id=row["route_id"],
        run_id=str(row["run_id"]),
        status=row["status"],
        reasons=tuple(map(str, row["reasons"])),
        created_at=created,
        sha256=row.get("sha256"),
        made=_parse_made(row.get("made")),
    )


def _parse_made(row: JsonValue) -> Mapping[str, JsonValue] | None:
    if row is None or isinstance(row, dict):
        return row
    raise ValueError(f"made {row!r:.80} is not an object")
