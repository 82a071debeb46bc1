"""Select the system calls of a sandbox that are shown to its host first (spec §17).

This second filter only observes: the call is carried out afterwards, as far as the first filter
allows it, which blocks calls (`core/sandbox/isolation/seccomp_filter.py`). Opening to read, the
bulk of all calls, is decided by the kernel. `seccomp_notify.py` answers these calls. Numbers: Linux
UAPI `asm/unistd_64.h` and `asm-generic/unistd.h`.
"""

from __future__ import annotations

import errno
import functools
import os
import socket
from collections.abc import Sequence
from typing import NamedTuple

from pulsus.core.sandbox.isolation.bpf import (
    ALLOW,
    AND,
    ARCH,
    ARCHES,
    ARGS,
    ASK,
    JEQ,
    JGE,
    JSET,
    LOAD,
    NR,
    RET,
    allow_but,
    column,
    deny,
    op,
    when,
)
from pulsus.core.sandbox.isolation.seccomp_filter import DENIED, SHOWN, TERMINAL_INPUT

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
AT_SYMLINK_NOFOLLOW, AT_SYMLINK_FOLLOW = 0x100, 0x400
SECCOMP = (317, 277)
"""The number of the call that installs a filter."""

_NEW_LISTENER = 8
_NETLINK = 16  # AF_NETLINK, which macOS does not name
# FS_IOC_SETFLAGS with a long and with an int, FS_IOC_FSSETXATTR, FS_IOC_SETVERSION (both),
# FS_IOC_SETFSLABEL, FS_IOC_ENABLE_VERITY, FS_IOC_SET_ENCRYPTION_POLICY, FIFREEZE, FITHAW, FITRIM
_ATTRIBUTES = (
    *(0x40086602, 0x40046602, 0x401C5820, 0x40087602, 0x40047602, 0x41009432),
    *(0x40806685, 0x800C6613, 0xC0045877, 0xC0045878, 0xC0185879),
)
OWNS = (0x8901, 0x8902)
"""FIOSETOWN and SIOCSPGRP: who gets the signals of a descriptor."""

F_SETLK, F_SETLKW, F_SETOWN, F_SETSIG, F_SETOWN_EX = 6, 7, 8, 10, 15
F_OFD_SETLK, F_OFD_SETLKW, F_SETLEASE, F_NOTIFY = 37, 38, 1024, 1026
LOCKS = (F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW, F_SETLEASE)
_ORDERS = (*LOCKS, F_SETOWN, F_SETSIG, F_SETOWN_EX, F_NOTIFY)


class PathArg(NamedTuple):
    """The arguments of a call that name a path that it changes.

    `folder` and `path` are positions. A `folder` of None is the working folder. A `path` of None
    means the file behind the descriptor `folder`. With `follow` a link is followed, unless the
    argument at `flags` has a bit of `unless`, or lacks one of `only`. With `new` nothing changes if
    the path exists already.
    """

    folder: int | None
    path: int | None
    follow: bool = False
    new: bool = False
    flags: int | None = None
    unless: int = AT_SYMLINK_NOFOLLOW
    only: int = 0

    def follows(self, args: Sequence[int]) -> bool:
        """Return True if a call with these arguments changes the target of a link, not the link."""
        flags = 0 if self.flags is None else args[self.flags]
        return self.follow and not flags & self.unless and flags & self.only == self.only


class Trap(NamedTuple):
    """A traced call: its numbers on x86_64 and aarch64 (-1: missing), and the paths it changes."""

    numbers: tuple[int, int]
    changes: tuple[PathArg, ...] = ()


