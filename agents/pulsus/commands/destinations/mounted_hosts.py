"""Hosts that a path names: an automounter connects to HOST for `/net/HOST/file`. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import Final

from pulsus.commands.shell.words import Word
from pulsus.commands.verdict import Destination

_PATH: Final = re.compile(r"(?:^|[=:@,\s'\"])(/[^=:@,\s'\"]*)")
_MOUNTED: Final = re.compile(r"/+(?:net|afs)/+(?P<host>[^/]+)")


def mounted_hosts(words: Sequence[Word]) -> Iterator[Destination]:
    """Yield the hosts of paths below the folders that an automounter is usually set to."""
    program = words[0].text.rpartition("/")[2] if words else ""
    for word in words[1:]:
        if "net/" not in word.text and "afs/" not in word.text and ".." not in word.text:
            continue
        for path in _PATH.findall(word.text):
            found = _MOUNTED.match(posixpath.normpath(path)) or _MOUNTED.match(path)
            if found:
                wild = word.wild and any(sign in found["host"] for sign in "*?[")
                host = "" if wild else found["host"]
                yield Destination(host, None, program, dynamic=wild, sends=())
