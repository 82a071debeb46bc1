"""The files that belong to Pulsus itself, found in every spelling of a path.

Symbolic links, `..`, `~` and globs count. `agent/tools/all_tools.py` says which folders are
protected, `startup_files.py` where only writes are refused.

Effect: follows the links of a path, with `resolve` and as `linked_files.py` says.
"""

from __future__ import annotations

import os
import posixpath
import pwd
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import starmap
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from pulsus.agent.control.protection.files.file_looks import FollowedPath, current_looks
from pulsus.agent.control.protection.files.linked_files import (
    LinkedFiles,
    linked_names,
    links_below,
)
from pulsus.agent.control.protection.files.place_index import Parts, PlaceIndex, Relation
from pulsus.agent.control.protection.files.real_paths import real_path
from pulsus.agent.control.protection.files.second_mounts import MountTable, read_table
from pulsus.commands.risk.secret_paths import follow_links
from pulsus.commands.shell.glob_overlap import patterns_overlap, simplify_pattern

_WILD: Final = re.compile(r"[*?\[]")
_ANY_NAMES: Final = "**"
"""A part that stands for any number of names: `xargs` fills it in."""
_LAYERS: Final = re.compile(
    r"(?:/var/lib/(?:docker|containers|containerd|lxc|lxd|incus|machines|rkt)|/run/containerd"
    r"|/run/docker|/var/snap/[^/]+/common|/home/[^/]+/\.local/share/containers|.*/overlay2?)"
    r"/(?:.*?/)?(?:merged|diff|fs|rootfs|mnt/[^/]+|delta0)/"
)
"""Folders in which the root of a container lies. Pulsus may run in that container."""
_STANDARD_STREAMS: Final = frozenset({"0", "1", "2"})


