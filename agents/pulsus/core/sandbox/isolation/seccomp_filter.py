"""Assemble the system-call filter of the sandbox as classic BPF (spec §17).

It decides which system calls are blocked in a dry run; a real run has its own filter in
`execution/confinement/syscall_filter.py`. It narrows what the namespaces already confine; the
network is cut off in `bwrap_arguments.py`. It denies tracing, mounting, new namespaces, kernel
keyrings, BPF, perf, io_uring, modules and clock setting.
The affinity to one core cannot be widened. Memory that no process needs to map is denied too
(memfd, SysV IPC, shared anonymous maps): the resource monitor would miss it. So are notices of
other programs' work on shared files (inotify, fanotify), and socket families that a network
namespace does not cover (AF_VSOCK reaches the hypervisor). A call that is newer than this list does
not exist inside. Numbers: Linux UAPI `asm/unistd_64.h` and `asm-generic/unistd.h`; layout:
`linux/seccomp.h`.
"""

from __future__ import annotations

import errno
import functools
import platform
import socket

from pulsus.core.sandbox.isolation.bpf import (
    ALLOW,
    AND,
    ARCHES,
    ARGS,
    JEQ,
    JGE,
    JSET,
    LOAD,
    RET,
    TRACE,
    allow_but,
    allow_only,
    answer,
    begin,
    column,
    deny,
    op,
    when,
)

_CLONE_NEW = 0x7E020000  # NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
_PDEATHSIG = 1  # PR_SET_PDEATHSIG: a first process that was taken over could outlive Pulsus
_MS_SYNC = 4  # without this flag, libraries ask whether an address is mapped
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
"""Calls that fail as if the kernel lacked them: libraries try them and work without. The flags of
`clone3` lie in memory, where no filter can see them; libc then uses `clone`."""

IDLE: dict[str, tuple[int, int]] = {
    "sync": (162, 81), "syncfs": (306, 267), "fsync": (74, 82), "fdatasync": (75, 83),
    "sync_file_range": (277, 84), "fadvise64": (221, 223), "readahead": (187, 213),
}
"""Calls that succeed and do nothing. The sandbox can only write to memory, so there is nothing to
wait for. The disks of the host are not made to work, and its caches are not dropped."""

HIGHEST = 470
"""The highest number known here, on both processors (listns). Higher calls do not exist inside."""

_GAPS = ((336, 424), (295, 424))  # the kernel has no calls between these numbers
_CALLS = {
    "clone": (56, 220), "socket": (41, 198), "socketpair": (53, 199), "setsockopt": (54, 208),
    "ioctl": (16, 29), "mmap": (9, 222), "msync": (26, 227), "prctl": (157, 167),
}
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
"""Denied calls that would change something for others. The host is shown them and refuses them."""


def supported(machine: str | None = None) -> bool:
    """True if there is a filter for that processor (default: this one)."""
    return (machine or platform.machine()) in ARCHES


@functools.cache
def build_filter(machine: str | None = None, *, shown: bool = False) -> bytes:
    """Return the filter as an array of `struct sock_filter`, for `bwrap --seccomp`.

    Calls in DENIED fail with EPERM, calls in ABSENT with ENOSYS. With `shown` the filter of
    `traced_syscalls.py` follows: calls in SHOWN then fail with ENOSYS unless the host answers them.
    Raises KeyError if `supported` is false.
    """
    own = column(machine)
    start, end = _GAPS[own]
    absent, asked = deny(errno.ENOSYS), op(RET, TRACE) if shown else deny(errno.EPERM)
    code = [*begin(own), op(JGE, HIGHEST + 1, 0, 1), absent]
    code += [op(JGE, end, 2, 0), op(JGE, start, 0, 1), absent]
    for name, numbers in sorted(DENIED.items(), key=lambda item: item[1][own]):
        if numbers[own] >= 0:
            code += when(numbers[own], [asked if name in SHOWN else deny(errno.EPERM)])
    for calls, reply in ((ABSENT, absent), (IDLE, deny(0))):
        code += answer(tuple(numbers[own] for numbers in calls.values()), reply)
    for name, body in _build_argument_rules(asked).items():
        code += when(_CALLS[name][own], body)
    return b"".join([*code, op(RET, ALLOW)])


def _build_argument_rules(ask_host: bytes) -> dict[str, list[bytes]]:
    """Return the rules for calls that depend on their arguments. `ask_host` asks the host."""
    allow, refuse, ignore = op(RET, ALLOW), deny(errno.EPERM), deny(0)
    # Sizes of socket buffers are ignored: the resource monitor relies on the default.
    of_sockets = [op(LOAD, ARGS[1]), op(JEQ, _SOL_SOCKET, 1, 0), allow]
    return {
        "clone": [op(LOAD, ARGS[0]), op(JSET, _CLONE_NEW, 0, 1), refuse, allow],
        "socket": allow_only(0, _FAMILIES),
        "socketpair": allow_only(0, (int(socket.AF_UNIX),)),
        "setsockopt": [*of_sockets, *allow_but(2, _BUFFERS, ignore)],
        "mmap": [
            *(op(LOAD, ARGS[3]), op(AND, _SHARED_ANONYMOUS)),
            *(op(JEQ, _SHARED_ANONYMOUS, 0, 1), refuse, allow),
        ],
        "msync": [op(LOAD, ARGS[2]), op(JSET, _MS_SYNC, 0, 1), ignore, allow],
        "prctl": allow_but(0, (_PDEATHSIG,), refuse),
        "ioctl": allow_but(1, TERMINAL_INPUT, ask_host),
    }
