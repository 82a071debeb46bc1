"""Run a program that a setting names, with bytes on its standard input. Effect: one process.

It runs the notify command of the web server (`web/notices/notice_delivery.py`). `seconds` is its
timeout.

Its output is not kept. It gets a session of its own, and ends with all of its process group.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress

_KEPT = ("PATH", "HOME", "LANG", "TZ", "USER")
"""Variables that the program gets: it is to see no key that Pulsus uses."""


def run_with_input(argv: Sequence[str], data: bytes, seconds: float) -> int | None:
    """Return the exit status, below 0 for a signal; None if it was ended after `seconds`.

    Raises OSError for a program that cannot be started.
    """
    environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
    process = subprocess.Popen(
        argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,
    )
    try:
        process.communicate(data, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        # Also what it left running: a notice is no way to start something that stays.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if process.stdin is not None:
            with suppress(OSError):
                process.stdin.close()
    return process.returncode
