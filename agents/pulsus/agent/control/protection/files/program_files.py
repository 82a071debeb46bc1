"""Programs that calls of the agent run by name, and libraries that every program loads.

What is written there runs with the next read, which no person is asked about.

`startup_files.py` refuses writes to them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from typing import Final

from pulsus.commands.program_tables.loader import Tables

_LIBRARY: Final = re.compile(r".*\.so(?:[.*?\[].*)?|ld-.*|.*\.so\.[\w.]+|[^.]*[*?\[].*")
"""A shared library, the loader, or a pattern that may fit one."""
_ROOTS: Final = re.compile(r"lib(?:32|64|x32|exec)?")
_WHOLE: Final = re.compile(
    r"(?:usr/|usr/local/)?(?:lib(?:32|64|x32|exec)?/)(?:git-core|\w+-linux-gnu\w*|gconv|sudo|nss)"
    r"|etc/alternatives|(?:usr/(?:local/)?)?lib(?:exec)?/docker(?:/cli-plugins)?"
)
"""Folders whose files are all of this kind: libraries, parts of git, links to programs."""
_AROUND: Final = frozenset(
    {(), ("usr",), ("usr", "local"), ("etc",), ("etc", "alternatives")}
    | {
        (*start, name)
        for start in ((), ("usr",), ("usr", "local"))
        for name in ("lib", "lib32", "lib64", "libx32", "libexec", "bin", "sbin")
    }
)


def is_library(parts: Sequence[str]) -> bool:
    """Return True for a library that programs load, or a file that stands for a program."""
    below = next((at for at, part in enumerate(parts[:3]) if _ROOTS.fullmatch(part)), -1)
    is_root = below == 0 or tuple(parts[:below]) in {("usr",), ("usr", "local")}
    if parts[:2] == ("etc", "alternatives") or (below >= 0 and is_root):
        if any(map(_WHOLE.fullmatch, accumulate(parts[:5], lambda one, two: f"{one}/{two}"))):
            return True
        return len(parts) == below + 2 and _LIBRARY.fullmatch(parts[-1]) is not None
    return False


def is_around_libraries(parts: Sequence[str]) -> bool:
    """Return True for a folder that holds such files, and others."""
    return tuple(parts) in _AROUND


@cache
def table_programs() -> frozenset[str]:
    """Return the programs of all tables, which the gate may let run unasked, in small letters."""
    return frozenset(name.casefold() for name in Tables().names())
