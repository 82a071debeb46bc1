"""Find the files below a workflows folder that may be tools (spec §4). Effect: lists folders.

Symlinks, pipes and folders deeper than `discovery.max_depth` are refused here. Hidden names, which
are ignored, and valid ids are in `routing/discovery/tool_path.py`. A module with a syntax error or
a malformed docstring is left out in `core/contract/tool_parser.py`; two tools with the same name
are found in `routing/index/catalogue_builder.py`.

Follows no folder link, opens no file. A file link counts where it leads to another tool's place
in the same folder. Ten thousand files are looked at on every request, so what is plain (a file
with a tool's or a manifest's name) is two list entries and no object of its own.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import field
from pathlib import Path

from pulsus.core.system.regular_files import (
    UnreadableFile,
    kind_of,
    read_failure,
    resolve_link,
)
from pulsus.core.types import BrokenTool
from pulsus.fast_dataclass import dataclass
from pulsus.routing.discovery.tool_path import ToolPath, is_ignored, parse_tool_path

TOPS = ("domains", "shared_tools")
MANIFEST_NAMES = ("tool.yaml", "tool.toml")

_MANIFEST_ENDS = tuple(f".{name}" for name in MANIFEST_NAMES)
_FOLDER_LINK = "is a link to a folder; not followed"


@dataclass(frozen=True, slots=True)
class Listing:
    """A folder `parts` below the root, in the order the system lists it.

    `names` are the files to look at; `stamps` holds four numbers for each (`files.Stamp`).
    `links` maps the names that are links to the file they lead to. `broken` is what has a tool's
    name and can be none, whatever it holds.
    """

    path: str
    parts: tuple[str, ...]
    names: list[str] = field(default_factory=list)
    stamps: array[int] = field(default_factory=lambda: array("q"))
    links: dict[str, Path] = field(default_factory=dict)
    broken: list[BrokenTool] = field(default_factory=list)


def scan_folders(root: Path, *, tmp_dirname: str, max_depth: int) -> Iterator[Listing]:
    """Return every folder below `root` (absolute) in which tools may lie, in no order.

    `max_depth` counts folders below `root`; a deeper folder is listed as broken.
    """
    return _Scan(root, tmp_dirname, max_depth).run()


class _Scan:
    def __init__(self, root: Path, tmp_dirname: str, max_depth: int) -> None:
        self._root = root
        self._real_root = root.resolve()
        self._tmp_dirname = tmp_dirname
        self._max_depth = max_depth
        self._todo: list[tuple[str, ...]] = [(top,) for top in TOPS]

    def run(self) -> Iterator[Listing]:
        while self._todo:
            parts = self._todo.pop()
            folder = Listing(str(self._root.joinpath(*parts)), parts)
            try:
                if Path(folder.path).is_symlink():
                    _add_broken(folder, folder.path, "LINK_TO_FOLDER", _FOLDER_LINK)
                else:
                    self._list_folder(folder)
            except FileNotFoundError:
                continue  # there may be no shared tools, and folders come and go
            except OSError as error:
                _add_broken(folder, folder.path, "UNREADABLE", read_failure(error))
            yield folder

    def _list_folder(self, folder: Listing) -> None:
        names, stamps, tmp_dirname = folder.names, folder.stamps, self._tmp_dirname
        with os.scandir(folder.path) as entries:
            for entry in entries:
                name = entry.name
                try:
                    if (
                        name.endswith(".py")
                        and name[0] not in "._"
                        and name != tmp_dirname
                        and entry.is_file(follow_symlinks=False)
                    ):
                        status: os.stat_result | None = entry.stat(follow_symlinks=False)
                    else:
                        status = self._status_of_file(entry, folder)
                except OSError as error:
                    _add_broken(folder, entry.path, "UNREADABLE", read_failure(error))
                    continue
                if status is not None:
                    names.append(name)
                    stamps.extend(
                        (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
                    )

    def _status_of_file(self, entry: os.DirEntry[str], folder: Listing) -> os.stat_result | None:
        """Return the status of a file to look at; None for anything else, which is dealt with."""
        name = entry.name
        module = name.endswith(".py")
        if not (module or is_manifest(name)):
            self._enter_folder(entry, folder)
            return None
        if is_ignored(name, self._tmp_dirname):
            return None
        if not module:
            return entry.stat(follow_symlinks=False)
        if entry.is_symlink():
            return self._status_of_link(entry, folder)
        mode = entry.stat(follow_symlinks=False).st_mode
        _add_broken(folder, entry.path, "NOT_A_FILE", f"is {kind_of(mode)}, not a file")
        return None

    def _enter_folder(self, entry: os.DirEntry[str], folder: Listing) -> None:
        """Go into a folder; a file without a tool's name is nothing to us."""
        if entry.is_symlink():
            if not is_ignored(entry.name, self._tmp_dirname):
                self._status_of_link(entry, folder)
        elif entry.is_dir(follow_symlinks=False) and not is_ignored(entry.name, self._tmp_dirname):
            if len(folder.parts) >= self._max_depth:
                reason = f"more than {self._max_depth} folders deep; not looked into"
                _add_broken(folder, entry.path, "PATH_TOO_DEEP", reason)
            else:
                self._todo.append((*folder.parts, entry.name))

    def _status_of_link(self, entry: os.DirEntry[str], folder: Listing) -> os.stat_result | None:
        """Return the status of the module a link leads to; None if it leads to none."""
        wanted = entry.name.endswith(".py")
        try:
            real = resolve_link(Path(entry.path))
        except UnreadableFile as error:
            if wanted or not error.missing:
                _add_broken(folder, entry.path, error.code, error.reason)
            return None
        status = real.stat()
        if not (wanted or real.is_dir()):
            return None
        if not real.is_relative_to(self._real_root):
            _add_broken(folder, entry.path, "LINK_OUTSIDE", "is a link out of the workflows folder")
        elif real.is_dir():
            _add_broken(folder, entry.path, "LINK_TO_FOLDER", _FOLDER_LINK)
        elif not self._is_tool_place(real):
            inside = real.relative_to(self._real_root)
            reason = f"is a link to {inside}, which is no tool's place"
            _add_broken(folder, entry.path, "LINK_OUTSIDE", reason)
        else:
            folder.links[entry.name] = real
            return status
        return None

    def _is_tool_place(self, real: Path) -> bool:
        parts = real.relative_to(self._real_root).parts
        hidden = any(is_ignored(part, self._tmp_dirname) for part in parts)
        return real.is_file() and not hidden and isinstance(parse_tool_path(parts), ToolPath)


