"""The system-call filter of the sandbox, assembled as classic BPF (spec §17).

It narrows what the namespaces already confine: no tracing, no mounting, no new namespaces, no
kernel keyrings, BPF, perf, io_uring, modules or clock setting, no widening of the one core, no
memory that no process need hold mapped to keep (memfd, SysV IPC, shared anonymous maps: a watcher
of processes and of the sized tmpfs would miss it), no word of what others do with shared files
(inotify, fanotify), and no socket family that a network namespace does not cover (AF_VSOCK reaches
the hypervisor). A call that is newer than this list does not exist inside.
Numbers: Linux UAPI `asm/unistd_64.h` and `asm-generic/unistd.h`; layout: `linux/seccomp.h`.
"""

from __future__ import annotations

import errno
import functools
import platform
import socket
from dataclasses import dataclass

from pulsus.core.sandbox.confinement.bpf import (
    ALLOW,
    AND,
    ARCH,
    ARGS,
    JEQ,
    JGE,
    JSET,
    KILL,
    LOAD,
    NR,
    RET,
    TRACE,
    X32_BIT,
    deny,
    op,
    when,
)

_CLONE_NEW = 0x7E020000  # NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
_PDEATHSIG = 1  # PR_SET_PDEATHSIG: the first process, taken over, could outlive Pulsus
_MS_SYNC = 4  # without it, libraries ask whether an address is mapped
_SHARED_ANONYMOUS = 0x21  # MAP_SHARED and MAP_ANONYMOUS
TERMINAL_INPUT = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX, which type into a terminal."""

_SOL_SOCKET = 1
_BUFFERS = (7, 8, 32, 33)  # SO_SNDBUF, SO_RCVBUF, and both beyond the limit
_FAMILIES = (
    int(socket.AF_UNIX),
    int(socket.AF_INET),
    int(socket.AF_INET6),
    16,  # AF_NETLINK: getifaddrs; it sees the empty network namespace only
)

# fmt: off
DENIED: dict[str, tuple[int, int]] = {  # name: x86_64, aarch64; -1 = not there
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "process_madvise": (440, 440), "kcmp": (312, 272), "pidfd_getfd": (438, 438),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
    "mount_setattr": (442, 442), "unshare": (272, 97), "setns": (308, 268),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "fanotify_init": (300, 262), "memfd_secret": (447, 447), "memfd_create": (319, 279),
    "shmget": (29, 194), "msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "reboot": (169, 142),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106),
    "personality": (135, 92), "sched_setaffinity": (203, 122), "migrate_pages": (256, 238),
    "move_pages": (279, 239), "mbind": (237, 235), "set_mempolicy": (238, 237),
    "swapon": (167, 224), "swapoff": (168, 225), "acct": (163, 89), "quotactl": (179, 60),
    "quotactl_fd": (443, 443), "syslog": (103, 116), "vhangup": (153, 58),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "clock_adjtime": (305, 266),
    "adjtimex": (159, 171), "sethostname": (170, 161), "setdomainname": (171, 162),
    "inotify_init": (253, -1), "inotify_init1": (294, 26), "inotify_add_watch": (254, 27),
    "fanotify_mark": (301, 263), "vmsplice": (278, 75), "process_mrelease": (448, 448),
    "modify_ldt": (154, -1), "iopl": (172, -1), "ioperm": (173, -1), "uselib": (134, -1),
}
ABSENT: dict[str, tuple[int, int]] = {
    "io_setup": (206, 0), "io_destroy": (207, 1), "io_submit": (209, 2), "io_cancel": (210, 3),
    "io_getevents": (208, 4), "io_pgetevents": (333, 292), "clone3": (435, 435),
    "set_mempolicy_home_node": (450, 450), "cachestat": (451, 451), "statmount": (457, 457),
    "listmount": (458, 458), "lsm_get_self_attr": (459, 459), "lsm_set_self_attr": (460, 460),
    "lsm_list_modules": (461, 461), "open_tree_attr": (467, 467),
}
"""Calls that fail as if the kernel had none: libraries try them and do without. The flags of
`clone3` lie in memory, where no filter can see them; libc then takes `clone`."""

IDLE: dict[str, tuple[int, int]] = {
    "sync": (162, 81), "syncfs": (306, 267), "fsync": (74, 82), "fdatasync": (75, 83),
    "sync_file_range": (277, 84), "fadvise64": (221, 223), "readahead": (187, 213),
}
"""Calls that succeed and do nothing: all that the sandbox can write is memory, so there is nothing
to wait for, and the disks of the host are not made to work or to forget."""

HIGHEST = 470
"""The highest number known here, on both processors (listns). What is above does not exist."""

_GAPS = ((336, 424), (295, 424))  # no numbers were given from the one up to the other
SHOWN = (
    "ptrace", "process_vm_writev", "mount", "umount2", "pivot_root", "move_mount", "fsopen",
    "fsconfig", "fsmount", "fspick", "chroot", "unshare", "setns", "open_by_handle_at",
    "pidfd_getfd", "process_madvise", "process_mrelease", "keyctl", "request_key", "quotactl",
    "quotactl_fd", "vhangup", "adjtimex", "clock_adjtime", "sched_setaffinity",
    "mount_setattr", "reboot", "kexec_load", "kexec_file_load", "init_module", "finit_module",
    "delete_module", "bpf", "swapon", "swapoff", "acct", "settimeofday", "clock_settime",
    "sethostname", "setdomainname", "add_key", "shmget", "msgget", "semget", "mq_open",
)
# fmt: on
"""Those of them that would change something for others: shown to the host, who refuses them."""


@dataclass(frozen=True, slots=True)
class _Machine:
    column: int
    audit_arch: int
    clone: int
    socket: int
    socketpair: int
    setsockopt: int
    ioctl: int
    mmap: int
    msync: int
    prctl: int


_MACHINES = {
    "x86_64": _Machine(0, 0xC000003E, 56, 41, 53, 54, 16, 9, 26, 157),
    "aarch64": _Machine(1, 0xC00000B7, 220, 198, 199, 208, 29, 222, 227, 167),
}


def supported(machine: str | None = None) -> bool:
    """Whether there is a filter for that processor (default: this one)."""
    return (machine or platform.machine()) in _MACHINES


@functools.cache
def program(machine: str | None = None, *, shown: bool = False) -> bytes:
    """The filter as an array of `struct sock_filter`, for `bwrap --seccomp`.

    Denied calls fail with EPERM, those that are absent with ENOSYS. With `shown` the filter of
    `traced_syscalls.py` is to follow: what is in SHOWN then fails with ENOSYS unless the host, who
    is asked, answers. Raises KeyError where `supported` is false.
    """
    cpu = _MACHINES[machine or platform.machine()]
    code = [op(LOAD, ARCH), op(JEQ, cpu.audit_arch, 1, 0), op(RET, KILL), op(LOAD, NR)]
    if cpu.column == 0:
        code += [op(JGE, X32_BIT, 0, 1), op(RET, KILL)]
    start, end = _GAPS[cpu.column]
    absent, asked = deny(errno.ENOSYS), op(RET, TRACE) if shown else deny(errno.EPERM)
    code += [op(JGE, HIGHEST + 1, 0, 1), absent, op(JGE, end, 2, 0), op(JGE, start, 0, 1), absent]
    for name, numbers in sorted(DENIED.items(), key=lambda item: item[1][cpu.column]):
        if numbers[cpu.column] >= 0:
            refusal = asked if name in SHOWN else deny(errno.EPERM)
            code += when(numbers[cpu.column], [refusal])
    for calls, answer in ((ABSENT, absent), (IDLE, deny(0))):
        for numbers in calls.values():
            code += when(numbers[cpu.column], [answer])
    code += when(
        cpu.clone,
        [op(LOAD, ARGS[0]), op(JSET, _CLONE_NEW, 0, 1), deny(errno.EPERM), op(RET, ALLOW)],
    )
    code += when(cpu.socket, _only(_FAMILIES))
    code += when(cpu.socketpair, _only((int(socket.AF_UNIX),)))
    code += when(cpu.setsockopt, _fixed_buffers())
    code += when(cpu.mmap, _not_all(_SHARED_ANONYMOUS))
    code += when(cpu.msync, [op(LOAD, ARGS[2]), op(JSET, _MS_SYNC, 0, 1), deny(0), op(RET, ALLOW)])
    code += when(cpu.prctl, _except(ARGS[0], (_PDEATHSIG,), deny(errno.EPERM)))
    code += when(cpu.ioctl, _except(ARGS[1], TERMINAL_INPUT, asked))
    return b"".join([*code, op(RET, ALLOW)])


def _only(values: tuple[int, ...]) -> list[bytes]:
    body = [op(LOAD, ARGS[0])]
    for value in values:
        body += [op(JEQ, value, 0, 1), op(RET, ALLOW)]
    return [*body, deny(errno.EPERM)]


def _not_all(bits: int) -> list[bytes]:
    return [
        *(op(LOAD, ARGS[3]), op(AND, bits), op(JEQ, bits, 0, 1)),
        *(deny(errno.EPERM), op(RET, ALLOW)),
    ]


def _except(argument: int, values: tuple[int, ...], refusal: bytes) -> list[bytes]:
    body = [op(LOAD, argument)]
    for value in values:
        body += [op(JEQ, value, 0, 1), refusal]
    return [*body, op(RET, ALLOW)]


def _fixed_buffers() -> list[bytes]:
    """Sizes of socket buffers are taken as a hint: the watcher counts on the default."""
    ignored = _except(ARGS[2], _BUFFERS, deny(0))
    return [op(LOAD, ARGS[1]), op(JEQ, _SOL_SOCKET, 1, 0), op(RET, ALLOW), *ignored]
