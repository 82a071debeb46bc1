"""The bytes of what is promoted now, kept for edits in place. Effect: files.

A promoted file that was edited in place is brought back or compared by them, in
`routing/delivery/edited_in_place.py`. `.pulsus/versions/<sha256>.py`. The catalogue holds a
version's bytes once: in place while it is the latest, in `.versions/` behind it (ADR 20). An edit
in place overwrites the first, and a snapshot brings them back. It is a cache: what is missing is
looked for elsewhere.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from pathlib import Path

from pulsus.core.storage.records.version_archive import digest
from pulsus.core.system import atomic_write
from pulsus.errors import PulsusError

FOLDER = "versions"

_LOG = logging.getLogger(__name__)


def read_snapshot(state_dir: Path, tool_hash: str) -> bytes | None:
    """Return the bytes of that digest; None if there is no such snapshot, or it is damaged."""
    try:
        found = _snapshot_path(state_dir, tool_hash).read_bytes()
    except OSError:
        return None
    return found if digest(found) == tool_hash else None


def renew(state_dir: Path, source: bytes, replaced: str | None) -> None:
    """Keep `source`, and drop what it replaced, which is a kept version from now on.

    The promotion is done by then: what cannot be kept is only warned of.
    """
    try:
        if read_snapshot(state_dir, digest(source)) is None:
            (state_dir / FOLDER).mkdir(exist_ok=True)
            atomic_write.write_bytes(_snapshot_path(state_dir, digest(source)), source)
    except (OSError, PulsusError) as failure:
        _LOG.warning("promoted, but cannot keep a snapshot of it: %s", failure)
    if replaced and replaced != digest(source):
        with suppress(OSError):
            _snapshot_path(state_dir, replaced).unlink(missing_ok=True)


def _snapshot_path(state_dir: Path, tool_hash: str) -> Path:
    return state_dir / FOLDER / f"{tool_hash.removeprefix('sha256:')}.py"
