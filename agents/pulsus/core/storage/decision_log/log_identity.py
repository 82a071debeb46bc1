"""Note beside a decision log which one was begun in a state folder. Effect: reads, writes one file.

The note is what tells a log that was removed or deleted from one that was never there (ADR 21).
`user_witness.py` remembers the same outside the project.
"""

from __future__ import annotations

from pathlib import Path

from pulsus.core.system import atomic_write
from pulsus.errors import storage_error

NAME = "decision-log"

_MAX_BYTES = 64


def path(folder: Path) -> Path:
    """Return the path of the note about the log in `folder` (`.pulsus/audit/`)."""
    return folder.parent / NAME


def read_mark(folder: Path) -> str | None:
    """Return the name of the log that was begun; None if none was. Raises StorageUnwritable."""
    try:
        with path(folder).open("rb") as file:
            return file.read(_MAX_BYTES).decode("utf-8", "replace").strip()
    except FileNotFoundError:
        return None
    except OSError as failure:
        raise storage_error(failure, path(folder)) from failure


def write(folder: Path, log: str) -> None:
    """Note that the log of that name is the one here. Raises DiskFull, StorageUnwritable."""
    if read_mark(folder) != log:
        atomic_write.write_bytes(path(folder), f"{log}\n".encode(), locked=True)
