"""Hosts that a path names: an automounter connects to HOST for `/net/HOST/file`. Pure.

Such a path may start an NFS mount, so the host counts as a destination.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Final

from pulsus.commands.command_verdict import Destination
from pulsus.commands.shell.parent_folders import climbs, read_from_root
from pulsus.commands.shell.words import Word

_PATH: Final = re.compile(r"(?:^|[=:@,\s'\"])([^=:@,\s'\"]+)")
# Each part ends where the next begins, so the time does not grow with the square of a word.
_LIKELY: Final = re.compile(
    r"net/|afs/|\.\.|^[^/*?\[]*[*?\[]|^[^/]*/+[^/*?\[]*[*?\[]|^[^/]*/*proc/.*[*?\[]"
)
_SIGNS: Final = frozenset("/.*?[")
"""A word without any of them is not likely to be such a path."""
_NEAR: Final = re.compile(r"/+(?:net|afs)(?:/|$)|/+$")
_ROOT: Final = re.compile(r"^/+proc/[^/]+/(?:task/[^/]+/)?root/+")
_MOUNTED: Final = re.compile(r"/+(?P<top>[^/]+)/+(?P<host>[^/]+)")


def mounted_hosts(words: Sequence[Word], folders: Sequence[str] = ()) -> Iterator[Destination]:
    """Yield the hosts of paths below the folders that an automounter is usually set to."""
    program = words[0].text.rpartition("/")[2] if words else ""
    at = posixpath.join("", *folders) if folders else ""
    near = bool(_NEAR.match(at))
    for word in words[1:]:
        if not near and (_SIGNS.isdisjoint(word.text) or not _LIKELY.search(word.text)):
            continue
        inside = [posixpath.join(at, word.text)] if near and word.text[:1] != "-" else []
        for path in (*_PATH.findall(word.text), *inside):
            readings = map(_MOUNTED.match, _readings(path))
            found = next((one for one in readings if _is_net(one, wild=word.wild)), None)
            if found:
                wild = word.wild and any(sign in found["host"] for sign in "*?[")
                host = "" if wild else found["host"]
                yield Destination(host, None, program, dynamic=wild, sends=(path,))


def _readings(path: str) -> Iterator[str]:
    """Yield where a path may lead: a home may lie anywhere, and so may the folder of `..`."""
    if path[:1] == "~":
        yield posixpath.normpath("/_" + path[len(path.split("/", 1)[0]) :])
    elif path[:1] != "/" and not climbs(path):
        return
    bare = _ROOT.sub("/", path)
    yield from (read_from_root(bare), bare)


def _is_net(found: re.Match[str] | None, *, wild: bool) -> bool:
    if found is None:
        return False
    names = ("net", "afs")
    return found["top"] in names or (wild and any(fnmatchcase(n, found["top"]) for n in names))
