"""Kernel limits over a whole sandbox, where Pulsus may make control groups (spec §17).

That is as root, or as a user to whom a group was delegated. Version 1 (one tree a controller) and
version 2. A group is made for each sandbox, takes it in before the candidate is loaded, and is
removed afterwards. Without one the rlimits and the watcher are what limits.
Effect: makes and removes folders of the control-group file system.
"""

from __future__ import annotations

import errno
import functools
import itertools
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pulsus.core.sandbox.confinement.bwrap_arguments import SandboxLimits

_OWN_TASKS = 2  # bubblewrap's, and one of room so that the rlimit is what candidates meet
_GONE_SECONDS = 1.0
_numbers = itertools.count()


class NoGroups(Exception):
    """Why there is no control group to be had here."""


@dataclass(frozen=True, slots=True)
class Tree:
    """Where groups can be made: `version` 1 or 2, and the folder of each controller."""

    version: int
    parents: dict[str, Path]


@dataclass(slots=True)
class Group:
    """One sandbox's group: its folder in every tree."""

    version: int
    folders: list[Path]
    events: Path
    _entered: bool = False

    def enter(self, first: int) -> None:
        """Take in the sandbox's first process, by the host's number, and so what it starts.

        The kernel needs some milliseconds for it, so it is done while bubblewrap sets up.
        """
        if not self._entered:
            self._entered = True
            self._move(first)

    def hold(self, first: int) -> None:
        """Make sure that the harness is in it too, which may have been started in between.

        Raises OSError where it is not: then nothing of the candidate may run.
        """
        self.enter(first)
        children = _lines(f"/proc/{first}/task/{first}/children")
        wanted = {str(first), *(pid for line in children for pid in line.split())}
        if not self._holds(wanted):
            for pid in wanted:
                self._move(int(pid))
            if not self._holds(wanted):
                raise OSError(errno.ESRCH, "its control group does not hold it")

    def _move(self, pid: int) -> None:
        for folder in self.folders:
            _write(folder / "cgroup.procs", pid)

    def _holds(self, wanted: set[str]) -> bool:
        return all(wanted <= set(_lines(folder / "cgroup.procs")) for folder in self.folders)

    def out_of_memory(self) -> bool:
        """Whether the kernel ended a process of it for want of memory."""
        with suppress(OSError):
            for line in self.events.read_text(encoding="ascii").splitlines():
                name, _, value = line.partition(" ")
                if name == "oom_kill" and value.isdigit() and int(value):
                    return True
        return False

    def close(self) -> None:
        """Remove it. Its processes have been killed; the last may take a moment to be gone."""
        deadline = time.monotonic() + _GONE_SECONDS
        for folder in self.folders:
            while not _removed(folder) and time.monotonic() < deadline:
                time.sleep(0.005)


def find_tree() -> Tree:
    """Where this process can make groups with a memory and a process limit.

    Raises NoGroups saying why it cannot.
    """
    own = tuple(_own_groups())
    return _tree(tuple(_lines("/proc/self/mountinfo")), own, os.geteuid())


@functools.lru_cache(maxsize=1)
def _tree(mounts: tuple[str, ...], groups: tuple[tuple[str, str], ...], _user: int) -> Tree:
    """The same, looked for once as long as mounts, this process's groups and user are the same."""
    own = dict(groups)
    found = {}
    for words in map(str.split, mounts):
        kind, point, options = words[words.index("-") + 1], Path(words[4]), words[-1].split(",")
        if kind == "cgroup":
            for name in {"memory", "pids"} & set(options):
                found[name] = _below(point, words[3], own.get(name, "/"))
        elif kind == "cgroup2" and (
            parent := _delegating(_below(point, words[3], own.get("", "/")))
        ):
            enabled = set(_lines(parent / "cgroup.subtree_control")[0].split())
            return Tree(2, {name: parent for name in ("memory", "pids") if name in enabled})
    if not {"memory", "pids"} <= found.keys():
        raise NoGroups("no control group of this machine offers memory and pids")
    refused = [str(path) for path in found.values() if not _lets_us(path)]
    if refused:
        raise NoGroups(f"{refused[0]} cannot be written")
    return Tree(1, found)


def create_group(limits: SandboxLimits) -> Group:
    """A new group with those limits. Raises NoGroups.

    It does not choose the core: to enter a group of a third kind costs a millisecond, and the
    filter keeps the affinity that the sandbox starts with.
    """
    where = find_tree()
    name = f"pulsus-{os.getpid()}-{next(_numbers)}"
    folders = list(dict.fromkeys(parent / name for parent in where.parents.values()))
    file = "memory.events" if where.version == 2 else "memory.oom_control"
    group = Group(where.version, folders, where.parents["memory"] / name / file)
    try:
        for folder in folders:
            _swept(folder.parent)
            folder.mkdir()
        for controller, parent in where.parents.items():
            _limit(parent / name, controller, where.version, limits)
    except OSError as error:
        group.close()
        raise NoGroups(f"a control group cannot be made: {error}") from error
    return group


def _limit(folder: Path, controller: str, version: int, limits: SandboxLimits) -> None:
    match controller, version:
        case "pids", _:
            _write(folder / "pids.max", limits.processes + _OWN_TASKS)
        case _, 1:
            _write(folder / "memory.limit_in_bytes", limits.memory_bytes)
            if (swap := folder / "memory.memsw.limit_in_bytes").exists():
                _write(swap, limits.memory_bytes)
        case _:
            _write(folder / "memory.max", limits.memory_bytes)
            if (swap := folder / "memory.swap.max").exists():
                _write(swap, 0)


@functools.cache
def _swept(parent: Path) -> None:
    """Once in a process: what was left before it began."""
    _sweep(parent)


def _sweep(parent: Path) -> None:
    """Remove what a killed Pulsus could not: groups of processes that are no more."""
    for folder in parent.glob("pulsus-*-*"):
        maker = folder.name.split("-")[1]
        if maker.isdigit() and not Path("/proc", maker).exists():
            _removed(folder)


def _removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _delegating(folder: Path) -> Path | None:
    """The nearest folder at or above that lets groups below it limit memory and processes."""
    for each in (folder, *folder.parents):
        lines = _lines(each / "cgroup.subtree_control")
        if lines and {"memory", "pids"} <= set(lines[0].split()) and _lets_us(each):
            return each
    return None


def _lets_us(folder: Path) -> bool:
    """Whether groups can be made below it, and processes be moved from it to them.

    That is so for root, and for a user to whom it was delegated (`Delegate=` of systemd).
    """
    return all(os.access(path, os.W_OK) for path in (folder, folder / "cgroup.procs"))


def _own_groups() -> list[tuple[str, str]]:
    """(controller, path of this process's group); the controller of version 2 has no name."""
    parts = [line.split(":", 2) for line in _lines("/proc/self/cgroup")]
    return [(name, path) for _, names, path in parts for name in names.split(",")]


def _below(point: Path, root: str, path: str) -> Path:
    """Where that group is found under a mount that shows the groups below `root`."""
    inside = Path(path).relative_to(root) if Path(path).is_relative_to(root) else Path()
    return point / inside if (point / inside).is_dir() else point


def _lines(path: str | Path) -> list[str]:
    with suppress(OSError):
        return Path(path).read_text(encoding="utf-8").splitlines()
    return []


def _write(path: Path, value: object) -> None:
    path.write_text(str(value), encoding="ascii")
