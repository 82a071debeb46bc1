"""SemVer versions of promoted tools: major, minor and patch (spec §10). Pure.

The size of the step is decided in `core/storage/promotion/needed_bump.py`, and for one promotion in
`core/storage/promotion/choose_version.py`.
"""

from __future__ import annotations

import re
from typing import Literal, get_args

from pulsus.late_pattern import late_pattern

FIRST = "1.0.0"

Bump = Literal["patch", "minor", "major"]
BUMPS: tuple[Bump, ...] = get_args(Bump)
"""From the least to the greatest."""

_VERSION = late_pattern(r"(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})", re.ASCII)


def parse_version(version: str) -> tuple[int, int, int]:
    """Return (major, minor, patch) of `MAJOR.MINOR.PATCH`. Raises ValueError for anything else."""
    match = _VERSION.fullmatch(version)
    if match is None:
        raise ValueError(f"version {version!r} is not MAJOR.MINOR.PATCH, like 1.0.0")
    return int(match[1]), int(match[2]), int(match[3])


def next_version(previous: str | None, bump: Bump = "patch") -> str:
    """Return the version of the next revision: 1.0.0 for the first, else always above `previous`.

    Raises ValueError when `previous` is malformed.
    """
    if previous is None:
        return FIRST
    major, minor, patch = parse_version(previous)
    match bump:
        case "major":
            return f"{major + 1}.0.0"
        case "minor":
            return f"{major}.{minor + 1}.0"
        case "patch":
            return f"{major}.{minor}.{patch + 1}"


def greatest(*bumps: Bump) -> Bump:
    """Return the greatest of some bumps; a patch without any."""
    return max(bumps, key=BUMPS.index, default="patch")
