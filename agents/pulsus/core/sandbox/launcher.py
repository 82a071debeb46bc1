"""Become nobody, then become bubblewrap (spec §17). Started as root only, as its own process.

Real root inside a user namespace still owns host files such as core_pattern, and process limits do
not bind it, so bubblewrap never starts as root. The interpreter may lie where nobody else can look
(/root is 0700): what cannot be reached is first bound read-only below a small private tmpfs. The
mount namespace dies with this process, so no mount is ever left on the host.
Standard library only; argv[1] is JSON: {"parent": pid, "stage": [[source, number]], "argv": [..]}.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys

NOBODY = 65534
STAGE = "/run"
_NEWNS = 0x00020000
_RDONLY, _NOSUID, _NODEV, _REMOUNT, _BIND, _REC, _PRIVATE = 1, 2, 4, 32, 4096, 16384, 1 << 18
_PDEATHSIG, _NO_NEW_PRIVS, _SIGKILL = 1, 38, 9


def staged(number: int) -> str:
    """Where the path of that number is found after staging."""
    return f"{STAGE}/{number}"


def _check(status: int, what: str) -> None:
    if status != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")


def stage(libc: ctypes.CDLL, wanted: list[tuple[str, int]]) -> None:
    """Bind each source read-only at `staged(number)`, in a mount namespace of this process."""
    _check(libc.unshare(_NEWNS), "unshare mount namespace")
    _check(libc.mount(b"none", b"/", None, _REC | _PRIVATE, None), "make mounts private")
    size = b"size=256k,mode=0755"
    _check(libc.mount(b"tmpfs", STAGE.encode(), b"tmpfs", _NOSUID | _NODEV, size), "mount tmpfs")
    for source, number in wanted:
        target = staged(number)
        if os.path.isdir(source):  # noqa: PTH112 - pathlib would double this process's start-up
            os.mkdir(target, 0o755)  # noqa: PTH102
        else:
            os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
        _check(libc.mount(source.encode(), target.encode(), None, _BIND, None), f"bind {source}")
        flags = _REMOUNT | _BIND | _RDONLY | _NOSUID | _NODEV
        _check(libc.mount(None, target.encode(), None, flags, None), f"make {source} read-only")


def drop(libc: ctypes.CDLL) -> None:
    """Give up root for good, and die with the parent."""
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    if os.getresuid() != (NOBODY,) * 3 or os.getresgid() != (NOBODY,) * 3 or os.getgroups():
        raise PermissionError("still root after dropping privileges")
    _check(libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    _check(libc.prctl(_PDEATHSIG, _SIGKILL, 0, 0, 0), "parent death signal")


def main(order: str) -> None:
    """Stage, drop, execute. Ends the process with status 125 and one line where it cannot."""
    libc = ctypes.CDLL(None, use_errno=True)
    job = json.loads(order)
    try:
        if job["stage"]:
            stage(libc, job["stage"])
        drop(libc)
        if os.getppid() != job["parent"]:
            raise ProcessLookupError("the parent is gone")
        os.execve(job["argv"][0], job["argv"], {"PATH": "/usr/bin:/bin"})
    except OSError as error:
        sys.stderr.write(f"launcher: {error}\n")
        raise SystemExit(125) from error


if __name__ == "__main__":
    main(sys.argv[1])
