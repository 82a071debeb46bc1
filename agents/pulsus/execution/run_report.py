"""Turn a child's report, or its silence, into a result or an error (`pulsus run`).

The messages for a timeout, a killed process, a path without permission (permission denied) and a
result that is too large are worded here, also if the sandbox and not the user's rights denied the
path.

The size limit and the timeout are arguments of `tool_process.py`. The messages of a dry run are in
`core/sandbox/end_messages.py`.

Effect: looks for a path that is similar to one that does not exist, and for the working folder.
"""

from __future__ import annotations

import errno
import json
import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import PurePath
from typing import Any

from pulsus.core.telemetry.sanitize import one_line
from pulsus.core.text.similar_names import similar_path
from pulsus.core.types import JsonValue, ToolSpec
from pulsus.errors import (
    ConfinementUnavailable,
    InputPathUnusable,
    InputPathWrongSort,
    PulsusError,
    SourceUnreadable,
    ToolFailed,
    UsageError,
)
from pulsus.execution.unread_source import UnreadStep
from pulsus.execution.workers.child_pipes import Pump

_SEE = "see what it printed, and the line named here"
_UNDECLARED = (
    "you may open this file, and the confined tool may not: name its path in `Effects:` of the "
    "tool, then promote it again (docs/tool-contract.md of Pulsus)"
)
_DENIED = (
    "no permission to open it",
    "give a path that you may open, or run it as a user who may",
)
_PATH_FAULTS = {
    errno.ENOENT: (
        "no such file or folder",
        "correct the path; a file that is to be written needs an existing folder",
    ),
    errno.EISDIR: ("it is a folder, and the tool opens it as a file", "give the path of a file"),
    errno.ENOTDIR: (
        "the tool needs a folder here, or a part of the path is a file",
        "give the path of a folder that exists",
    ),
    errno.EACCES: _DENIED,
    errno.EPERM: _DENIED,
    errno.ELOOP: ("its symbolic links form a loop", "give the path of the file itself"),
    errno.ENAMETOOLONG: ("a file name cannot be that long", "give the path of a file"),
}
"""By error number: the reason, and the fix. A full disk, say, is no fault of the path."""
_MOST_SHOWN = 200


def parse_report(
    tool: ToolSpec,
    pump: Pump,
    status: int,
    timeout_s: float,
    inputs: Mapping[str, JsonValue],
) -> JsonValue:
    """Return the result in the child's report. An exit status alone is never a success.

    Raises UsageError if the report blames the inputs, InputPathUnusable if the tool could not open
    the path in one of `inputs`, otherwise ToolFailed.
    """
    failed = partial(ToolFailed, tool=tool.id)
    if pump.oversized:
        raise failed(f"{tool.id} sent a report over its limit", hint="return less")
    if pump.answer is None:
        raise _no_report_error(tool, pump, status, timeout_s)
    report = _decode_report(pump.answer)
    if report is None:
        raise failed(f"{tool.id} sent an invalid report", hint="return the result")
    if report.get("stage") == "confine":
        raise ConfinementUnavailable(
            f"{tool.id} was not run: it cannot be confined here: {report.get('message')}",
            hint="`pulsus doctor` says what this machine has; a person may add --unconfined",
            tool=tool.id,
        )
    if report.get("ok") is not True:
        raise _failure_error(tool, report, inputs)
    if pump.ended and status != 0:
        raise failed(
            f"{tool.id} gave a result and then ended with {_describe_end(status)}",
            hint="see what it printed; its exit handlers failed",
            status=status,
        )
    result: JsonValue = report["result"]
    return result


def _decode_report(answer: bytes) -> dict[str, Any] | None:
    """Return the child's report, or None if the tool wrote over it."""
    try:
        found = json.loads(answer)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or (found.get("ok") is True and "result" not in found):
        return None
    return found


def _no_report_error(tool: ToolSpec, pump: Pump, status: int, timeout_s: float) -> ToolFailed:
    if not pump.ended:
        return ToolFailed(
            f"{tool.id} was still running after {timeout_s:g} s and was ended, "
            f"with every process it started",
            hint="give it less to do, or raise `run.max_seconds`",
            tool=tool.id,
            timed_out=True,
        )
    return ToolFailed(
        f"{tool.id} ended with {_describe_end(status)} and no result",
        hint="see what it printed; a tool returns instead of exiting",
        tool=tool.id,
        status=status,
    )


