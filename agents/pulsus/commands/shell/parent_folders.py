"""Paths that go up with `..`: a pattern such as `/etc/x/.*` does not say where they lead.

`..` in the path of a secret is resolved in `commands/risk/secret_paths.py`.
"""

from __future__ import annotations

import posixpath
import re
from typing import Final

_CLIMBING: Final = re.compile(r"[^=:,@\s]*(?<![^/=:,@\s])\.\.(?![^/=:,@\s])[^=:,@\s]*")
"""A path with `..` as one of its parts, alone or behind a sign that begins a value."""

_ELSEWHERE: Final = "/tmp/elsewhere/"
"""A folder that no table means by a pattern of places."""


def moved_elsewhere(text: str) -> tuple[str, ...]:
    """Return `text` with each path that goes up written as where it may lead.

    A part before `..` may be a link, so `/etc/a/../b` may be any file called `b`. A pattern that
    limits places has to take these texts too.
    """
    if ".." not in text:
        return ()
    resolved = _CLIMBING.sub(lambda found: posixpath.normpath(found[0]), text)
    anywhere = _CLIMBING.sub(lambda found: _ELSEWHERE + posixpath.basename(found[0]), text)
    return (resolved, anywhere) if anywhere != text else ()


def climbs(path: str) -> bool:
    """Return True if a relative `path` leads out of the folder where it begins."""
    return path[:1] not in {"/", "~"} and posixpath.normpath(path).split("/", 1)[0] == ".."


def read_from_root(path: str) -> str:
    """Return `path` as it reads if the folder where it begins is near the root.

    How deep that folder lies is not known, so `../..` is `/` and `../etc` is `/etc`.
    """
    if path[:1] == "~":
        path = re.sub(r"^~[^/]*", "/home/_", path)
    whole = posixpath.normpath(path)
    if not climbs(whole):
        return whole
    return posixpath.normpath("/" + whole)
