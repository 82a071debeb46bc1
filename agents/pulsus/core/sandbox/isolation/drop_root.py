"""Become the user `nobody`, then become bubblewrap (spec §17). Used by root only, in a fork of
this process.

Real root inside a user namespace still owns host files such as core_pattern, and process limits do
not bind it. So bubblewrap never starts as root. The interpreter may lie where other users cannot
look (/root is 0700). Such paths are first bound read-only below a small private tmpfs. The mount
namespace dies with the sandbox, so no mount is ever left on the host.

It is a fork and not a program of its own, because a second interpreter would double the start.
Between fork and exec there are only system calls: no import, no lock, and no output but one line on
failure.
"""

from __future__ import annotations

import fcntl
import os
import signal
import stat
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NoReturn

from pulsus.core.sandbox.child_process import ChildProcess
from pulsus.core.sandbox.harness.system_calls import call, load

NOBODY = 65534
STAGE = "/run"
FAILED = 125
_NEWNS = 0x00020000
_RDONLY, _NOSUID, _NODEV, _REMOUNT, _BIND, _REC, _PRIVATE = 1, 2, 4, 32, 4096, 16384, 1 << 18
_PDEATHSIG, _NO_NEW_PRIVS = 1, 38
_DEFAULTS = (signal.SIGPIPE, signal.SIGXFSZ)  # Python ignores these signals, and programs must not


@dataclass(frozen=True, slots=True)
class Streams:
    """Descriptors for a new process: the standard ones, and others that stay open."""

    stdin: int
    stdout: int
    stderr: int
    keep: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Start:
    """The program to start, its streams, and the core that it runs on.

    `stage` lists the paths to bind below STAGE first, by number.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    streams: Streams
    core: int
    stage: Sequence[str] = ()


def staged_path(number: int) -> str:
    """Return where the path of that number is found after staging."""
    return f"{STAGE}/{number}"


def fork(start: Start) -> ChildProcess:
    """Start a child that becomes the user `nobody`, in its own session, and executes `start.argv`.

    If it cannot, it writes one line to its stderr and ends with the status 125.
    """
    parent = os.getpid()
    load()  # the child imports nothing
    with warnings.catch_warnings():
        # From 3.12 on Python warns of forks beside threads: no lock is taken before exec.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        _become_bubblewrap(start, parent)
    return ChildProcess(pid)


def _become_bubblewrap(start: Start, parent: int) -> NoReturn:
    """Replace the child by bubblewrap. It must never return into our program."""
    try:
        os.setsid()
        os.sched_setaffinity(0, {start.core})
        _arrange_descriptors(start.streams)
        for number in _DEFAULTS:
            signal.signal(number, signal.SIG_DFL)
        if start.stage:
            _stage_sources(start.stage)
        _drop_privileges()
        if os.getppid() != parent:
            raise ProcessLookupError("the parent is gone")
        os.chdir("/")
        os.execve(start.argv[0], start.argv, start.env)
    except BaseException as error:  # noqa: BLE001 - see above
        with suppress(BaseException):
            os.write(2, f"launcher: {error}\n".encode("utf-8", "replace"))
    finally:
        os._exit(FAILED)


def _arrange_descriptors(given: Streams) -> None:
    """Keep the standard streams and `keep` open, and close every other descriptor."""
    streams = (given.stdin, given.stdout, given.stderr)
    above = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, len(streams)) for fd in streams]
    for target, fd in enumerate(above):
        os.dup2(fd, target)
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208
        fd = int(name)
        if fd in given.keep:
            os.set_inheritable(fd, True)
        elif fd >= len(streams):
            with suppress(OSError):  # the descriptor of the listing is closed by now
                os.close(fd)


def _stage_sources(wanted: Sequence[str]) -> None:
    """Bind each source read-only at `staged(number)`, in a mount namespace of this process."""
    call("unshare", _NEWNS)
    call("mount", b"none", b"/", None, _REC | _PRIVATE, None)
    call("mount", b"tmpfs", STAGE.encode(), b"tmpfs", _NOSUID | _NODEV, b"size=256k,mode=0755")
    for number, source in enumerate(wanted):
        target = staged_path(number)
        if stat.S_ISDIR(os.stat(source).st_mode):  # noqa: PTH116 - system calls only
            os.mkdir(target, 0o755)  # noqa: PTH102
        else:
            os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
        flags = _REMOUNT | _BIND | _RDONLY | _NOSUID | _NODEV
        try:
            call("mount", source.encode(), target.encode(), None, _BIND, None)
            call("mount", None, target.encode(), None, flags, None)
        except OSError as error:
            raise OSError(
                error.errno, f"cannot bind {source} read-only: {error.strerror}"
            ) from None


def _drop_privileges() -> None:
    """Give up root for good, and die with the parent."""
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    if os.getresuid() != (NOBODY,) * 3 or os.getresgid() != (NOBODY,) * 3 or os.getgroups():
        raise PermissionError("still root after dropping privileges")
    call("prctl", _NO_NEW_PRIVS, 1, 0, 0, 0)
    call("prctl", _PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
