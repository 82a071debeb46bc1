"""Assemble the filter of system calls that a confined tool runs behind (ADR 28).

This is the seccomp filter of a real run; that of validation is
`core/sandbox/isolation/seccomp_filter.py`. It refuses changes that no file permission expresses,
such as new namespaces, signals and sockets that the plan does not allow. It shows the supervisor
those calls whose arguments lie in memory. Numbers: Linux UAPI `asm/unistd_64.h` and
`asm-generic/unistd.h`.
"""

from __future__ import annotations

import errno
import functools
from dataclasses import dataclass
from typing import Literal

from pulsus.core.sandbox.isolation.bpf import (
    ALLOW,
    AND,
    ARGS,
    ASK,
    JEQ,
    JGE,
    JSET,
    LOAD,
    RET,
    allow_but,
    allow_only,
    answer,
    begin,
    column,
    deny,
    op,
    when,
)
from pulsus.core.sandbox.isolation.seccomp_filter import DENIED
from pulsus.core.sandbox.observation.traced_syscalls import FILES, OTHERS, WRITING

Network = Literal["none", "gate", "open"]

_HIGHEST = 469  # file_setattr; later calls do not exist for a tool
_CLONE_NEW, _CLONE_THREAD = 0x7E020000, 0x10000
_FAST_OPEN = 0x20000000  # MSG_FASTOPEN: connects without `connect`
_SMALL_ADDRESS = 12  # sockaddr_nl; an internet address is longer
_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16
_NETLINK_READS = (0, 4)  # NETLINK_ROUTE, NETLINK_SOCK_DIAG: changes need CAP_NET_ADMIN
_STREAM, _DATAGRAM, _RAW, _PACKETS = 1, 2, 3, 5

# fmt: off
_ALSO_DENIED: dict[str, tuple[int, int]] = {
    "shmat": (30, 196), "shmctl": (31, 195), "shmdt": (67, 197),
    "msgsnd": (69, 189), "msgrcv": (70, 188), "msgctl": (71, 187),
    "semop": (65, 193), "semtimedop": (220, 192), "semctl": (66, 191),
    "mq_unlink": (241, 181), "mq_notify": (244, 184), "process_mrelease": (448, 448),
    "sync": (162, 81), "syncfs": (306, 267), "fanotify_mark": (301, 263), "_sysctl": (156, -1),
    "lookup_dcookie": (212, 18), "nfsservctl": (180, 42), "set_mempolicy_home_node": (450, 450),
    "open_tree_attr": (467, 467), "vserver": (236, -1),
}
_OWN_ONLY = {  # the process must be 0, which is the caller
    "sched_setscheduler": (144, 119), "sched_setparam": (142, 118), "sched_setattr": (314, 274),
    "sched_setaffinity": DENIED["sched_setaffinity"],
}
_CALLS = {
    "clone": (56, 220), "clone3": (435, 435), "fork": (57, -1), "vfork": (58, -1),
    "socketpair": (53, 199), "listen": (50, 201), "fcntl": (72, 25), "flock": (73, 32),
    "prctl": (157, 167), "setpriority": (141, 140), "ioprio_set": (251, 30),
    "prlimit64": (302, 261), "syslog": DENIED["syslog"], "personality": DENIED["personality"],
    "openat2": (437, 437), "bind": OTHERS["bind"].numbers, "socket": OTHERS["socket"].numbers,
    "connect": OTHERS["connect"].numbers, "sendto": OTHERS["sendto"].numbers,
    "ioctl": FILES["ioctl"].numbers,
}
ATTRIBUTES = (
    "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchown", "fchownat",
    "utime", "utimes", "futimesat", "utimensat",
)
"""Calls about modes, owners and times, which Landlock does not handle."""
ENTRIES = (
    "truncate", "mkdir", "mkdirat", "mknod", "mknodat", "rmdir", "unlink", "unlinkat", "rename",
    "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat",
)
"""Calls that change folders or content by path. Landlock decides them if the kernel has it."""
OPENS = {"open": 1, "openat": 2}
"""Calls that open, with the position of their flags."""
SIGNALS = ("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_send_signal")
SENDS = ("sendmsg", "sendmmsg")

