"""Bytes of a promoted revision whose file was edited in place (ADR 20). Effect: reads, asks git.

`core/storage/promotion/choose_version.py` and `routing/maintenance/accept_records.py` compare with
them. That an edited file does not run is decided in `routing/runs/run_checks.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pulsus.core.storage.records import snapshots, version_archive
from pulsus.core.storage.records.promotion_target import Target
from pulsus.errors import StarterMissing


@dataclass(frozen=True, slots=True)
class PreviousBytes:
    """Looks where the bytes may lie beside the catalogue: snapshots, git, the starter tools."""

    workflows_root: Path
    state_dir: Path

    def __call__(self, target: Target, tool_hash: str) -> bytes | None:
        """Return the bytes of that digest; None if nothing has them any more."""
        return next(
            (
                s
                for s in self._earlier_bytes(target, tool_hash)
                if version_archive.digest(s) == tool_hash
            ),
            None,
        )

    def _earlier_bytes(self, target: Target, tool_hash: str) -> Iterator[bytes]:
        from pulsus.core.validators.git_changes import (
            read_committed,  # rarely needed, and slow to import
        )

        kept = snapshots.read_snapshot(self.state_dir, tool_hash)
        if kept is not None:
            yield kept
        yield from read_committed(target.path(self.workflows_root))
        yield from _starter_bytes(target)


def _starter_bytes(target: Target) -> Iterator[bytes]:
    from pulsus.routing import starter_catalogue

    try:
        yield target.path(starter_catalogue.starter_folder() / "workflows").read_bytes()
    except (StarterMissing, OSError):
        return
