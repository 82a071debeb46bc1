"""The exit status of a script that a tool wraps (docs/tool-contract.md, "Exit status"). Pure.

Here it is decided which exit code of a wrapped script is a failure (the contract's success
statuses, parsed in `core/contract/docstring.py`). The exit codes of Pulsus itself are in
`errors.py`.

The worker checks the steps of a composition with it, so it imports nothing when it loads.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from pulsus.core.types import ToolSpec
    from pulsus.errors import ScriptFailed

_SIGNAL = 128
"""A shell reports signal N as 128 + N."""
_MOST = 255


def read_status(success: Collection[int], result: object) -> int | None:
    """Return the `exit_status` in a tool's result; None if the tool declares no such output.

    `success` are the statuses that its contract calls a success, empty without that output.
    """
    status = result.get("exit_status") if success and isinstance(result, dict) else None
    return status if type(status) is int else None  # a bool is an int too


def is_failure(success: Collection[int], result: object) -> bool:
    """Return True if the script ended with a status that the contract does not call a success."""
    status = read_status(success, result)
    return status is not None and status not in success


def to_process_status(status: int) -> int:
    """Return the status that a process can end with, 0 to 255; only 0 becomes 0.

    A negative number is a signal, as Python's `subprocess` reports it.
    """
    if status < 0:
        return min(_SIGNAL - status, _MOST)
    return status if status <= _MOST else status % (_MOST + 1) or 1


def script_failure(tool: ToolSpec, result: object) -> ScriptFailed | None:
    """Return the error of a run whose script failed, or None. The result is there all the same."""
    if not is_failure(tool.success_statuses, result):
        return None
    from pulsus.errors import ScriptFailed

    status = read_status(tool.success_statuses, result)
    good = ", ".join(map(str, tool.success_statuses))
    return ScriptFailed(
        f"the script of {tool.id} ended with exit status {status}, and its contract calls only "
        f"{good} a success",
        hint="see what it printed; if this status is a success, add it to the docstring: "
        f"`Success exit status: {status}`, and promote it again",
        tool=tool.id,
        exit_status=status,
    )