# ioctl is one call for everything that devices do, so the orders that only read are listed.
_IOCTLS = (
    *(0x5401, 0x5402, 0x5403, 0x5404, 0x5409, 0x540B, 0x540E, 0x540F, 0x5410, 0x5411),  # terminals
    *(0x5413, 0x5414, 0x5422, 0x5425, 0x5429, 0x802C542A, 0x402C542B, 0x402C542C, 0x402C542D),
    *(0x80045430, 0x40045431, 0x80045432, 0x80045438, 0x80045439, 0x5441),  # ptys
    *(0x541B, 0x5421, 0x5450, 0x5451, 0x5452, 0x5460),  # FIONREAD, FIONBIO, close on exec
    *(0x80086601, 0x80046601, 0x80087601, 0xC020660B, 0x801C581F, 0x81009431, 1, 2),  # files
    *(0x125E, 0x1260, 0x1263, 0x1265, 0x1267, 0x1268, 0x1278, 0x1279, 0x127A, 0x127B, 0x127C),
    *(0x127E, 0x80081270, 0x80081272, 0x0301, 0x4C05),  # block devices: sizes, geometry, loop
    *(0x80247009, 0x80045200, 0xB701, 0xB702, 0xB703, 0xB704),  # clock, entropy, namespaces
    *(0x8903, 0x8904, 0x8905, 0x8906, 0x8910, 0x8912, 0x8913, 0x8915, 0x8917, 0x8919, 0x891B),
    *(0x891D, 0x8921, 0x8927, 0x8933, 0x8938, 0x8942, 0x8946, 0x8947, 0x8948, 0x8954, 0x8970),
)
# fmt: on
_FCNTLS = (8, 10, 15, 1024)  # F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE
_PRCTLS = (36, 62)
"""PR_SET_CHILD_SUBREAPER: the supervisor is the one that finds orphans. PR_SCHED_CORE: it is about
other processes, too."""
_SYSLOG_READS = (3, 10)  # SYSLOG_ACTION_READ_ALL, SYSLOG_ACTION_SIZE_BUFFER
_LOCK_UN = 8
_UNNAMED = 0o20000000  # __O_TMPFILE: in /tmp it is moved to the temporary folder of the run
_READS_TOO = ("adjtimex", "clock_adjtime")
"""Refused in a dry run; here they read the clock's state, and to set it takes CAP_SYS_TIME."""
_PROTOCOLS = {_STREAM: (0, 6), _DATAGRAM: (0, 1, 17, 58)}  # TCP; UDP and echo requests


@dataclass(frozen=True, slots=True)
class Filter:
    """The tasks of the filter.

    With `landlock`, the kernel decides changes to files; with `scoped`, signals too. Otherwise the
    supervisor decides. Without `supervised` every call that it would decide is refused.
    """

    landlock: bool
    scoped: bool
    supervised: bool
    network: Network
    raw: bool = False


@functools.cache
def names(machine: str | None = None) -> dict[int, str]:
    """Return the calls that a supervisor may be asked about, by number. Raises KeyError."""
    own = column(machine)
    every = {name: trap.numbers for name, trap in {**FILES, **OTHERS}.items()} | _CALLS
    return {numbers[own]: name for name, numbers in every.items() if numbers[own] >= 0}


@functools.cache
def build_syscall_filter(shape: Filter, machine: str | None = None) -> bytes:
    """Return the filter as an array of `struct sock_filter`.

    Raises KeyError on an unknown processor.
    """
    own = column(machine)
    refused = [name for name in (*DENIED, *_ALSO_DENIED) if name not in (*_CALLS, *_READS_TOO)]
    rules = {name: [deny(errno.EPERM)] for name in refused} | _rules_by_call(shape)
    numbers = {name: trap.numbers for name, trap in {**FILES, **OTHERS}.items()}
    numbers |= {**DENIED, **_ALSO_DENIED, **_OWN_ONLY, **_CALLS}
    code = [*begin(own), op(JGE, _HIGHEST + 1, 0, 1), deny(errno.ENOSYS)]
    for name, body in sorted(rules.items(), key=lambda item: numbers[item[0]][own]):
        if numbers[name][own] >= 0:
            code += when(numbers[name][own], body)
    return b"".join([*code, op(RET, ALLOW)])


