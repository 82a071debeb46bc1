"""Keep a confined process from changing files: Landlock, and the paths that stay writable (ADR 28).

A write outside the declared folders gets "permission denied" from the kernel by these rules. The
folders are chosen in `declared_effects.py`.

Runs in the tool's own process. Effect: the rules hold for good.
"""

from __future__ import annotations

import os
import struct

from pulsus.core.sandbox.harness.system_calls import call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

WRITABLE_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/ptmx")
"""Devices that stay writable: they keep nothing, or are the terminal."""
WRITABLE_TERMINALS = "/dev/pts"

LANDLOCK_LEAST = 3
"""The first version of Landlock that knows all changes of content: `truncate` came last."""
LANDLOCK_SCOPES_SIGNALS = 6
"""The first version that also keeps signals and abstract sockets inside."""

_WRITE_FILE, _TRUNCATE, _IOCTL = 1 << 1, 1 << 14, 1 << 15
_MAKE_DEVICES = 1 << 6 | 1 << 11
_IN_FOLDERS = 1 << 4 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 9 | 1 << 10 | 1 << 12 | 1 << 13
_IOCTL_SINCE = 5
_ABSTRACT_SOCKETS, _SIGNALS = 1, 2


def enter_landlock(
    writable_folders: Sequence[str], writable_files: Sequence[str], known: int
) -> None:
    """Allow changes below these folders, writing to these files, and nothing else. Raises OSError.

    `known` is the version of Landlock to use. Missing paths are left out. `no_new_privs` must be
    set before.
    """
    single = _WRITE_FILE | _TRUNCATE | (_IOCTL if known >= _IOCTL_SINCE else 0)
    handled = single | _IN_FOLDERS | _MAKE_DEVICES
    scoped = _ABSTRACT_SOCKETS | _SIGNALS if known >= LANDLOCK_SCOPES_SIGNALS else 0
    size = 24 if known >= LANDLOCK_SCOPES_SIGNALS else 8
    rules = call("landlock_create_ruleset", struct.pack("=QQQ", handled, 0, scoped), size, 0)
    for path in (*writable_folders, *writable_files):
        whole = path in writable_folders
        try:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC | (os.O_DIRECTORY if whole else 0))
        except OSError:
            continue
        rights = single | _IN_FOLDERS if whole else single
        call("landlock_add_rule", rules, 1, struct.pack("=Qi", rights, place), 0)
        os.close(place)
    call("landlock_restrict_self", rules, 0)
    os.close(rules)
