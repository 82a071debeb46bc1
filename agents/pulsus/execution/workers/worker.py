"""Load a tool from the bytes it gets, call it and report: the child process of a real run.

A result that is no JSON, or is too large, and steps of a composition that nest too deep are refused
here.

Imports the standard library, `pulsus.steps` and the sandbox's harness only, so that it starts fast.
Effects: executes the tool; reads stdin; writes one report to a file descriptor.
"""

from __future__ import annotations

import _thread
import base64
import contextlib
import hashlib
import json
import os
import signal
import sys
import time
import traceback
import types
from typing import Any, NoReturn

import pulsus.steps
from pulsus.core.sandbox.harness.load_and_call import load_module, run_entry
from pulsus.core.sandbox.harness.wire_protocol import check_json
from pulsus.execution.composition_runner import (
    NextJob,
    StepCaller,
    StepFailed,
    StepServer,
    describe_step,
    failure_report,
    send,
    write,
)
from pulsus.execution.script_exit_status import is_failure
from pulsus.execution.unread_source import UnreadStep, describe_unread_step


class StepRefused(RuntimeError):
    """A composed module called a tool that its plan does not hold."""


class BadResult(RuntimeError):
    """A step returned a value that JSON cannot hold."""


class BadExitStatus(RuntimeError):
    """The script of a step ended with a status that its contract does not call a success."""


class BytesChanged(RuntimeError):
    """The bytes that arrived are not those that were hashed."""


class AskedToEnd(SystemExit):
    """SIGTERM asked the tool to end. Its `finally` blocks run, and remove temporary files."""


class StepRunner:
    """Runs the steps of composed modules: those of the caller's own plan, to a limited depth.

    `units` map a tool id to its source, entry and the ids that its own plan calls.
    """

    def __init__(self, units: dict[str, Any], calls: list[str], max_nesting: int) -> None:
        self._units = units
        self._allowed = [calls]
        self._max_nesting = max_nesting
        self._loaded: dict[str, types.ModuleType] = {}

    def run(self, tool_id: str, inputs: dict[str, Any]) -> object:
        """Return the result of the step, as the JSON that it would travel as."""
        if tool_id not in self._allowed[-1] or tool_id not in self._units:
            raise StepRefused(f"{tool_id!r} is not part of this plan")
        if len(self._allowed) > self._max_nesting:
            raise StepRefused(f"compositions nest deeper than {self._max_nesting}")
        unit = self._units[tool_id]
        self._allowed.append(unit["calls"])
        try:
            if tool_id not in self._loaded:
                self._loaded[tool_id] = load_unit(unit)
            result = run_entry(self._loaded[tool_id], unit["entry"], inputs)
        finally:
            self._allowed.pop()
        try:
            check_json(result)
        except ValueError as error:
            raise BadResult(f"step {tool_id} returned no usable result: {error}") from None
        if is_failure(unit["success"], result):
            raise BadExitStatus(describe_step(tool_id, unit["success"], result))
        if unread := describe_unread_step(unit, result, inputs):
            raise UnreadStep(tool_id, unread)
        travelled: object = json.loads(json.dumps(result))
        return travelled


def load_unit(unit: dict[str, Any]) -> types.ModuleType:
    """Return the unit's module. Raises BytesChanged if its bytes do not have its hash."""
    source = base64.b64decode(unit["source"])
    if hashlib.sha256(source).hexdigest() != unit["sha256"]:
        raise BytesChanged(f"the bytes of {unit['id']} are not those that were checked")
    return load_module(source, unit["id"], unit["filename"])


def perform(job: dict[str, Any], steps: StepCaller | None = None) -> dict[str, Any]:
    """Return the report of a job: `ok` with `result`, or a description of the failure."""
    tool = job["tool"]
    stage = "import"
    try:
        own = StepRunner(job["steps"], tool["calls"], job["max_nesting"])
        pulsus.steps.bind(steps.run if steps else own.run)
        module = load_unit(tool)
        stage = "run"
        result = run_entry(module, tool["entry"], job["inputs"])
        stage = "result"
        check_json(result)
        return {"ok": True, "result": result}
    except AskedToEnd:
        raise
    except StepFailed as error:
        return {**error.report, "stage": stage, "ok": False}
    except BaseException as error:  # noqa: BLE001 - SystemExit is a failure too
        units = (tool, *job["steps"].values())
        return {"ok": False, "stage": stage, **describe(error, units)}


def user_permissions(path: str) -> str:
    """Return what the user may do with the path: `r`, `w`, both or nothing.

    access(2) asks the file's mode and not the confinement, so this tells one denial from the other.
    A path that does not exist may be written if its folder may.
    """
    modes = {"r": os.R_OK, "w": os.W_OK}
    if not os.path.lexists(path):
        path, modes = os.path.dirname(path) or ".", {"w": os.W_OK}  # noqa: PTH120 - a fast start
    return "".join(name for name, mode in modes.items() if os.access(path, mode))


def describe(error: BaseException, units: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    """Return the failure in words, and the innermost line of a tool that it passed through.

    `own` means that it was raised in the first of `units`, or in a step that gets only the caller's
    values: then the caller's inputs are at fault. `errno` and `path` are those of an OSError, and
    `permits` says what the user may do with a path that was denied.
    """
    by_file = {unit["filename"]: unit["id"] for unit in units}
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if frame.filename in by_file]
    found: dict[str, Any] = {
        "type": type(error).__name__,
        "message": _error_text(error),
        "own": False,
    }
    if isinstance(error, OSError) and isinstance(error.filename, str):
        found |= {"errno": error.errno, "path": error.filename}
        if isinstance(error, PermissionError):
            found["permits"] = user_permissions(error.filename)
    if isinstance(error, UnreadStep):
        found["tool"] = error.step
    elif isinstance(error, SyntaxError) and error.filename in by_file:
        found |= {"tool": by_file[error.filename], "file": error.filename, "line": error.lineno}
    elif inside:
        last = inside[-1]
        callers = {units[0]["id"], *units[0]["direct"]}
        own = last is frames[-1] and by_file[last.filename] in callers
        found |= {"tool": by_file[last.filename], "file": last.filename, "line": last.lineno}
        found |= {"function": last.name, "own": own}
    return found


