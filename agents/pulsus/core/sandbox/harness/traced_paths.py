"""Resolve a path as the process that names it sees it (spec §8, §17).

This is the one place that follows links (symlinks), for the host's view and for the hook on
Python's events. Each passes its way to read a link. Loaded at every start inside the sandbox, so it
imports nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Links = Callable[[str], str]
    """Return the text of the link at an absolute path, or nothing if no link lies there."""

LINKS = 40
"""The most links that are followed, as in the kernel."""

GONE = " (deleted)"
"""The kernel appends this to the name of a file that was deleted or never had a name."""


def resolve(path: str, links: Links, *, follow: bool, root: str = "/") -> str:
    """Return the absolute path that `path` leads to, or nothing if it leads to no file.

    The last link is followed only with `follow`. `root` is what `openat2` resolves in. Links below
    /proc/N, such as `root`, `cwd` and `fd/3`, lead straight to what a process has open: to a file,
    which is named, or to a pipe or a socket, which has no path.
    """
    base = _split_path(root)
    done, todo = list(base), _split_path(path)[::-1]
    count = 0
    while todo:
        part = todo.pop()
        if part == "..":
            if len(done) > len(base):
                done.pop()
            continue
        done.append(part)
        here = "/" + "/".join(done)
        target = links(here) if (todo or follow) and count < LINKS else ""
        if target:
            count += 1
            done.pop()
            if target[0] == "/":
                done = list(base)
            elif _is_magic_link(here):
                return ""
            todo += _split_path(target)[::-1]
    return "/" + "/".join(done)


def _split_path(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]


def _is_magic_link(link: str) -> bool:
    """Return True for the links of a process, which name pipes and sockets in brackets."""
    parts = link.split("/")
    return parts[1] == "proc" and len(parts) > 3 and parts[2].isdigit()
