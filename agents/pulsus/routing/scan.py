"""Which files below a workflows folder may be tools (spec §4). Effect: lists folders.

Follows no folder link, opens no file. A file link counts where it leads to another tool's place
in the same folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pulsus.core.types import BrokenTool
from pulsus.routing.files import Stamp, kind_of, why
from pulsus.routing.places import NoPlace, Place, ignored, place

TOPS = ("domains", "shared_tools")
MANIFEST_NAMES = ("tool.yaml", "tool.toml")

_FOLDER_LINK = "is a link to a folder; not followed"


@dataclass(frozen=True, slots=True)
class Module:
    """A file that may be a tool. `path` is where it is listed, `real` the file to open."""

    path: Path
    real: Path
    stamp: Stamp
    place: Place


@dataclass(frozen=True, slots=True)
class ManifestFile:
    """A file named like a manifest."""

    path: Path
    stamp: Stamp


Found = Module | ManifestFile | BrokenTool


def scan(root: Path, *, tmp_dirname: str, max_depth: int) -> Iterator[Found]:
    """Everything below `root` (absolute) that is a tool, a manifest, or broken for its place.

    `max_depth` counts folders below `root`; a deeper folder is listed as broken. In no order.
    """
    return _Scan(root, tmp_dirname, max_depth).run()


class _Scan:
    def __init__(self, root: Path, tmp_dirname: str, max_depth: int) -> None:
        self._root = root
        self._real_root = root.resolve()
        self._tmp_dirname = tmp_dirname
        self._max_depth = max_depth

    def run(self) -> Iterator[Found]:
        todo: list[tuple[str, ...]] = [(top,) for top in TOPS]
        while todo:
            parts = todo.pop()
            folder = self._root.joinpath(*parts)
            try:
                if folder.is_symlink():
                    yield BrokenTool(folder, "LINK_TO_FOLDER", _FOLDER_LINK)
                    continue
                with os.scandir(folder) as entries:
                    listed = list(entries)
            except FileNotFoundError:
                continue  # there may be no shared tools, and folders come and go
            except OSError as error:
                yield BrokenTool(folder, "UNREADABLE", why(error))
                continue
            yield from self._entries(listed, parts, todo)

    def _entries(
        self,
        listed: list[os.DirEntry[str]],
        parts: tuple[str, ...],
        todo: list[tuple[str, ...]],
    ) -> Iterator[Found]:
        for entry in listed:
            if ignored(entry.name, self._tmp_dirname):
                continue
            try:
                yield from self._entry(entry, (*parts, entry.name), todo)
            except OSError as error:
                yield BrokenTool(Path(entry.path), "UNREADABLE", why(error))

    def _entry(
        self, entry: os.DirEntry[str], parts: tuple[str, ...], todo: list[tuple[str, ...]]
    ) -> Iterator[Found]:
        if _named_like_manifest(entry.name):
            yield ManifestFile(Path(entry.path), Stamp.of(entry.stat(follow_symlinks=False)))
        elif entry.is_symlink():
            yield from self._link(entry, parts)
        elif entry.is_dir(follow_symlinks=False):
            yield from self._folder(entry, parts, todo)
        elif entry.name.endswith(".py"):
            status = entry.stat(follow_symlinks=False)
            if entry.is_file(follow_symlinks=False):
                yield self._module(Path(entry.path), Path(entry.path), status, parts)
            else:
                reason = f"is {kind_of(status.st_mode)}, not a file"
                yield BrokenTool(Path(entry.path), "NOT_A_FILE", reason)

    def _folder(
        self, entry: os.DirEntry[str], parts: tuple[str, ...], todo: list[tuple[str, ...]]
    ) -> Iterator[Found]:
        if entry.name.endswith(".py"):
            yield BrokenTool(Path(entry.path), "NOT_A_FILE", "is a folder, not a file")
        elif len(parts) > self._max_depth:
            reason = f"more than {self._max_depth} folders deep; not looked into"
            yield BrokenTool(Path(entry.path), "PATH_TOO_DEEP", reason)
        else:
            todo.append(parts)

    def _link(self, entry: os.DirEntry[str], parts: tuple[str, ...]) -> Iterator[Found]:
        path = Path(entry.path)
        wanted = entry.name.endswith(".py")
        try:
            real = path.resolve(strict=True)
        except FileNotFoundError:
            if wanted:
                yield BrokenTool(path, "LINK_BROKEN", "is a link to nothing")
            return
        except (OSError, RuntimeError):
            # RuntimeError is how Path.resolve reports a loop before Python 3.13.
            yield BrokenTool(path, "LINK_LOOP", "is a link that leads nowhere, such as to itself")
            return
        status = real.stat()
        if not (wanted or real.is_dir()):
            return
        if not real.is_relative_to(self._real_root):
            yield BrokenTool(path, "LINK_OUTSIDE", "is a link out of the workflows folder")
        elif real.is_dir():
            yield BrokenTool(path, "LINK_TO_FOLDER", _FOLDER_LINK)
        elif not self._is_tool_place(real):
            reason = f"is a link to {real.relative_to(self._real_root)}, which is no tool's place"
            yield BrokenTool(path, "LINK_OUTSIDE", reason)
        else:
            yield self._module(path, real, status, parts)

    def _is_tool_place(self, real: Path) -> bool:
        parts = real.relative_to(self._real_root).parts
        hidden = any(ignored(part, self._tmp_dirname) for part in parts)
        return real.is_file() and not hidden and isinstance(place(parts), Place)

    def _module(
        self, path: Path, real: Path, status: os.stat_result, parts: tuple[str, ...]
    ) -> Module | BrokenTool:
        where = place(parts)
        if isinstance(where, NoPlace):
            return BrokenTool(path, where.code, where.reason)
        return Module(path, real, Stamp.of(status), where)


def _named_like_manifest(name: str) -> bool:
    return name in MANIFEST_NAMES or name.endswith(tuple(f".{n}" for n in MANIFEST_NAMES))