def _error_text(error: BaseException) -> str:
    try:
        return str(error)[:2000]
    except Exception as second:  # noqa: BLE001 - the tool wrote __str__
        return f"(its text cannot be read: {type(second).__name__})"


def encode(report: dict[str, Any], limit: int) -> bytes:
    """Return the report as JSON, or a short refusal if it is over `limit` bytes."""
    data = json.dumps(report, allow_nan=False).encode("ascii")
    if len(data) <= limit:
        return data
    message = f"the result is {len(data)} bytes as JSON; the limit is {limit}: return less"
    return json.dumps(failure_report("result", "ValueError", message)).encode("ascii")


def end_with(lifeline: int) -> None:
    """Kill this process group once the other end is closed; on Linux the kernel does."""
    os.read(lifeline, 1)
    os.killpg(0, signal.SIGKILL)


def main(result_fd: int, lifeline: int) -> None:
    """Read the job from stdin, perform it, send the confinement and the report, and end.

    The result descriptor stays open until this process ends, which is how the parent sees the end;
    no child of the tool holds it. `lifeline` stays open too. When its other end is closed, this
    process ends with its group (`end_tool_process.py`).
    """
    job = json.loads(sys.stdin.buffer.read())
    if job["environment"] is not None:
        set_environment(job["environment"])
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.set_inheritable(result_fd, False)
    os.set_inheritable(lifeline, False)
    if sys.platform != "linux":
        _thread.start_new_thread(end_with, (lifeline,))
    begin(job, job["confinement"], result_fd)


def set_environment(wanted: dict[str, str]) -> None:
    """Give this process the environment of its call; a fork of a warm interpreter has none."""
    os.environ.clear()
    os.environ.update(wanted)
    if "TZ" in wanted:
        time.tzset()


def begin(job: dict[str, Any], orders: dict[str, Any] | None, result_fd: int) -> None:
    """Perform the job as it is to be confined; a process forked for a step comes back here."""
    within = ""
    while True:
        try:
            if orders and not orders["only_limits"]:
                run_confined(job, orders, result_fd, within)
                return
            if orders:
                from pulsus.execution.confinement.confine_process import set_run_limits

                set_run_limits(orders["max_mem_mb"], orders["max_files"])
            send(result_fd, {"confined": False})
            answer(job, result_fd)
        except NextJob as step:
            job, orders, result_fd = step.job, step.orders, step.result_fd
            within = step.within
        else:
            return


def run_confined(job: dict[str, Any], orders: dict[str, Any], result_fd: int, within: str) -> None:
    """Perform the job in a confined child. This process supervises it and ends with its status."""
    from pulsus.execution.confinement.supervision.supervisor import NotConfined, SupervisedRun

    try:
        run = SupervisedRun(orders, within)
        steps = StepServer(job, orders, run.folder) if "steps" in orders else None
        keep = (result_fd, steps.asks, steps.answers) if steps else (result_fd,)
        inside = run.start(lambda: send(result_fd, {"confined": True, "folder": run.folder}), keep)
    except (NotConfined, OSError) as error:
        send(result_fd, {"confined": False})
        send(result_fd, failure_report("confine", "NotConfined", str(error)))
        return
    if inside:
        answer(job, result_fd, StepCaller(steps.asks, steps.answers) if steps else None)
        if orders["reads"]:
            end_quickly()
        return
    if steps:
        steps.forget_the_other_end()
        run.supervise(steps.fileno, steps.act)
    else:
        run.supervise()
    run.end_like_it()


def end_quickly() -> None:
    """End this process as the interpreter would, without freeing all its objects.

    A read leaves nothing to write. Threads are waited for, exit handlers run.
    """
    import atexit

    for finish in (getattr(sys.modules.get("threading"), "_shutdown", None), atexit._run_exitfuncs):
        try:
            if finish is not None:
                finish()
        except BaseException:  # noqa: BLE001 - the tool's own; the interpreter goes on as well
            traceback.print_exc()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    os._exit(0)


def answer(job: dict[str, Any], result_fd: int, steps: StepCaller | None = None) -> None:
    """Perform the job and send the report. `steps` runs its steps, if this process does not."""
    os.register_at_fork(after_in_child=lambda: _become_child_of_tool(result_fd))
    sys.argv = [job["tool"]["filename"]]
    parent = os.getpid()
    try:
        signal.signal(signal.SIGTERM, _raise_asked_to_end)
        report = perform(job, steps)
        if os.getpid() != parent:  # a child that the tool forked came back here
            os._exit(1)
        write(result_fd, encode(report, job["max_result_bytes"]))
    except AskedToEnd:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        with contextlib.suppress(OSError):  # the confinement may refuse it
            os.kill(os.getpid(), signal.SIGTERM)
        os._exit(1)


def _raise_asked_to_end(number: int, _: types.FrameType | None) -> NoReturn:
    signal.signal(number, signal.SIG_IGN)  # a second signal does not stop the tidying up
    raise AskedToEnd(number)


def _become_child_of_tool(result_fd: int) -> None:
    """Drop what only the tool's own process may do: a child that ends tidies up nothing."""
    os.close(result_fd)
    if signal.getsignal(signal.SIGTERM) is _raise_asked_to_end:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
