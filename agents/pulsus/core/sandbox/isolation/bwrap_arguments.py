"""Translate limits, mounts and environment variables into bubblewrap arguments (spec §8, §17).

Here the sandbox loses its network (its namespace is empty), its capabilities and every environment
variable: its environment is made here from nothing, so no secret of Pulsus enters it. Here /tmp and
/dev/shm get their size. Rlimits (open files, CPU) are set inside, in
`core/sandbox/harness/harness.py`, memory and processes in `cgroup_limits.py`. Mounted paths of the
host are chosen in `mount_plan.py`. Pure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pulsus.core.sandbox.harness.audit_hook import HOME, HOSTNAME, TEMPORARY
from pulsus.core.sandbox.harness.socket_proxy import SOCKET
from pulsus.core.sandbox.isolation.drop_root import NOBODY
from pulsus.core.sandbox.isolation.harness_stream import BOOT
from pulsus.core.sandbox.isolation.mount_plan import MountPlan
from pulsus.core.sandbox.sandbox_limits import MIB, SandboxLimits

SHM_BYTES = 16 * MIB
OUTPUT_KILL_BYTES = 8 * MIB
START_SECONDS = 20.0  # bubblewrap and interpreter start, on a very busy machine
_PASSWD = f"nobody:x:65534:65534:nobody:{HOME}:/usr/sbin/nologin\n".encode()
_GROUP = b"nogroup:x:65534:\n"
_HOSTS = f"127.0.0.1 localhost {HOSTNAME}\n::1 localhost\n".encode()
_PATH = "/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True, slots=True)
class Descriptors:
    """Open descriptors that bubblewrap reads: its report channel, the filter, and file contents.

    `relay` is the socket to the allowed hosts, if there are any. With `as_first` the harness is the
    first process of the sandbox, in place of bubblewrap.
    """

    info: int
    seccomp: int
    zero: int
    files: tuple[tuple[int, Path], ...]
    relay: Path | None = None
    as_first: bool = False


def own_files(*, relay: bool = False) -> tuple[tuple[Path, bytes], ...]:
    """Return the sandbox's own lists of users, groups and host names, with the user `nobody` alone.

    With a relay it has no host name: an allowed address of this machine is reached by that address
    alone.
    """
    named = [("passwd", _PASSWD), ("group", _GROUP), *([] if relay else [("hosts", _HOSTS)])]
    return tuple((Path("/etc", name), data) for name, data in named)


def bwrap_arguments(
    layout: MountPlan, limits: SandboxLimits, fds: Descriptors, source_of: Callable[[Path], str]
) -> list[str]:
    """Return the arguments after the program's name. `source_of` maps a path to where it lies now.

    The interpreter is bound after `/tmp` is made, because it may lie below it.
    """
    args = [
        *("--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"),
        *("--unshare-cgroup-try", "--disable-userns", "--die-with-parent", "--new-session"),
        *("--uid", str(NOBODY), "--gid", str(NOBODY), "--hostname", HOSTNAME),
        *("--cap-drop", "ALL", "--clearenv"),
        *(("--as-pid-1",) if fds.as_first else ()),
    ]
    for name, value in _build_environment().items():
        args += ["--setenv", name, value]
    args += ["--proc", "/proc", "--dev", "/dev"]
    args += ["--size", str(SHM_BYTES), "--perms", "1777", "--tmpfs", "/dev/shm"]
    # A shared map of /dev/zero is memory that the resource monitor would miss.
    args += ["--perms", "0444", "--ro-bind-data", str(fds.zero), "/dev/zero"]
    args += ["--remount-ro", "/dev"]
    args += ["--size", str(limits.tmp_bytes), "--perms", "1777", "--tmpfs", "/tmp"]
    args += ["--dir", HOME, "--dir", TEMPORARY]
    for path in layout.binds:
        args += ["--ro-bind", source_of(path), str(path)]
    if fds.relay is not None:
        args += ["--ro-bind", source_of(fds.relay), SOCKET]
    for target, path in layout.links:
        args += ["--symlink", target, str(path)]
    for fd, path in fds.files:
        args += ["--perms", "0444", "--file", str(fd), str(path)]
    args += ["--info-fd", str(fds.info), "--seccomp", str(fds.seccomp)]
    args += ["--chdir", "/tmp", "--remount-ro", "/", "--"]
    return [*args, str(layout.python), "-I", "-S", "-B", "-c", BOOT]


def _build_environment() -> dict[str, str]:
    return {
        "PATH": _PATH,
        "HOME": HOME,
        "XDG_CACHE_HOME": TEMPORARY,
        "TMPDIR": TEMPORARY,
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONDONTWRITEBYTECODE": "1",
        # There is one core: a linear-algebra library would start threads that only map memory.
        "OPENBLAS_NUM_THREADS": "1",
        "MALLOC_ARENA_MAX": "2",
        "OMP_NUM_THREADS": "1",
        "MPLCONFIGDIR": TEMPORARY,
        "MPLBACKEND": "Agg",
    }
