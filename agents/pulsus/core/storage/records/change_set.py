"""The files one decision changes, gathered before any of them is (spec §10). Effect: reads files.

Modules and kept versions come first, changelogs next, records last: an unrecorded module never
runs. Two records may go to one file: the second is added to what the first made of it.
`file_transaction.py` writes them all or none.
"""

from __future__ import annotations

from pathlib import Path

from pulsus.core.storage.records import (
    changelog,
    file_transaction,
    promotion_records,
    version_archive,
)
from pulsus.core.storage.records.current_revision import CurrentRevision
from pulsus.core.storage.records.promotion_target import Target

_ORDER = (changelog.FILE_NAME, promotion_records.FILE_NAME)

MANIFEST_SUFFIXES = (".tool.yaml", ".tool.toml")
"""Ends of the names of a tool's own manifests."""

_Key = tuple[tuple[str, ...], str]


class ChangeSet:
    """The files that a decision writes below `root`."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._before: dict[_Key, bytes | None] = {}
        self._after: dict[_Key, bytes | None] = {}

    def module(self, place: CurrentRevision, source: bytes) -> None:
        """Put these bytes at the place."""
        if place.module != source:
            key = (place.target.folders, f"{place.target.name}.py")
            self._before[key] = place.module
            self._after[key] = source

    def remove_module(self, place: CurrentRevision) -> None:
        """Delete the module at the place, and keep its bytes as a version."""
        if place.module is None:
            return
        self.keep(place.target, place.module)
        self._delete((place.target.folders, f"{place.target.name}.py"), place.module)

    def archive_manifest(self, target: Target, name: str) -> None:
        """Move the manifest `name`, if it exists, to the archive, named after the tool.

        A manifest without its module would be a warning of every command.
        """
        key = (target.folders, name)
        source = version_archive.read_file(self._root, *key)
        if source is None:
            return
        suffix = name[name.rindex("tool.") :]
        kept = (version_archive.folders(target), f"{target.name}.{suffix}")
        if self._current_text(kept) != _decode_text(source):
            self._after[kept] = source
        self._delete(key, source)

    def restore_manifests(self, target: Target) -> None:
        """Bring archived manifests back, unless the tool has one already."""
        for suffix in MANIFEST_SUFFIXES:
            key = (target.folders, f"{target.name}{suffix}")
            kept = (version_archive.folders(target), f"{target.name}{suffix}")
            source = version_archive.read_file(self._root, *kept)
            if source is not None and not self._current_text(key):
                self._after[key] = source
                self._delete(kept, source)

    def keep(self, target: Target, source: bytes) -> None:
        """Keep these bytes as a version of the target."""
        key = (
            version_archive.folders(target),
            version_archive.file_name(target.name, version_archive.digest(source)),
        )
        if self._current_text(key) != _decode_text(source):
            self._after[key] = source

    def record(
        self, target: Target, record: promotion_records.PromotionRecord, *, first: bool
    ) -> None:
        """Add the record to the action's records and to the area's changelog.

        `first` says that the tool is new. Raises TargetRefused, StorageUnwritable.
        """
        log_key = (target.area, changelog.FILE_NAME)
        log = self._current_text(log_key) or changelog.empty_changelog(target.area[-1])
        self._after[log_key] = _encode_text(changelog.add_entry(log, entry_of(record, first=first)))
        key = (target.folders, promotion_records.FILE_NAME)
        self._after[key] = _encode_text(
            promotion_records.append_line(self._current_text(key), record)
        )

    def changes(self) -> tuple[file_transaction.FileChange, ...]:
        """Every file to change, in the order in which it is to happen."""
        ordered = sorted(self._after, key=lambda key: _write_order(key[1]))
        return tuple(
            file_transaction.FileChange(key[0], key[1], self._before[key], self._after[key])
            for key in ordered
        )

    def _delete(self, key: _Key, source: bytes) -> None:
        self._before[key] = source
        self._after[key] = None

    def _current_text(self, key: _Key) -> str:
        if key not in self._before:
            self._before[key] = version_archive.read_file(self._root, *key)
        found = self._after.get(key, self._before[key])
        return _decode_text(found or b"")


def _write_order(name: str) -> int:
    return _ORDER.index(name) if name in _ORDER else -1


def entry_of(record: promotion_records.PromotionRecord, *, first: bool) -> changelog.ChangelogEntry:
    """Return the record's entry in the changelog; `first` says that the tool was new."""
    notes = list(record.changes)
    if record.restores:
        notes.insert(0, f"Brings back {record.restores}")
    if record.deprecated and record.event:
        until = f", not selected after {record.sunset}" if record.sunset else ""
        notes.insert(0, f"Use {record.replacement} instead{until}")
    elif record.removed:
        notes.insert(0, "Left the catalogue; its versions are kept for `pulsus rollback`")
    elif record.event:
        notes.insert(0, "No longer deprecated")
    return changelog.ChangelogEntry(
        tool=record.tool_id,
        version=record.version,
        day=record.created.date(),
        change=_kind_of_change(record, first=first),
        description=record.description,
        revision=record.id,
        tool_hash=record.tool_hash,
        proof=record.proof,
        approved_by=record.approved_by,
        notes=tuple(notes),
    )


def _kind_of_change(record: promotion_records.PromotionRecord, *, first: bool) -> changelog.Change:
    if record.removed:
        return "Removed"
    if record.deprecated and record.event:
        return "Deprecated"
    return "Added" if first else "Changed"


def _decode_text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _encode_text(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
