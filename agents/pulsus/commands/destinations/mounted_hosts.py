"""Hosts that a path names: an automounter connects to HOST for `/net/HOST/file`. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import Final

from pulsus.commands.command_verdict import Destination
from pulsus.commands.shell.words import Word

_PATH: Final = re.compile(r"(?:^|[=:@,\s'\"])(/[^=:@,\s'\"]*)")
_LIKELY: Final = re.compile(r"net/|afs/|\.\.")
_NEAR: Final = re.compile(r"/+(?:net|afs)(?:/|$)|/+$")
_ROOT: Final = re.compile(r"^/+proc/[^/]+/(?:task/[^/]+/)?root/+")
_MOUNTED: Final = re.compile(r"/+(?:net|afs)/+(?P<host>[^/]+)")


def mounted_hosts(words: Sequence[Word], folders: Sequence[str] = ()) -> Iterator[Destination]:
    """Yield the hosts of paths below the folders that an automounter is usually set to."""
    program = words[0].text.rpartition("/")[2] if words else ""
    at = posixpath.join("", *folders)
    near = bool(_NEAR.match(at))
    for word in words[1:]:
        if not near and not _LIKELY.search(word.text):
            continue
        inside = [posixpath.join(at, word.text)] if near and word.text[:1] != "-" else []
        for path in (*_PATH.findall(word.text), *inside):
            bare = _ROOT.sub("/", path)
            found = _MOUNTED.match(posixpath.normpath(bare)) or _MOUNTED.match(bare)
            if found:
                wild = word.wild and any(sign in found["host"] for sign in "*?[")
                host = "" if wild else found["host"]
                yield Destination(host, None, program, dynamic=wild, sends=())
