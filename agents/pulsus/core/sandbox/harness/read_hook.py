"""Report which files a candidate reads, from Python's audit events (ADR 33).

Reads that the tool does not declare become a warning in
`core/validators/steps/smoke_and_dry_run.py`. Runs inside the sandbox. To ask the host about every
open to read costs 70 µs each. So reads by native code and by programs are not shown. Standard
library only: it is loaded at every start.
"""

from __future__ import annotations

import posix  # what `os` wraps, without its start-up
import sys

EVENTS = frozenset({"open", "os.listdir", "os.scandir"})
_SYSTEM = (
    *("/usr/", "/lib", "/bin/", "/sbin/", "/opt/", "/dev/", "/pulsus/", "/etc/localtime"),
    *("/etc/ld.so", "/etc/mime.types", "/etc/nsswitch.conf", "/etc/os-release", "/etc/protocols"),
    *("/etc/services", "/etc/ssl/", "/etc/pki/", "/etc/alternatives/", "/etc/timezone"),
    *("/etc/host.conf", "/etc/gai.conf", "/etc/httpd/", "/etc/apache", "/etc/locale"),
)
"""Files that the interpreter and libraries look up by themselves. No tool declares them."""
_LOOKED_UP = ("/.fonts/", "/.local/share/fonts/", "/.cache/", "/.config/matplotlib/")
"""The same for the home folder."""


def read_path(path: object, home: str) -> str:
    """Return the real path that is read, or "" for system files and files in /tmp.

    `home` lies in /tmp and is reported all the same. Symbolic links are followed.
    """
    if path is None or isinstance(path, int):
        return ""
    name = posix.fspath(path)  # type: ignore[call-overload]
    name = name.decode("utf-8", "backslashreplace") if isinstance(name, bytes) else str(name)
    if name.startswith(_SYSTEM) and ".." not in name:
        return ""
    import os

    real = os.path.realpath(name)
    own = tuple(f"{each}/" for each in {sys.prefix, sys.base_prefix, *sys.path} if len(each) > 1)
    if f"{real}/".startswith((*_SYSTEM, *own)):
        return ""
    if f"{real}/".startswith("/tmp/") and not f"{real}/".startswith(f"{home}/"):
        return ""
    if f"{real}/".startswith(tuple(f"{home}{each}" for each in _LOOKED_UP)):
        return ""
    return _without_process_number(real, os.path.abspath(name))  # noqa: PTH100 - `os` is loaded, pathlib is not


def _without_process_number(real: str, name: str) -> str:
    """Return the path with `[pid]` for a process number, which differs from run to run.

    A path in /proc/self is named as it was asked for: /proc/net is a link to it.
    """
    parts = real.split("/")
    if parts[1] != "proc" or len(parts) < 3 or not parts[2].isdigit():
        return real
    if name.startswith("/proc/") and int(parts[2]) == posix.getpid():
        asked = name.split("/")
        if not {"root", "cwd", "fd", "task"} & set(asked) and not asked[2].isdigit():
            return name
    return "/".join((*parts[:2], "[pid]", *parts[3:]))
