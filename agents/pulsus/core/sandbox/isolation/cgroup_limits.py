"""Limit a whole sandbox with control groups, if Pulsus may make them (spec §17).

The memory and process limits of the kernel are set here, and it says if a process was ended for
lack of memory (OOM). A real run of a tool is limited in `execution/confinement/`. Root may make
groups, and so may a user to whom a group was delegated. Version 1 (one tree for each controller)
and version 2 are supported. Each sandbox gets a new group before the candidate is loaded, and the
group is removed afterwards. Without a group, rlimits and the resource monitor limit the sandbox.
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

from pulsus.core.sandbox.sandbox_limits import SandboxLimits

_OWN_TASKS = 2  # bubblewrap's own, and one more so that candidates reach the rlimit first
_GONE_SECONDS = 1.0
_numbers = itertools.count()


class NoGroups(Exception):
    """No control group can be made here; the message is the reason."""


@dataclass(frozen=True, slots=True)
class Tree:
    """The folders in which groups can be made, by controller; `version` is 1 or 2."""

    version: int
    parents: dict[str, Path]


@dataclass(slots=True)
class Group:
    """The group of one sandbox: its folder in every tree."""

    version: int
    folders: list[Path]
    events: Path
    _entered: bool = False

    def enter(self, first: int) -> None:
        """Move the sandbox's first process, by the host's number, and so its children into the
        group.

        The kernel needs some milliseconds for it, so it is done while bubblewrap sets up.
        """
        if not self._entered:
            self._entered = True
            self._move_process(first)

    def hold(self, first: int) -> None:
        """Check that the harness is in the group too, which may have started in between.

        Raises OSError if it is not: then nothing of the candidate may run.
        """
        self.enter(first)
        children = _read_lines(f"/proc/{first}/task/{first}/children")
        wanted = {str(first), *(pid for line in children for pid in line.split())}
        if not self._has_processes(wanted):
            for pid in wanted:
                self._move_process(int(pid))
            if not self._has_processes(wanted):
                raise OSError(errno.ESRCH, "its control group does not hold it")

    def _move_process(self, pid: int) -> None:
        for folder in self.folders:
            _write_value(folder / "cgroup.procs", pid)

    def _has_processes(self, wanted: set[str]) -> bool:
        return all(wanted <= set(_read_lines(folder / "cgroup.procs")) for folder in self.folders)

    def out_of_memory(self) -> bool:
        """Return True if the kernel ended one of its processes for lack of memory."""
        with suppress(OSError):
            for line in self.events.read_text(encoding="ascii").splitlines():
                name, _, value = line.partition(" ")
                if name == "oom_kill" and value.isdigit() and int(value):
                    return True
        return False

    def close(self) -> None:
        """Remove the group. Its processes have been killed; the last may take a moment to end."""
        deadline = time.monotonic() + _GONE_SECONDS
        for folder in self.folders:
            while not _remove_group(folder) and time.monotonic() < deadline:
                time.sleep(0.005)


def find_tree() -> Tree:
    """Return the tree in which this process can make groups that limit memory and processes.

    Raises NoGroups with the reason.
    """
    own = tuple(_list_own_groups())
    return _cached_tree(tuple(_read_lines("/proc/self/mountinfo")), own, os.geteuid())


@functools.lru_cache(maxsize=1)
def _cached_tree(mounts: tuple[str, ...], groups: tuple[tuple[str, str], ...], _user: int) -> Tree:
    """Return the tree of control groups, cached for the same mounts, groups and user."""
    own = dict(groups)
    found = {}
    for words in map(str.split, mounts):
        kind, point, options = words[words.index("-") + 1], Path(words[4]), words[-1].split(",")
        if kind == "cgroup":
            for name in {"memory", "pids"} & set(options):
                found[name] = _folder_of_group(point, words[3], own.get(name, "/"))
        elif kind == "cgroup2" and (
            parent := _find_delegated_folder(_folder_of_group(point, words[3], own.get("", "/")))
        ):
            enabled = set(_read_lines(parent / "cgroup.subtree_control")[0].split())
            return Tree(2, {name: parent for name in ("memory", "pids") if name in enabled})
    if not {"memory", "pids"} <= found.keys():
        raise NoGroups("no control group of this machine offers memory and pids")
    refused = [str(path) for path in found.values() if not _may_make_groups(path)]
    if refused:
        raise NoGroups(f"{refused[0]} cannot be written")
    return Tree(1, found)


def create_group(limits: SandboxLimits) -> Group:
    """Make a new group with those limits. Raises NoGroups.

    It does not choose the core. To enter a group of a third kind costs a millisecond, and the
    filter does not let the affinity change.
    """
    where = find_tree()
    name = f"pulsus-{os.getpid()}-{next(_numbers)}"
    folders = list(dict.fromkeys(parent / name for parent in where.parents.values()))
    file = "memory.events" if where.version == 2 else "memory.oom_control"
    group = Group(where.version, folders, where.parents["memory"] / name / file)
    try:
        for folder in folders:
            _sweep_once(folder.parent)
            folder.mkdir()
        for controller, parent in where.parents.items():
            _write_limits(parent / name, controller, where.version, limits)
    except OSError as error:
        group.close()
        raise NoGroups(f"a control group cannot be made: {error}") from error
    return group


def _write_limits(folder: Path, controller: str, version: int, limits: SandboxLimits) -> None:
    match controller, version:
        case "pids", _:
            _write_value(folder / "pids.max", limits.processes + _OWN_TASKS)
        case _, 1:
            _write_value(folder / "memory.limit_in_bytes", limits.memory_bytes)
            if (swap := folder / "memory.memsw.limit_in_bytes").exists():
                _write_value(swap, limits.memory_bytes)
        case _:
            _write_value(folder / "memory.max", limits.memory_bytes)
            if (swap := folder / "memory.swap.max").exists():
                _write_value(swap, 0)


@functools.cache
def _sweep_once(parent: Path) -> None:
    """Remove the leftover groups, once in a process."""
    _sweep_leftovers(parent)


def _sweep_leftovers(parent: Path) -> None:
    """Remove the groups that a killed Pulsus left."""
    for folder in parent.glob("pulsus-*-*"):
        maker = folder.name.split("-")[1]
        if maker.isdigit() and not Path("/proc", maker).exists():
            _remove_group(folder)


def _remove_group(folder: Path) -> bool:
    with suppress(OSError):
        folder.rmdir()
    return not folder.exists()


def _find_delegated_folder(folder: Path) -> Path | None:
    """Return the nearest folder at or above whose groups can limit memory and processes."""
    for each in (folder, *folder.parents):
        lines = _read_lines(each / "cgroup.subtree_control")
        if lines and {"memory", "pids"} <= set(lines[0].split()) and _may_make_groups(each):
            return each
    return None


def _may_make_groups(folder: Path) -> bool:
    """Return True if groups can be made below it and processes can be moved there.

    Root may, and a user to whom the folder was delegated (`Delegate=` of systemd).
    """
    return all(os.access(path, os.W_OK) for path in (folder, folder / "cgroup.procs"))


def _list_own_groups() -> list[tuple[str, str]]:
    """Return pairs of a controller and this process's group. Version 2 names no controller."""
    parts = [line.split(":", 2) for line in _read_lines("/proc/self/cgroup")]
    return [(name, path) for _, names, path in parts for name in names.split(",")]


def _folder_of_group(point: Path, root: str, path: str) -> Path:
    """Return the folder of that group under a mount that shows the groups below `root`."""
    inside = Path(path).relative_to(root) if Path(path).is_relative_to(root) else Path()
    return point / inside if (point / inside).is_dir() else point


def _read_lines(path: str | Path) -> list[str]:
    with suppress(OSError):
        return Path(path).read_text(encoding="utf-8").splitlines()
    return []


def _write_value(path: Path, value: object) -> None:
    path.write_text(str(value), encoding="ascii")
