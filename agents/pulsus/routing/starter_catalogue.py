"""The starter catalogue, copied into a project. Effect: writes files, overwrites none.

An existing file is kept, and a tool that was removed here does not come back. The same module adds
the rules to `.gitignore`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pulsus
from pulsus.core.storage.records import promotion_records
from pulsus.core.system import atomic_write
from pulsus.errors import StarterMissing, place_from_option, storage_error

IGNORED = (".pulsus/", "/logs/", "workflows/_tmp/", ".venv/")
"""`/logs/` begins with a slash: without it git ignores every `logs` folder, tools included."""
MEASURED = ("golden.jsonl", "calibration.json")
"""The starter tools' requests, and the calibration fitted to them."""
SUFFIXES = (".py", ".yaml", ".toml", ".jsonl", ".md")


@dataclass(frozen=True, slots=True)
class StarterFiles:
    """The files created, and how many were there already. `rules` were added to `.gitignore`."""

    made: tuple[Path, ...]
    kept: int
    rules: tuple[str, ...]


@place_from_option("name another folder")
def install_starter(folder: Path, *, empty: bool) -> StarterFiles:
    """Copy the starter catalogue into `folder`, and return what was written.

    A tool that was removed here (`pulsus tools remove`) does not come back. With `empty` no tools.
    Raises StarterMissing, MetadataCorrupt, StorageUnwritable, DiskFull.
    """
    made: list[Path] = []
    kept = 0
    removed = _removed_tools(folder / "workflows")
    try:
        for source, relative in _starter_files(starter_folder(), empty=empty):
            target = folder / relative
            if os.path.lexists(target) or target.with_name(_tool_name(target)) in removed:
                kept += 1
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            atomic_write.write_bytes(target, source.read_bytes())
            made.append(target)
        for part in ("domains", "shared_tools"):
            (folder / "workflows" / part).mkdir(parents=True, exist_ok=True)
        ignore = folder / ".gitignore"
        if ignore.exists():
            kept += 1
        else:
            made.append(ignore)
        rules = _add_ignore_rules(ignore)
    except OSError as failure:
        raise storage_error(failure, Path(failure.filename or folder)) from failure
    return StarterFiles(tuple(made), kept, rules)


def copied_records(folder: Path) -> tuple[Path, ...]:
    """Return the record files below `folder` that are, byte by byte, those of the starter.

    None if `folder` is where the starter itself lies: nothing was copied there. Raises OSError.
    """
    root = starter_folder()
    if root.resolve() == folder.resolve():
        return ()
    return tuple(
        folder / relative
        for source, relative in _starter_files(root, empty=False)
        if source.name == promotion_records.FILE_NAME
        and (folder / relative).is_file()
        and (folder / relative).read_bytes() == source.read_bytes()
    )


def starter_folder() -> Path:
    """Return the folder of the starter catalogue: in the package, or in the checkout."""
    package = Path(pulsus.__file__).parent
    for place in (package / "starter", package.parents[1]):
        if (place / "workflows" / "domains").is_dir():
            return place
    raise StarterMissing(
        "this installation carries no starter catalogue",
        hint="install Pulsus again from its clone: pip install --force-reinstall ./pulsus",
    )


def _starter_files(root: Path, *, empty: bool) -> Iterator[tuple[Path, Path]]:
    yield root / "config" / "pulsus.toml", Path("config/pulsus.toml")
    for name in () if empty else MEASURED:
        yield root / "config" / name, Path("config") / name
    for part in () if empty else ("domains", "shared_tools"):
        for source in sorted((root / "workflows" / part).rglob("*")):
            if source.is_file() and source.suffix in SUFFIXES:
                yield source, source.relative_to(root)


def _removed_tools(workflows: Path) -> frozenset[Path]:
    """Return the path, without suffix, of every tool whose last record is a removal."""
    found = {}
    for path in promotion_records.list_record_files(workflows):
        for record in promotion_records.read_records(path):
            found[path.with_name(_tool_name(Path(record.name)))] = record.removed
    return frozenset(path for path, removed in found.items() if removed)


def _tool_name(path: Path) -> str:
    """Return the name of the tool that a module or its manifest belongs to."""
    return path.name.partition(".")[0]


def _add_ignore_rules(path: Path) -> tuple[str, ...]:
    """Add our entries that `.gitignore` lacks, keep what is there, and return what was added."""
    old = path.read_bytes() if path.exists() else b""
    lines = old.splitlines()
    # `/logs/*` leaves room for a README. An unanchored `logs/` covers it too, and `pulsus tools
    # check` reports the tools that it hides.
    covered = {"/logs/"} if {b"logs/", b"/logs/*"}.intersection(lines) else set()
    missing = [entry for entry in IGNORED if entry.encode() not in lines and entry not in covered]
    if not missing:
        return ()
    gap = b"" if not old or old.endswith(b"\n") else b"\n"
    atomic_write.write_bytes(
        path.resolve(), old + gap + "".join(f"{e}\n" for e in missing).encode()
    )
    return tuple(missing)
