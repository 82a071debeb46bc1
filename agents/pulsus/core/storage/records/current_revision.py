"""Read the module and the records at a promotion target (spec §10). Effect: reads files.

A promotion that would overwrite a file which was edited by hand and never promoted is refused here.
A tool of the same name that was promoted gets a new version instead
(`core/storage/promotion/choose_version.py`), and the same bytes again get none
(`routing/delivery/catalogue_promoter.py`). Before a run, `routing/runs/run_checks.py` compares the
hash of a file with its record.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pulsus.core.storage.records import promotion_records, version_archive
from pulsus.core.storage.records.promotion_target import Target
from pulsus.errors import TargetRefused
from pulsus.fast_dataclass import dataclass

tool_hash = version_archive.digest

Find = Callable[[Target, str], bytes | None]
"""Looks elsewhere for the bytes of a digest. The caller checks the digest of the result."""


def read_records(root: Path, target: Target) -> tuple[promotion_records.PromotionRecord, ...]:
    """Return every record of the tool, oldest first. Raises MetadataCorrupt, StorageUnwritable."""
    records = promotion_records.read_records(
        root.joinpath(*target.folders, promotion_records.FILE_NAME)
    )
    return tuple(record for record in records if record.name == f"{target.name}.py")


@dataclass(frozen=True, slots=True)
class CurrentRevision:
    """The module and the records at a target. `module` is None if the file is missing."""

    target: Target
    root: Path
    module: bytes | None
    of_name: tuple[promotion_records.PromotionRecord, ...]
    find: Find | None = None

    @classmethod
    def read(cls, root: Path, target: Target, find: Find | None = None) -> CurrentRevision:
        """Read module and records. Raises TargetRefused, MetadataCorrupt, StorageUnwritable."""
        module, records = (
            version_archive.read_file(root, target.folders, name)
            for name in (f"{target.name}.py", promotion_records.FILE_NAME)
        )
        path = root.joinpath(*target.folders, promotion_records.FILE_NAME)
        parsed = promotion_records.decode(records or b"", path)
        of_name = tuple(r for r in parsed if r.name == f"{target.name}.py")
        return cls(target, root, module, of_name, find)

    @property
    def latest(self) -> promotion_records.PromotionRecord | None:
        """The last record of the target's name."""
        return self.of_name[-1] if self.of_name else None

    def current(self, digest: str) -> promotion_records.PromotionRecord | None:
        """Return the latest record, where it is about exactly these bytes in the catalogue."""
        latest = self.latest
        if latest is None or latest.removed or latest.tool_hash != digest:
            return None
        return latest

    def bytes_of(self, digest: str) -> bytes | None:
        """Return the bytes of that digest: in place, kept, or found elsewhere; None if nowhere.

        Raises HashMoved, TargetRefused, StorageUnwritable.
        """
        if self.module is not None and tool_hash(self.module) == digest:
            return self.module
        kept = version_archive.read_version(self.root, self.target, digest)
        if kept is not None or self.find is None:
            return kept
        found = self.find(self.target, digest)
        return found if found is not None and tool_hash(found) == digest else None

    def require_recorded(self, source: bytes, *, if_dropped: str = "repeat the command") -> None:
        """Never overwrite work that was not promoted. `if_dropped` is what to do without it."""
        if self.module in (None, source):
            return
        if tool_hash(self.module or b"") not in {r.tool_hash for r in self.of_name}:
            shown = self.target.path(self.root)
            raise TargetRefused(
                f"{shown} holds another module that was never promoted in this form",
                hint="to keep that file, promote it first or choose another name; "
                f"to drop it, move it away and {if_dropped}",
                path=str(shown),
            )
