"""Find installed plugins (entry points), which `load_plugins.py` loads. Effect: reads metadata.

`importlib.metadata` and its imports cost more than a warm route may, and few users have a plugin.
So its files are searched for the group's name first. Importing pluggy would cost as much, so this
is a module of its own.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "pulsus.plugins"
_FILE = "entry_points.txt"
_INFO = (".dist-info", ".egg-info", ".egg")


def entry_points() -> Iterable[EntryPoint]:
    """Return the entry points of the group `pulsus.plugins`."""
    if not any(_may_declare(text) for text in _texts()):
        return ()
    from importlib.metadata import entry_points as found

    return found(group=GROUP)


def _may_declare(text: bytes) -> bool:
    return GROUP.encode() in text


def _texts() -> Iterator[bytes]:
    """Yield the entry points of each package, or the group's name for unknown ones."""
    if any(hasattr(f, "find_distributions") and not _is_standard(f) for f in sys.meta_path):
        yield GROUP.encode()  # a finder of its own may know more packages than the folders show
    for folder in dict.fromkeys(path or os.curdir for path in sys.path):
        try:
            with os.scandir(folder) as entries:
                found = [entry.path for entry in entries if entry.name.lower().endswith(_INFO)]
        except NotADirectoryError:
            yield GROUP.encode()  # an archive
            continue
        except OSError:
            continue
        for info in found:
            if info.lower().endswith(".egg"):
                yield GROUP.encode()  # its metadata lies deeper; no tool makes these any more
            yield from _text(os.path.join(info, _FILE))  # noqa: PTH118 - hundreds of them


def _text(path: str) -> Iterator[bytes]:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        yield os.read(fd, 1 << 20)
    finally:
        os.close(fd)


def _is_standard(finder: object) -> bool:
    name = getattr(finder, "__module__", "")
    return name.startswith(("_frozen_importlib", "importlib."))