_FD = (PathArg(0, None),)
# fmt: off
FILES: dict[str, Trap] = {
    "open": Trap((2, -1), (PathArg(None, 0, follow=True, flags=1, unless=os.O_NOFOLLOW),)),
    "creat": Trap((85, -1), (PathArg(None, 0, follow=True),)),
    "openat": Trap((257, 56), (PathArg(0, 1, follow=True, flags=2, unless=os.O_NOFOLLOW),)),
    "openat2": Trap((437, 437), (PathArg(0, 1, follow=True),)),
    "truncate": Trap((76, 45), (PathArg(None, 0, follow=True),)),
    "mkdir": Trap((83, -1), (PathArg(None, 0, new=True),)),
    "mkdirat": Trap((258, 34), (PathArg(0, 1, new=True),)),
    "mknod": Trap((133, -1), (PathArg(None, 0),)),
    "mknodat": Trap((259, 33), (PathArg(0, 1),)),
    "rmdir": Trap((84, -1), (PathArg(None, 0),)),
    "unlink": Trap((87, -1), (PathArg(None, 0),)),
    "unlinkat": Trap((263, 35), (PathArg(0, 1),)),
    "rename": Trap((82, -1), (PathArg(None, 0), PathArg(None, 1))),
    "renameat": Trap((264, 38), (PathArg(0, 1), PathArg(2, 3))),
    "renameat2": Trap((316, 276), (PathArg(0, 1), PathArg(2, 3))),
    # A second name is a second way to write, so the file may be changed through it.
    "link": Trap((86, -1), (PathArg(None, 0), PathArg(None, 1))),
    "linkat": Trap(
        (265, 37), (PathArg(0, 1, follow=True, flags=4, only=AT_SYMLINK_FOLLOW), PathArg(2, 3))
    ),
    "symlink": Trap((88, -1), (PathArg(None, 1),)),
    "symlinkat": Trap((266, 36), (PathArg(1, 2),)),
    "chmod": Trap((90, -1), (PathArg(None, 0, follow=True),)),
    "fchmod": Trap((91, 52), _FD),
    "fchmodat": Trap((268, 53), (PathArg(0, 1, follow=True),)),
    "fchmodat2": Trap((452, 452), (PathArg(0, 1, follow=True, flags=3),)),
    "chown": Trap((92, -1), (PathArg(None, 0, follow=True),)),
    "lchown": Trap((94, -1), (PathArg(None, 0),)),
    "fchown": Trap((93, 55), _FD),
    "fchownat": Trap((260, 54), (PathArg(0, 1, follow=True, flags=4),)),
    "utime": Trap((132, -1), (PathArg(None, 0, follow=True),)),
    "utimes": Trap((235, -1), (PathArg(None, 0, follow=True),)),
    "futimesat": Trap((261, -1), (PathArg(0, 1, follow=True),)),
    "utimensat": Trap((280, 88), (PathArg(0, 1, follow=True, flags=3),)),
    "setxattr": Trap((188, 5), (PathArg(None, 0, follow=True),)),
    "lsetxattr": Trap((189, 6), (PathArg(None, 0),)),
    "fsetxattr": Trap((190, 7), _FD),
    "setxattrat": Trap((463, 463), (PathArg(0, 1, follow=True, flags=2),)),
    "removexattr": Trap((197, 14), (PathArg(None, 0, follow=True),)),
    "lremovexattr": Trap((198, 15), (PathArg(None, 0),)),
    "fremovexattr": Trap((199, 16), _FD),
    "removexattrat": Trap((466, 466), (PathArg(0, 1, follow=True, flags=2),)),
    "file_setattr": Trap((469, 469), (PathArg(0, 1, follow=True, flags=4),)),
    "ioctl": Trap((16, 29), _FD),
}
OTHERS: dict[str, Trap] = {
    "socket": Trap((41, 198)), "bind": Trap((49, 200)), "connect": Trap((42, 203)),
    "sendto": Trap((44, 206)), "sendmsg": Trap((46, 211)), "sendmmsg": Trap((307, 269)),
    "execve": Trap((59, 221)), "execveat": Trap((322, 281)),
    "kill": Trap((62, 129)), "tkill": Trap((200, 130)), "tgkill": Trap((234, 131)),
    "rt_sigqueueinfo": Trap((129, 138)), "rt_tgsigqueueinfo": Trap((297, 240)),
    "pidfd_send_signal": Trap((424, 424)), "pidfd_open": Trap((434, 434)),
    "listen": Trap((50, 201)), "flock": Trap((73, 32)), "fcntl": Trap((72, 25)),
    "setpriority": Trap((141, 140)), "ioprio_set": Trap((251, 30)), "prlimit64": Trap((302, 261)),
    "sched_setscheduler": Trap((144, 119)), "sched_setparam": Trap((142, 118)),
    "sched_setattr": Trap((314, 274)),
}
# fmt: on
REFUSED = {name: Trap(DENIED[name]) for name in SHOWN}
"""Calls that the host answers with EPERM."""