def _failure_error(
    tool: ToolSpec, report: Mapping[str, Any], inputs: Mapping[str, JsonValue]
) -> PulsusError:
    kind, message = str(report.get("type")), one_line(str(report.get("message")), 1000)
    step = report.get("tool", tool.id)
    keys = ("stage", "type", "file", "line", "function")
    details = {key: report[key] for key in keys if key in report}
    details |= {"tool": tool.id, "step": None if step == tool.id else step}
    if report.get("stage") == "result":
        hint = "a tool returns JSON values only (docs/tool-contract.md of Pulsus)"
        return ToolFailed(f"{tool.id} returned no usable result: {message}", hint=hint, **details)
    if kind == UnreadStep.__name__:
        hint = f"`pulsus tools show {step}` says what it reads, and if it takes a saved copy"
        return SourceUnreadable(f"{tool.id}: {message}", hint=hint, **details)
    via = "" if step == tool.id else f" in its step {step}"
    if kind == "ValueError" and report.get("own"):
        hint = f"`pulsus tools show {step}` says what it takes"
        details["reason"] = message
        return UsageError(f"{tool.id} rejects its inputs{via}: {message}", hint=hint, **details)
    if report.get("stage") == "run":
        fault = _path_error(f"{tool.id}{via}", report, inputs, details)
        if fault is not None and not _denied_by_confinement(tool, report):
            return fault
    if kind == FileExistsError.__name__:
        hint = _existing_file_hint(tool, report)
        return ToolFailed(f"{tool.id} failed{via}: {message}", hint=hint, **details)
    hint = _UNDECLARED if _denied_by_confinement(tool, report) else _SEE
    return ToolFailed(
        f"{tool.id} failed{via}: {kind}: {message}{_describe_place(report)}", hint=hint, **details
    )


def _existing_file_hint(tool: ToolSpec, report: Mapping[str, Any]) -> str:
    if str(report.get("path", "")).endswith(".tmp"):
        return "a run that was killed may have left this file: if no run uses it, remove it"
    is_step = report.get("tool", tool.id) != tool.id
    if not is_step and any(arg.name == "overwrite" for arg in tool.args):
        return "give another path, or replace the file with --input overwrite=true"
    return "give another path, or move the file away"


def _path_error(
    tool: str,
    report: Mapping[str, Any],
    inputs: Mapping[str, JsonValue],
    details: Mapping[str, object],
) -> InputPathUnusable | None:
    """Return the error of an input whose path the tool could not open.

    None if the report tells of another path: then the tool itself is at fault.
    """
    number, path = report.get("errno"), report.get("path")
    if not isinstance(number, int) or not isinstance(path, str) or number not in _PATH_FAULTS:
        return None
    for name, text in _texts(inputs):
        if _is_about(number, path, text) or _is_about(number, path, _at_home(text)):
            reason, fix = _PATH_FAULTS[number]
            shown = one_line(text, _MOST_SHOWN)
            near = similar_path(text) if number == errno.ENOENT else None
            is_other = number in (errno.EISDIR, errno.ENOTDIR)
            return (InputPathWrongSort if is_other else InputPathUnusable)(
                f"input {name}={shown!r} of {tool}: {reason}",
                hint=f"did you mean {one_line(near, _MOST_SHOWN)}?" if near else fix,
                **{**details, "input": name},
            )
    return None


def _denied_by_confinement(tool: ToolSpec, report: Mapping[str, Any]) -> bool:
    """Return True if the user may open the path that was denied: then the path is no mistake."""
    permits = str(report.get("permits", ""))
    return "w" in permits or ("r" in permits and tool.kind == "read")


def _is_about(number: int, failed: str, given: str) -> bool:
    """Return True if the path that failed is the one given, or a missing folder above it.

    Both are compared as `pathlib` writes them: `./a//b/` is `a/b`. Links are not followed. A tool
    that made its path absolute reports it below the working folder, with or without its `..`.
    """
    path, absolute = PurePath(failed), _absolute(given)
    for wanted in map(PurePath, (given, absolute, os.path.normpath(absolute))):
        if path == wanted or (number == errno.ENOENT and path in wanted.parents):
            return bool(given)
    return False


def _absolute(path: str) -> str:
    with suppress(OSError):  # the working folder may be gone
        return os.path.join(os.getcwd(), path)  # noqa: PTH109, PTH118 - keeps `..`
    return path


def _at_home(path: str) -> str:
    return os.path.expanduser(path)  # noqa: PTH111 - pathlib's raises if there is no such user


def _texts(inputs: Mapping[str, JsonValue]) -> Iterator[tuple[str, str]]:
    """Yield the texts of the inputs with the input's name, also each text of a list."""
    for name, value in inputs.items():
        for item in value if isinstance(value, list) else (value,):
            if isinstance(item, str):
                yield name, item


def _describe_place(report: Mapping[str, Any]) -> str:
    if not report.get("file"):
        return ""
    inside = f" in {report['function']}" if report.get("function") else ""
    return f" ({report['file']}:{report.get('line')}{inside})"


def _describe_end(status: int) -> str:
    if status >= 0:
        return f"status {status}"
    with suppress(ValueError):
        return f"signal {signal.Signals(-status).name}"
    return f"signal {-status}"