def is_manifest(name: str) -> bool:
    """Return True if a file of that name holds ranking hints."""
    return name in MANIFEST_NAMES or name.endswith(_MANIFEST_ENDS)


def _add_broken(folder: Listing, path: str, code: str, reason: str) -> None:
    folder.broken.append(BrokenTool(Path(path), code, reason))


def choose_manifests(
    modules: Sequence[str], manifests: Sequence[str]
) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """(manifest by module, warnings by manifest), all of them file names in one folder.

    `NAME.tool.yaml` goes with `NAME.py`; plain `tool.yaml` with the one module of its folder. A
    named manifest comes before a plain one, YAML before TOML.
    """
    chosen: dict[str, str] = {}
    warnings: list[tuple[str, str]] = []
    for file in sorted(manifests, key=_manifest_order):
        owner, problem = _module_of_manifest(file, modules)
        if problem:
            warnings.append((file, problem))
        elif owner in chosen:
            warnings.append((file, f"not used: {chosen[owner]} comes first"))
        else:
            chosen[owner] = file
    return chosen, warnings


def _manifest_order(name: str) -> tuple[bool, bool, str]:
    return name in MANIFEST_NAMES, name.endswith(".toml"), name


def _module_of_manifest(name: str, modules: Sequence[str]) -> tuple[str, str]:
    """The module a manifest is for, or why it is for none."""
    if name in MANIFEST_NAMES:
        if len(modules) == 1:
            return modules[0], ""
        return "", f"not used: there are {len(modules)} modules beside it; name it NAME.{name}"
    wanted = name[: -len(".tool.yaml")] + ".py"
    problem = f"not used: there is no {wanted} beside it"
    return (wanted, "") if wanted in modules else ("", problem)
