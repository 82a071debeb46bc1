"""System calls that Python has no name for (spec §17). Effect: makes them."""

from __future__ import annotations

import ctypes
import functools
import os

PIDFD_GETFD, LANDLOCK_CREATE_RULESET = 438, 444
"""Numbers of calls that are the same on every processor."""


def call(number: int, *args: object) -> int:
    """Make a system call by its number. Raises OSError."""
    found: int = _libc().syscall(ctypes.c_long(number), *args)
    if found < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return found


@functools.cache
def landlock() -> int:
    """The version of Landlock that the kernel offers, 0 for none."""
    try:
        return call(LANDLOCK_CREATE_RULESET, None, 0, 1)
    except OSError:
        return 0


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