_OPENS = {"open": 1, "openat": 2}  # position of the flags
_QUESTION = (17, 513)  # smallest and largest size of a question to a name server
_CHOSEN = {  # (position of an argument, its values that are shown)
    "fcntl": (1, _ORDERS),
    "ioctl": (1, (*_ATTRIBUTES, *OWNS, *TERMINAL_INPUT)),
}
_OWN = {  # (position, value) of each argument of a call that concerns the caller itself
    "setpriority": ((0, 0), (1, 0)),
    "ioprio_set": ((0, 1), (1, 0)),
    "sched_setscheduler": ((0, 0),),
    "sched_setparam": ((0, 0),),
    "sched_setattr": ((0, 0),),
    "prlimit64": ((0, 0),),
}


@functools.cache
def names(machine: str | None = None) -> dict[int, str]:
    """Return the traced calls by their number. Raises KeyError for an unknown processor."""
    own = column(machine)
    every = {**FILES, **OTHERS, **REFUSED}
    return {trap.numbers[own]: name for name, trap in every.items() if trap.numbers[own] >= 0}


@functools.cache
def build_trace_filter(machine: str | None = None) -> bytes:
    """Return the filter as an array of `struct sock_filter`. Raises KeyError as `names` does."""
    own = column(machine)
    audit_arch = list(ARCHES.values())[own]
    code = [op(LOAD, ARCH), op(JEQ, audit_arch, 1, 0), op(RET, ALLOW), op(LOAD, NR)]
    for number, name in names(machine).items():
        code += when(number, _show_rules(name))
    # No process inside may answer in place of the host.
    another = [op(LOAD, ARGS[1]), op(JSET, _NEW_LISTENER, 0, 1), deny(errno.EPERM), op(RET, ALLOW)]
    code += when(SECCOMP[own], another)
    return b"".join([*code, op(RET, ALLOW)])


def _show_rules(name: str) -> list[bytes]:
    ask, allow = op(RET, ASK), op(RET, ALLOW)
    if name in _OPENS:
        return [op(LOAD, ARGS[_OPENS[name]]), op(JSET, WRITING, 0, 1), ask, allow]
    if name == "sendto":
        return _sendto_rules()
    if name == "socket":
        raw = int(socket.SOCK_RAW)
        kernel = [
            op(LOAD, ARGS[0]),
            op(JEQ, _NETLINK, 3, 0),
        ]  # `ss` and `ip` use raw netlink sockets
        return [*kernel, op(LOAD, ARGS[1]), op(AND, 0xF), op(JEQ, raw, 1, 0), allow, ask]
    if name in _CHOSEN:
        return allow_but(*_CHOSEN[name], ask)
    if name in _OWN:
        checks = [
            part
            for position, value in _OWN[name]
            for part in (op(LOAD, ARGS[position]), op(JEQ, value, 1, 0), ask)
        ]
        return [*checks, allow]
    return [ask]


def _sendto_rules() -> list[bytes]:
    """Return the rules for `sendto`.

    It names its target, or the socket was connected before: then only questions are shown.
    """
    ask, allow, to = op(RET, ASK), op(RET, ALLOW), ARGS[4]
    few, many = _QUESTION
    return [
        *(op(LOAD, to), op(JEQ, 0, 1, 0), ask, op(LOAD, to + 4), op(JEQ, 0, 1, 0), ask),
        *(op(LOAD, ARGS[2]), op(JGE, few, 0, 1), op(JGE, many, 0, 1), allow, ask),
    ]
