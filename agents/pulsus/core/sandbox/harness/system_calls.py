"""Make raw system calls: in the harness, in its host and in the worker of a confined run.

Every start of a sandbox or worker pays for what is imported here. `ctypes` takes as long to load as
the interpreter, its C part `_ctypes` does not. Standard library only: the sandbox holds no more.
"""

from __future__ import annotations

import posix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# fmt: off
_NUMBERS: dict[str, tuple[int, int]] = {  # x86_64, aarch64 (Linux UAPI `asm/unistd_64.h`)
    "prctl": (157, 167), "seccomp": (317, 277), "capset": (126, 91), "openat2": (437, 437),
    "mount": (165, 40), "unshare": (272, 97), "pidfd_getfd": (438, 438),
    "landlock_create_ruleset": (444, 444), "landlock_add_rule": (445, 445),
    "landlock_restrict_self": (446, 446),
}
# fmt: on
_COLUMNS = {"x86_64": 0, "aarch64": 1}
_SET_FILTER, _NEW_LISTENER, _WAIT_KILLABLE = 1, 8, 32
NONE = -1
"""No descriptor: no call is shown to another process."""

_loaded: list[Any] = []


def load() -> tuple[Any, Any]:
    """Return the C function `syscall`, and the function that returns its last error.

    A process that forks calls this first, so that its child has nothing to load.
    """
    if not _loaded:
        import _ctypes

        native: Any = _ctypes
        long_type = type("c_long", (native._SimpleCData,), {"_type_": "l"})
        flags = native.FUNCFLAG_CDECL | native.FUNCFLAG_USE_ERRNO
        fields = {"_flags_": flags, "_restype_": long_type}
        function = type("Function", (native.CFuncPtr,), fields)
        address = native.dlsym(native.dlopen(None, 0), "syscall")
        _loaded.extend((function(address), native.get_errno))
    return _loaded[0], _loaded[1]


def call(name: str, *arguments: int | bytes | None) -> int:
    """Make a system call and return its result. Integers travel as C ints, bytes by address.

    Raises OSError if it fails. Raises KeyError on an unknown processor, and ImportError if this
    Python has no `_ctypes`.
    """
    function, last_error = load()
    number = _NUMBERS[name][_COLUMNS[posix.uname().machine]]
    result: int = function(number, *arguments)
    if result < 0:
        code = last_error()
        raise OSError(code, f"the kernel refuses {name}: {posix.strerror(code)}")
    return result


def address(data: bytes) -> int:
    """Return the address of the content of these bytes: behind the head of the object."""
    return id(data) + bytes.__basicsize__ - 1


def landlock_version() -> int:
    """Return the version of Landlock that the kernel offers, or 0."""
    try:
        return call("landlock_create_ruleset", None, 0, 1)
    except (OSError, KeyError, ImportError):
        return 0


def install_filter(program: bytes, *, listen: bool) -> int:
    """Put this process, and all that it starts, behind a seccomp filter for good.

    With `listen`, return the descriptor at which the calls wait that the filter shows, otherwise
    NONE. Raises OSError.
    """
    # struct sock_fprog: how many instructions, and where they lie
    order = (len(program) // 8).to_bytes(8, "little") + address(program).to_bytes(8, "little")
    if not listen:
        call("seccomp", _SET_FILTER, 0, order)
        return NONE
    try:
        return call("seccomp", _SET_FILTER, _NEW_LISTENER | _WAIT_KILLABLE, order)
    except OSError:  # Linux before 5.19 does not know the second flag
        return call("seccomp", _SET_FILTER, _NEW_LISTENER, order)
