"""A child process that was started without `subprocess`, which takes long to load.

It only waits for a process. A sandbox gets its environment variables and arguments in
`core/sandbox/isolation/bwrap_arguments.py`, and its timeout in `sandbox_session.py`; a checker gets
both in `core/validators/steps/checker_process.py`; a real run of a tool is in
`execution/tool_process.py`. Effect: waits for the process. This module imports little, as
`mypy_prestart.py` does.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from typing import TypeAlias

    AnyChild: TypeAlias = "subprocess.Popen[bytes] | ChildProcess"


class ChildProcess:
    """A started process, with as much of `subprocess.Popen` as a checker or a sandbox needs."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return its exit status, negative for a signal, or None while it runs."""
        return self._wait_with(os.WNOHANG)

    def wait(self) -> int:
        """Return its exit status, once it has ended."""
        status = self._wait_with(0)
        assert status is not None
        return status

    def _wait_with(self, options: int) -> int | None:
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, options)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode
