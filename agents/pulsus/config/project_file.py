"""A settings file of a project, read once and bounded (4 MB). Effect: reads files.

Only a regular file is read: no pipe, device or folder. The TOML is parsed and an
unknown key refused in `layers.py`.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

MOST_BYTES = 4_000_000

_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


def read_bytes(path: Path) -> bytes:
    """Return the content of a regular file. Raises OSError.

    A link to a device, a pipe or an open descriptor would give another content at each read.
    """
    file = os.open(path, _READ)
    if not stat.S_ISREG(os.fstat(file).st_mode):  # first: Python opens no folder
        os.close(file)
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    with os.fdopen(file, "rb") as opened:
        content = opened.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise OSError(errno.EFBIG, f"it is larger than {MOST_BYTES} bytes", str(path))
    return content
