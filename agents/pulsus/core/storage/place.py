"""What lies at a promotion target now (spec §10). Effect: reads files."""

from __future__ import annotations

from pathlib import Path

from pulsus.core.storage import metadata, versions
from pulsus.core.storage.target import Target
from pulsus.errors import TargetRefused
from pulsus.record import dataclass

tool_hash = versions.digest


@dataclass(frozen=True, slots=True)
class Place:
    """What lies at a target now. `module` None = no such file."""

    target: Target
    root: Path
    module: bytes | None
    of_name: tuple[metadata.Record, ...]

    @classmethod
    def read(cls, root: Path, target: Target) -> Place:
        """What is there now. Raises TargetRefused, MetadataCorrupt, StorageUnwritable."""
        module, records = (
            versions.read_file(root, target.folders, name)
            for name in (f"{target.name}.py", metadata.FILE_NAME)
        )
        path = root.joinpath(*target.folders, metadata.FILE_NAME)
        parsed = metadata.decode(records or b"", path)
        of_name = tuple(r for r in parsed if r.name == f"{target.name}.py")
        return cls(target, root, module, of_name)

    @property
    def latest(self) -> metadata.Record | None:
        """The last record of the target's name."""
        return self.of_name[-1] if self.of_name else None

    def current(self, digest: str) -> metadata.Record | None:
        """The latest record, where it is about exactly these bytes."""
        return self.latest if self.latest and self.latest.tool_hash == digest else None

    def bytes_of(self, digest: str) -> bytes | None:
        """The bytes of that digest, as they lie in place or are kept; None where neither.

        Raises HashMoved, TargetRefused, StorageUnwritable.
        """
        if self.module is not None and tool_hash(self.module) == digest:
            return self.module
        return versions.read(self.root, self.target, digest)

    def require_recorded(self, source: bytes) -> None:
        """Never overwrite work that nobody promoted."""
        if self.module in (None, source):
            return
        if tool_hash(self.module or b"") not in {r.tool_hash for r in self.of_name}:
            shown = self.target.path(self.root)
            raise TargetRefused(
                f"{shown} holds another module that was never promoted in this form",
                hint="promote that file first, choose another name, or move it away",
                path=str(shown),
            )