class ProtectedPlaces:
    """The folders and files of Pulsus, and the folder in which commands run.

    `project` is the root of the project. The history of its git work tree, which may begin farther
    above, shows old versions of its files.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        *,
        folder: Path,
        project: Path,
        home: Path | None = None,
        resolve: Callable[[str], str] = real_path,
        read_mounts: Callable[[], str] = read_table,
    ) -> None:
        self.folder, self.project = str(folder), str(project)
        self._home, self._resolve = str(home) if home else "/", resolve
        spelled = [str(path) for path in paths]
        every = [*spelled, *map(resolve, spelled)]
        self._named = tuple(dict.fromkeys(_parts_of(path) for path in every))
        self._mounts = MountTable(tuple(dict.fromkeys(every)), read_mounts)
        self._mounted: tuple[str, ...] = ()
        self._known = PlaceIndex(self._named)
        self._linked = LinkedFiles(tuple(dict.fromkeys(every)))
        trees = [_work_tree(path) for path in (self.project, resolve(self.project))]
        self._tree = tuple(dict.fromkeys(map(_parts_of, trees)))
        self._base = self.folder, self._home, resolve

    def _index(self) -> PlaceIndex:
        """Return every path at which a protected place is, also by a second mount."""
        names = self._mounts.names()
        if names is not self._mounted:
            self._known = PlaceIndex((*self._named, *map(_parts_of, names)))
            self._mounted = names
        return self._known

    def find(
        self,
        path: str,
        folders: Sequence[str] = (),
        *,
        wild: bool = False,
        filled: bool = False,
    ) -> Relation | None:
        """Return how `path` lies to the protected places, or None if it is apart from them.

        `folders` are those that `cd` and options went to before. With `wild` the path may hold
        patterns. With `filled` something else fills in its `*`, also with several names.
        Raises TooManyNames for a pattern that too many names fit.
        """
        wild = wild and any(map(_WILD.search, (path, *folders)))
        spelled = self.spellings(path, folders, wild=wild, filled=filled)
        return self.relate(spelled, wild=wild, filled=filled)

    def relate(
        self, spelled: Iterable[tuple[str, ...]], *, wild: bool, filled: bool
    ) -> Relation | None:
        """Return how a path lies to the places. `spelled` is what `spellings` yields for it."""
        found: Relation | None = None
        index = self._index()
        for parts in spelled:
            if _is_open_file(parts):
                return "inside"
            if not (wild or filled):
                relation = index.relate(parts)
                if relation == "inside":
                    return relation
                found = relation or found
                continue
            for place in index.places:
                relation = _relate(parts, place, wild=wild or filled, filled=filled)
                if relation == "inside":
                    return relation
                found = relation or found
        return found

    def is_in_project(self, path: str, folders: Sequence[str] = ()) -> bool:
        """Return True if the folder `path` is in the work tree of the project, or around it."""
        for parts in self.spellings(path, folders, wild=False, filled=False):
            for tree in self._tree:
                if _relate(parts, tree, wild=False, filled=False):
                    return True
        return False

    def spellings(
        self, path: str, folders: Sequence[str], *, wild: bool, filled: bool
    ) -> Sequence[Parts]:
        """Return the parts of the path as it is written, and as its links lead."""
        if wild or filled:
            return [*dict.fromkeys(self._spell_pattern(path, folders, filled=filled))]
        kept, key = current_looks().spellings, (path, *folders, self._base)
        followed = kept.get(key)
        if followed is None:
            followed = kept[key] = [*self._follow(path, folders)]
        return self._with_same_files(followed)

    def _spell_pattern(self, path: str, folders: Sequence[str], *, filled: bool) -> Iterator[Parts]:
        """Yield the same for a pattern, and for the names with links that fit it."""
        for whole in self.absolute_paths(_without_scheme(path), folders):
            mark = _WILD.search(whole)
            if mark is None:
                yield from self._with_same_files([*self._follow_whole(whole)])
                continue
            yield from {_parts_of(whole), _parts_of(follow_links(whole))}
            head, _, tail = whole[: mark.start()].rpartition("/")
            tail += whole[mark.start() :]
            if filled:
                tail = tail.replace("*", f"/{_ANY_NAMES}/")
            yield _parts_of(f"{self._resolve(head or '/')}/{tail}")
            for name in linked_names(posixpath.normpath(whole)):
                real = self._resolve(name)
                yield from self._with_same_files([(real, (_parts_of(real),))])
            layer = _LAYERS.match(whole)
            if layer is not None:
                yield from self._spell_pattern(whole[layer.end() - 1 :], (), filled=filled)

    def _follow(self, path: str, folders: Sequence[str] = ()) -> Iterator[FollowedPath]:
        """Yield each place that a path leads to from the folders that a command went to."""
        for whole in self.absolute_paths(_without_scheme(path), folders):
            yield from self._follow_whole(whole)

    def _follow_whole(self, path: str) -> Iterator[FollowedPath]:
        """Yield where an absolute path leads, also within the root of a container."""
        kept, key = current_looks().followed, (path, self._resolve)
        if key not in kept:
            real = self._resolve(path)
            names = dict.fromkeys((path, follow_links(path), real))
            kept[key] = real, tuple(dict.fromkeys(map(_parts_of, names)))
        yield kept[key]
        layer = _LAYERS.match(path)
        if layer is not None:
            yield from self._follow(path[layer.end() - 1 :])

    def _with_same_files(self, followed: Sequence[FollowedPath]) -> Sequence[Parts]:
        """Return the spellings of paths, and of a place that has the same file as one of them."""
        found = [parts for _, spelled in followed for parts in spelled]
        if any(self._linked.is_same_file(real) for real, _ in followed):
            found.append(self._named[0])
        return found

    def has_links_inside(self, path: str, folders: Sequence[str] = ()) -> bool:
        """Return True if a link below the folder `path` leads to the protected places.

        Raises TooManyNames.
        """
        every = self.absolute_paths(_without_scheme(path), folders)
        return any(map(self._has_link_below, every))

    def _has_link_below(self, folder: str) -> bool:
        known, key = current_looks().links, (self, folder)
        if key not in known:
            known[key] = any(map(self._index().relate, map(_parts_of, links_below(folder))))
        return known[key]

    def has_hard_links_inside(self, path: str, folders: Sequence[str] = ()) -> bool:
        """Return True if a file below the folder `path` is a protected one under another name.

        Raises TooManyNames.
        """
        every = self.absolute_paths(_without_scheme(path), folders)
        return any(map(self._linked.has_hard_link_below, every))

    def absolute_paths(self, path: str, folders: Sequence[str]) -> tuple[str, ...]:
        """Return where `path` may lead from the folders that a command went to, each once."""
        path = self._expand(path)
        if path[:1] == "/":
            return (path,)  # it is the same from every folder
        if not folders:
            return (posixpath.join(self.folder, path),)
        bases, key = current_looks().bases, (*folders, self._base)
        if key not in bases:
            bases[key] = tuple(dict.fromkeys(self._bases(folders)))
        return tuple(dict.fromkeys(posixpath.join(base, path) for base in bases[key]))

    def _bases(self, folders: Sequence[str]) -> Iterator[str]:
        """Yield every folder in which a command may be that went to `folders`."""
        base = self.folder
        for folder in folders:
            base = posixpath.join(base, self._expand(folder))
        yield base
        # `cd` may have failed, and an option may belong to another program.
        yield self.folder
        yield from (posixpath.join(self.folder, self._expand(one)) for one in folders)

    def _home_of(self, user: str) -> str:
        """Return the home folder of a user, or that of this one for an unknown name."""
        try:
            return pwd.getpwnam(user).pw_dir if user else self._home
        except (KeyError, ValueError):
            return self._home

    def _expand(self, path: str) -> str:
        """Return the path with `~` and the working folder of a process written out."""
        if path[:1] == "~":
            user, slash, rest = path.partition("/")
            where = {"~+": self.folder, "~-": self.folder}.get(user) or self._home_of(user[1:])
            path = f"{where}{slash}{rest}"
        # The link of any process: the one of Pulsus leads to its project.
        if path[:6] == "/proc/" and "cwd" in (parts := path.split("/"))[2:]:
            rest_of = "/".join(parts[parts.index("cwd") + 1 :])
            path = posixpath.join(self.folder, rest_of)
        return path


def _work_tree(folder: str) -> str:
    """Return the root of the git work tree around `folder`, or `folder` without one."""
    above = [folder, *map(str, Path(folder).parents)]
    return next((one for one in above if os.path.lexists(f"{one}/.git")), folder)


def _without_scheme(path: str) -> str:
    """Return the path of a `file:` URL, as programs open it; other texts as they are."""
    if path[:5].casefold() != "file:":
        return path
    path = unquote(path[5:].partition("?")[0].partition("#")[0])
    if path[:2] == "//":
        _, slash, rest = path[2:].partition("/")
        path = slash + rest
    return path


def _parts_of(path: str) -> tuple[str, ...]:
    plain = posixpath.normpath(path).casefold()
    return tuple(filter(None, plain.split("/")))


def _is_open_file(parts: Sequence[str]) -> bool:
    """Return True for a file that a process has open: it may be any."""
    if parts[:1] == ("proc",):
        inside = [at for at, part in enumerate(parts[:-1]) if part in {"fd", "map_files"}]
    elif parts[:2] == ("dev", "fd"):
        inside = [1] if len(parts) > 2 else []
    else:
        return False
    return any(parts[at + 1] not in _STANDARD_STREAMS for at in inside)


def _relate(
    parts: Sequence[str], place: Sequence[str], *, wild: bool, filled: bool
) -> Relation | None:
    if filled and _ANY_NAMES in parts:
        # Whatever stands before the filled part decides: it may end anywhere below.
        parts = parts[: parts.index(_ANY_NAMES)]
        shared = min(len(parts), len(place))
        return "inside" if _are_alike(parts[:shared], place[:shared], wild=wild) else None
    shared = min(len(parts), len(place))
    if not _are_alike(parts[:shared], place[:shared], wild=wild):
        return None
    return "inside" if len(parts) >= len(place) else "above"


def _are_alike(parts: Sequence[str], place: Sequence[str], *, wild: bool) -> bool:
    if not wild:
        return tuple(parts) == tuple(place)
    return all(starmap(_may_be_named, zip(parts, place, strict=True)))


def _may_be_named(pattern: str, name: str) -> bool:
    if _WILD.search(pattern) is None:
        return pattern == name
    if name[0] == "." and pattern[0] in "*?":
        return False
    return patterns_overlap(simplify_pattern(pattern), name)