def _rules_by_call(shape: Filter) -> dict[str, list[bytes]]:
    ask = op(RET, ASK) if shape.supervised else deny(errno.EPERM)
    allow, refuse = op(RET, ALLOW), deny(errno.EPERM)
    rules = {name: allow_only(0, (0,)) for name in _OWN_ONLY}
    rules |= {name: [ask] for name in ATTRIBUTES}
    rules |= {name: [refuse] for name in FILES if "xattr" in name or name == "file_setattr"}
    rules |= _process_rules(shape)
    rules["ioctl"] = allow_only(1, _IOCTLS)
    rules["fcntl"] = allow_but(1, _FCNTLS, refuse)
    rules["flock"] = [op(LOAD, ARGS[1]), op(JEQ, _LOCK_UN, 0, 1), allow, ask]
    rules["prctl"] = allow_but(0, _PRCTLS, refuse)
    own = [op(LOAD, ARGS[1]), op(JEQ, 0, 0, 1), allow, refuse]
    rules["setpriority"] = [op(LOAD, ARGS[0]), op(JEQ, 0, 1, 0), refuse, *own]
    rules["ioprio_set"] = [op(LOAD, ARGS[0]), op(JEQ, 1, 1, 0), refuse, *own]
    no_new = [*(op(LOAD, ARGS[2]), op(JEQ, 0, 0, 3)), op(LOAD, ARGS[2] + 4), op(JEQ, 0, 0, 1)]
    rules["prlimit64"] = [op(LOAD, ARGS[0]), op(JEQ, 0, 0, 1), allow, *no_new, allow, refuse]
    rules["syslog"] = allow_only(0, _SYSLOG_READS)
    rules["personality"] = allow_only(0, (0xFFFFFFFF,))
    if shape.supervised or not shape.landlock:
        shown = _UNNAMED if shape.landlock else WRITING
        rules |= {
            name: [op(LOAD, ARGS[flags]), op(JSET, shown, 0, 1), ask, allow]
            for name, flags in OPENS.items()
        }
    if not shape.scoped:
        rules |= {name: [ask] for name in SIGNALS}
    if not shape.landlock:
        rules |= {name: [ask] for name in ENTRIES}
        rules |= {"creat": [ask], "openat2": [deny(errno.ENOSYS)], "bind": [ask]}
    return rules | _socket_rules(shape, ask)


def _process_rules(shape: Filter) -> dict[str, list[bytes]]:
    """Refuse new namespaces, and let the supervisor count new processes."""
    allow = op(RET, ALLOW)
    count = op(RET, ASK) if shape.supervised else allow
    flags = [op(LOAD, ARGS[0]), op(JSET, _CLONE_NEW, 0, 1), deny(errno.EPERM)]
    clone = [*flags, op(JSET, _CLONE_THREAD, 0, 1), allow, count]
    return {"clone": clone, "clone3": [deny(errno.ENOSYS)], "fork": [count], "vfork": [count]}


def _socket_rules(shape: Filter, ask: bytes) -> dict[str, list[bytes]]:
    refuse, allow = deny(errno.EACCES), op(RET, ALLOW)
    local = [op(LOAD, ARGS[1]), op(AND, 0xF), op(JEQ, _STREAM, 1, 0), op(JEQ, _PACKETS, 0, 1)]
    unix = [*local, allow, refuse]
    body = [op(LOAD, ARGS[0]), *when(_UNIX, unix)]
    body += when(_NETLINK, [op(LOAD, ARGS[2]), *answer(_NETLINK_READS, allow), refuse])
    if shape.network != "none":
        for family in (_INET, _INET6):
            body += when(family, _internet_socket_rules(shape, refuse))
    rules = {
        "socket": [*body, refuse],
        "socketpair": [op(LOAD, ARGS[0]), op(JEQ, _UNIX, 1, 0), refuse, *unix],
        "connect": [ask],
    }
    if shape.network == "gate":
        fast = [op(LOAD, ARGS[3]), op(JSET, _FAST_OPEN, 0, 1), refuse]
        to = [op(LOAD, ARGS[5]), op(JGE, _SMALL_ADDRESS + 1, 1, 0), allow, ask]
        rules |= {"listen": [refuse], "sendto": [*fast, *to]}
        rules |= {name: [ask] for name in SENDS}
    return rules


def _internet_socket_rules(shape: Filter, refuse: bytes) -> list[bytes]:
    allow = op(RET, ALLOW)
    kinds: list[bytes] = [op(LOAD, ARGS[1]), op(AND, 0xF)]
    for kind, protocols in _PROTOCOLS.items():
        kinds += when(kind, [op(LOAD, ARGS[2]), *answer(protocols, allow), refuse])
    raw = when(_RAW, [allow]) if shape.raw and shape.network == "open" else []
    return [*kinds, *raw, refuse]
