"""The system-call filter of the sandbox, assembled as classic BPF (spec §17).

It narrows what the namespaces already confine: no tracing, no mounting, no new namespaces, no
kernel keyrings, BPF, perf, io_uring, modules or clock setting, no widening of the one core, no
memory that no process need hold mapped to keep (memfd, SysV IPC, shared anonymous maps: a watcher
of processes and of the sized tmpfs would miss it), and no socket
family that a network namespace does not cover (AF_VSOCK reaches the hypervisor).
Numbers: Linux UAPI `asm/unistd_64.h` and `asm-generic/unistd.h`; layout: `linux/seccomp.h`.
"""

from __future__ import annotations

import errno
import functools
import platform
import socket
from dataclasses import dataclass

from pulsus.core.sandbox.bpf import (
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
_SHARED_ANONYMOUS = 0x21  # MAP_SHARED and MAP_ANONYMOUS
_TERMINAL_INPUT = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX
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
    "modify_ldt": (154, -1), "iopl": (172, -1), "ioperm": (173, -1), "uselib": (134, -1),
}
SHOWN = (
    "ptrace", "process_vm_writev", "mount", "umount2", "pivot_root", "move_mount", "fsopen",
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
    clone3: int
    socket: int
    socketpair: int
    ioctl: int
    mmap: int
    prctl: int


_MACHINES = {
    "x86_64": _Machine(0, 0xC000003E, 56, 435, 41, 53, 16, 9, 157),
    "aarch64": _Machine(1, 0xC00000B7, 220, 435, 198, 199, 29, 222, 167),
}


def supported(machine: str | None = None) -> bool:
    """Whether there is a filter for that processor (default: this one)."""
    return (machine or platform.machine()) in _MACHINES


@functools.cache
def program(machine: str | None = None, *, shown: bool = False) -> bytes:
    """The filter as an array of `struct sock_filter`, for `bwrap --seccomp`.

    Denied calls fail with EPERM; `clone3` with ENOSYS, so that libc falls back to `clone`, whose
    flags can be seen. With `shown` the filter of `traps.py` is to follow: what is in SHOWN then
    fails with ENOSYS unless the host, who is asked, answers. Raises KeyError where `supported` is
    false.
    """
    cpu = _MACHINES[machine or platform.machine()]
    code = [op(LOAD, ARCH), op(JEQ, cpu.audit_arch, 1, 0), op(RET, KILL), op(LOAD, NR)]
    if cpu.column == 0:
        code += [op(JGE, X32_BIT, 0, 1), op(RET, KILL)]
    for name, numbers in sorted(DENIED.items(), key=lambda item: item[1][cpu.column]):
        if numbers[cpu.column] >= 0:
            refusal = op(RET, TRACE) if shown and name in SHOWN else deny(errno.EPERM)
            code += when(numbers[cpu.column], [refusal])
    code += when(cpu.clone3, [deny(errno.ENOSYS)])
    code += when(
        cpu.clone,
        [op(LOAD, ARGS[0]), op(JSET, _CLONE_NEW, 0, 1), deny(errno.EPERM), op(RET, ALLOW)],
    )
    code += when(cpu.socket, _only(_FAMILIES))
    code += when(cpu.socketpair, _only((int(socket.AF_UNIX),)))
    code += when(cpu.mmap, _not_all(_SHARED_ANONYMOUS))
    code += when(cpu.prctl, _except(ARGS[0], (_PDEATHSIG,)))
    code += when(cpu.ioctl, _except(ARGS[1], _TERMINAL_INPUT))
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


def _except(argument: int, values: tuple[int, ...]) -> list[bytes]:
    body = [op(LOAD, argument)]
    for value in values:
        body += [op(JEQ, value, 0, 1), deny(errno.EPERM)]
    return [*body, op(RET, ALLOW)]
