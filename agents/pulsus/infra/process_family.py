"""The processes that Pulsus lives in: this one, those above it, and those that it started.

Effect: `read_family` reads `/proc`. On a system without it, only this process and
its parent are known.
"""

from __future__ import annotations

import getpass
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

from pulsus.fast_dataclass import dataclass

_PROC: Final = Path("/proc")
_DEEPEST: Final = 64
"""Processes above this one that are followed. A service manager is rarely the tenth."""


@dataclass(frozen=True, slots=True)
class ProcessFamily:
    """The processes of Pulsus, by everything that a program may choose them by.

    `names` are the short names, `lines` the command lines. `groups` are process groups and
    sessions, `users` names and ids of their user, and `files` what they have open.
    """

    pids: frozenset[int]
    groups: frozenset[int] = frozenset()
    names: frozenset[str] = frozenset()
    lines: tuple[str, ...] = ()
    users: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    units: frozenset[str] = frozenset()


def read_family() -> ProcessFamily:
    """Return the family of this process as it is now."""
    own = os.getpid()
    below = _below(own)
    pids = {own, *_above(own), *below}
    # The command line of this process is known also without /proc.
    names, lines = {Path(sys.executable).name}, [" ".join(sys.orig_argv)]
    for pid in pids:
        names.add(_text(pid, "comm").strip())
        lines.append(_text(pid, "cmdline").replace("\0", " ").strip())
    users = {str(os.getuid()), str(os.geteuid())}
    with suppress(KeyError, OSError):  # an id without a name
        users.add(getpass.getuser())
    return ProcessFamily(
        frozenset(pids),
        frozenset({os.getpgrp(), os.getsid(0)}),
        frozenset(filter(None, names)),
        tuple(filter(None, lines)),
        frozenset(users),
        frozenset(_open_files({own, *below})),
        frozenset(part for part in _text(own, "cgroup").replace(":", "/").split("/") if part),
    )


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
        for link in links:
            with suppress(OSError):
                found.add(str(Path(link).readlink()))
    return found


def _text(pid: int, name: str) -> str:
    try:
        return (_PROC / str(pid) / name).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
