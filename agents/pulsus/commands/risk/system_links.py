"""Links that every Linux system has, followed in a path before its `..` are taken away.

`/dev/fd/../environ` is no file of /dev: /dev/fd leads to /proc/self/fd, so `..` is /proc/self.
Links that a user made are not known (docs/command-safety.md, known limits).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_LINKS: Final = (
    (re.compile(r"^/dev/fd(?!/[012]$)(?=/|$)"), "/proc/self/fd"),
    (re.compile(r"^/dev/stdin(?=/)"), "/proc/self/fd/0"),
    (re.compile(r"^/dev/stdout(?=/)"), "/proc/self/fd/1"),
    (re.compile(r"^/dev/stderr(?=/)"), "/proc/self/fd/2"),
    (re.compile(r"^/dev/core(?=/|$)"), "/proc/kcore"),
    (re.compile(r"^/dev/log(?=/|$)"), "/run/systemd/journal/dev-log"),
    (re.compile(r"^/var/run(?=/|$)"), "/run"),
    (re.compile(r"^/var/lock(?=/|$)"), "/run/lock"),
    (re.compile(r"^/(bin|sbin|lib|lib32|lib64)(?=/|$)"), r"/usr/\1"),
    (re.compile(r"^/proc/(net|mounts)(?=/|$)"), r"/proc/self/\1"),
    (re.compile(r"^/proc/thread-self(?=/|$)"), "/proc/self/task/1"),
    (re.compile(r"^/etc/mtab(?=/|$)"), "/proc/self/mounts"),
    (re.compile(r"^/sys/class/[^/]+/[^/]+(?=/\.\.)"), "/sys/devices/x/x/x"),
    # The root of a process is the root of some system.
    (re.compile(r"^/proc/[^/]+(?:/task/[^/]+)?/root(?=/|$)"), ""),
    (re.compile(r"^/proc/self/fd/[^/]+(?=/)"), ""),
)


@lru_cache(maxsize=4096)
def followed(path: str) -> str:
    """`path` with its known links replaced and its `..` taken away, one after another."""
    if path[:1] != "/":
        return path
    at = ""
    for part in path.split("/"):
        if part in {"", "."}:
            continue
        if part == "..":
            at = at.rpartition("/")[0]
            continue
        at = _linked(f"{at}/{part}")
    return at or "/"


def _linked(path: str) -> str:
    for link, target in _LINKS:
        path, count = link.subn(target, path)
        if count:
            break
    return path
