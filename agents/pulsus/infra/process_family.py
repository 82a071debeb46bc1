"""The processes that Pulsus lives in: this one, those above it, and those that it started.

If a command would end one of them is decided in
`agent/control/protection/processes/process_signals.py`.
Effect: `LivingFamily` reads `/proc`, and only what a fact needs. On a system without it, only this
process and its parent are known.
"""

from __future__ import annotations

import getpass
import os
import re
import sys
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Final, Protocol

from pulsus.fast_dataclass import dataclass

_PROC: Final = Path("/proc")
_DEEPEST: Final = 64
"""Processes above this one that are followed. A service manager is rarely the tenth."""


class FamilyFacts(Protocol):
    """The processes of Pulsus, by everything that a program may choose them by.

    `names` are the short names, `lines` the command lines. `groups` are process groups and
    sessions, `users` names and ids of their user, and `files` what they have open.
    """

    @property
    def pids(self) -> frozenset[int]: ...
    @property
    def groups(self) -> frozenset[int]: ...
    @property
    def names(self) -> frozenset[str]: ...
    @property
    def lines(self) -> tuple[str, ...]: ...
    @property
    def users(self) -> frozenset[str]: ...
    @property
    def files(self) -> frozenset[str]: ...
    @property
    def units(self) -> frozenset[str]: ...


@dataclass(frozen=True, slots=True)
class ProcessFamily:
    """Facts that are known."""

    pids: frozenset[int]
    groups: frozenset[int] = frozenset()
    names: frozenset[str] = frozenset()
    lines: tuple[str, ...] = ()
    users: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    units: frozenset[str] = frozenset()


class LivingFamily:
    """Facts of this process as they are when they are first asked for, each by itself."""

    @cached_property
    def pids(self) -> frozenset[int]:
        """Return the numbers of this process, of those above it and of those below it."""
        return frozenset({os.getpid(), *_above(os.getpid()), *self._below})

    @cached_property
    def _below(self) -> frozenset[int]:
        return frozenset(_below(os.getpid()))

    @cached_property
    def groups(self) -> frozenset[int]:
        """Return the process group and the session."""
        return frozenset({os.getpgrp(), os.getsid(0)})

    @cached_property
    def names(self) -> frozenset[str]:
        """Return the short names."""
        found = {Path(sys.executable).name, *(_text(pid, "comm").strip() for pid in self.pids)}
        return frozenset(filter(None, found))

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """Return the command lines. That of this process is known also without /proc."""
        found = (_text(pid, "cmdline").replace("\0", " ").strip() for pid in self.pids)
        return tuple(filter(None, (" ".join(sys.orig_argv), *found)))

    @cached_property
    def users(self) -> frozenset[str]:
        """Return the name and the ids of the user."""
        found = {str(os.getuid()), str(os.geteuid())}
        with suppress(KeyError, OSError):  # an id without a name
            found.add(getpass.getuser())
        return frozenset(found)

    @cached_property
    def files(self) -> frozenset[str]:
        """Return what this process and those below it have open."""
        return frozenset(_open_files({os.getpid(), *self._below}))

    @cached_property
    def units(self) -> frozenset[str]:
        """Return the units and control groups that this process is in."""
        parts = _text(os.getpid(), "cgroup").replace(":", "/").split("/")
        return frozenset(filter(None, parts))


def _above(pid: int) -> list[int]:
    found: list[int] = []
    while len(found) < _DEEPEST and (parent := _parent_of(pid)) > 0:
        found.append(parent)
        pid = parent
    return found


def _parent_of(pid: int) -> int:
    if pid == os.getpid():
        return os.getppid()
    fields = _text(pid, "stat").rpartition(")")[2].split()
    return int(fields[1]) if len(fields) > 1 else 0


def _below(pid: int) -> set[int]:
    found, waiting = set[int](), [pid]
    while waiting:
        at = waiting.pop()
        with suppress(OSError):
            for thread in os.scandir(f"{_PROC}/{at}/task"):
                children = {*map(int, _text(at, f"task/{thread.name}/children").split())} - found
                found |= children
                waiting += children
    return found


def _open_files(pids: set[int]) -> set[str]:
    found = set[str]()
    for pid in pids:
        links = [f"{_PROC}/{pid}/{name}" for name in ("cwd", "exe", "root")]
        with suppress(OSError):
            links += [each.path for each in os.scandir(f"{_PROC}/{pid}/fd")]
        found.update(re.findall(r" (/\S.*)$", _text(pid, "maps"), re.MULTILINE))
        for link in links:
            with suppress(OSError):
                found.add(str(Path(link).readlink()))
    return found


def _text(pid: int, name: str) -> str:
    try:
        return (_PROC / str(pid) / name).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
