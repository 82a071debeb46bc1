"""Versions of promoted tools (spec §10). Pure."""

from __future__ import annotations

import re

FIRST = "1.0.0"

_VERSION = re.compile(r"(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})", re.ASCII)


def parse(version: str) -> tuple[int, int, int]:
    """(major, minor, patch) of `MAJOR.MINOR.PATCH`. Raises ValueError for anything else."""
    match = _VERSION.fullmatch(version)
    if match is None:
        raise ValueError(f"version {version!r} is not MAJOR.MINOR.PATCH, like 1.0.0")
    return int(match[1]), int(match[2]), int(match[3])


def next_version(previous: str | None) -> str:
    """The version of the next revision: 1.0.0 for the first, else one PATCH more.

    Raises ValueError when `previous` is malformed.
    """
    if previous is None:
        return FIRST
    major, minor, patch = parse(previous)
    return f"{major}.{minor}.{patch + 1}"
