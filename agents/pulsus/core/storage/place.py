"""What lies at a promotion target, and what one promotion changes there. Effect: reads files."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from pulsus.core.storage import changelog, metadata, transaction
from pulsus.core.storage.target import Target, open_below, refuse_irregular
from pulsus.errors import StorageUnwritable, TargetRefused


@dataclass(frozen=True, slots=True)
class Place:
    """What lies at a target now. `None` = no such file."""

    target: Target
    shown: Path
    module: bytes | None
    records: bytes | None
    changelog: bytes | None
    of_name: tuple[metadata.Record, ...]

    @classmethod
    def read(cls, root: Path, target: Target) -> Place:
        """What is there now. Raises TargetRefused, MetadataCorrupt, StorageUnwritable."""
        module, records = (
            _read(root, target.folders, name) for name in (f"{target.name}.py", metadata.FILE_NAME)
        )
        log = _read(root, target.area, changelog.FILE_NAME)
        path = root.joinpath(*target.folders, metadata.FILE_NAME)
        parsed = metadata.decode(records or b"", path)
        of_name = tuple(r for r in parsed if r.name == f"{target.name}.py")
        return cls(target, target.path(root), module, records, log, of_name)

    @property
    def latest(self) -> metadata.Record | None:
        """The last record of the target's name."""
        return self.of_name[-1] if self.of_name else None

    def current(self, digest: str) -> metadata.Record | None:
        """The latest record, where it is about exactly these bytes."""
        return self.latest if self.latest and self.latest.tool_hash == digest else None

    def require_recorded(self, source: bytes) -> None:
        """Never overwrite work that nobody promoted."""
        if self.module in (None, source):
            return
        if tool_hash(self.module or b"") not in {r.tool_hash for r in self.of_name}:
            raise TargetRefused(
                f"{self.shown} holds another module that was never promoted in this form",
                hint="promote that file first, choose another name, or move it away",
                path=str(self.shown),
            )

    def changes(
        self, source: bytes, record: metadata.Record | None
    ) -> tuple[transaction.Change, ...]:
        """The module first, the record last: an unrecorded module never runs."""
        folders, found = self.target.folders, []
        if self.module != source:
            name = f"{self.target.name}.py"
            found.append(transaction.Change(folders, name, self.module, source))
        if record is not None:
            log = _text(self.changelog) or changelog.new(self.target.area[-1])
            log = changelog.add_entry(log, _entry(record, added=not self.of_name))
            lines = metadata.appended(_text(self.records), record)
            found += [
                transaction.Change(
                    self.target.area, changelog.FILE_NAME, self.changelog, _bytes(log)
                ),
                transaction.Change(folders, metadata.FILE_NAME, self.records, _bytes(lines)),
            ]
        return tuple(found)


def tool_hash(source: bytes) -> str:
    """`sha256:` and the hex digest, as records carry it."""
    return f"sha256:{hashlib.sha256(source).hexdigest()}"


def _entry(record: metadata.Record, *, added: bool) -> changelog.Entry:
    return changelog.Entry(
        tool=record.tool_id,
        version=record.version,
        day=record.created.date(),
        change="Added" if added else "Changed",
        description=record.description,
        revision=record.id,
        tool_hash=record.tool_hash,
        proof=record.proof,
        approved_by=record.approved_by,
    )


def _read(root: Path, folders: tuple[str, ...], name: str) -> bytes | None:
    shown = root.joinpath(*folders, name)
    try:
        with open_below(root, folders, create=False) as fd:
            refuse_irregular(fd, name, shown)
            with os.fdopen(os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=fd), "rb") as file:
                return file.read()
    except FileNotFoundError:
        return None
    except OSError as failure:
        raise StorageUnwritable(
            f"cannot read {shown}: {failure.strerror}", hint="make it readable for this user"
        ) from failure


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
