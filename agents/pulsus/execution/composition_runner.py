"""Run the steps of a composition in processes of their own (ADR 28).

The confined composition asks for a step through a pipe. The worker, which is not confined, starts a
process for it, confined by that step's own contract. It sends the result back through a second
pipe. Effects: forks; reads and writes pipes.

The limit on how deep compositions nest (`MAX_NESTING` in `core/compose/plans/pins.py`) is enforced
here, and in `execution/workers/worker.py` for steps in one process.

A composition that may write is run step by step by `routing/plans/run_composition.py`.
"""

from __future__ import annotations

import json
import os
import struct

from pulsus.execution.script_exit_status import is_failure, read_status
from pulsus.execution.unread_source import UnreadStep, describe_unread_step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

HEADER = struct.Struct(">Q")
"""Length of the frame that follows, in bytes."""


class StepFailed(Exception):
    """A step failed in its own process; `report` describes the failure."""

    def __init__(self, report: dict[str, Any]) -> None:
        super().__init__(str(report.get("message")))
        self.report = report


class NextJob(BaseException):
    """Unwinds a process that was forked for a step, so that it starts anew with that step."""

    def __init__(
        self, job: dict[str, Any], orders: dict[str, Any], result_fd: int, within: str
    ) -> None:
        super().__init__()
        self.job, self.orders, self.result_fd, self.within = job, orders, result_fd, within


class StepCaller:
    """The composition's end: `pulsus.steps.call` calls `run`."""

    def __init__(self, asks: int, answers: int) -> None:
        self._asks, self._answers = asks, answers

    def run(self, tool_id: str, inputs: dict[str, Any]) -> object:
        """Return the result of the step.

        Raises StepFailed, and ValueError for inputs that are not JSON.
        """
        send(self._asks, {"tool": tool_id, "inputs": inputs})
        report = receive(self._answers)
        if report is None:
            raise StepFailed({"type": "StepFailed", "message": f"step {tool_id} was not run"})
        if report.get("ok") is not True:
            raise StepFailed(report)
        result: object = report.get("result")
        return result


class StepServer:
    """The worker's end, which runs the steps."""

    def __init__(self, job: dict[str, Any], orders: dict[str, Any], folder: str) -> None:
        self._job, self._orders, self._folder = job, orders, folder
        self._asked, self.asks = os.pipe()
        self.answers, self._answer = os.pipe()

    @property
    def fileno(self) -> int:
        """Return the descriptor that becomes readable when a step is asked for."""
        return self._asked

    def forget_the_other_end(self) -> None:
        """Close the composition's descriptors."""
        os.close(self.asks)
        os.close(self.answers)

    def act(self) -> bool:
        """Run one step and answer. Return False once the composition asks no more.

        Raises NextJob in the process that is forked for the step.
        """
        question = receive(self._asked)
        if question is None:
            return False
        tool_id = question.get("tool")
        if tool_id not in self._job["tool"]["calls"] or tool_id not in self._job["steps"]:
            answer = failure_report("run", "StepRefused", f"{tool_id!r} is not part of this plan")
        elif self._job["max_nesting"] <= 0:
            message = "compositions nest deeper than is allowed"
            answer = failure_report("run", "StepRefused", message)
        else:
            answer = self._run_step(str(tool_id), question["inputs"])
        send(self._answer, answer)
        return True

    def _run_step(self, tool_id: str, inputs: dict[str, Any]) -> dict[str, Any]:
        unit = self._job["steps"][tool_id]
        job = {**self._job, "tool": unit, "inputs": inputs}
        job["max_nesting"] = self._job["max_nesting"] - 1
        found, finding = os.pipe()
        child = os.fork()
        if not child:
            _drop_supervision(finding)
            raise NextJob(job, self._orders_for_step(tool_id, unit, inputs), finding, self._folder)
        os.close(finding)
        try:
            receive(found)  # the first frame repeats how the step is confined
            report = receive(found)
        finally:
            os.close(found)
        os.waitpid(child, 0)
        if report is None:
            message = f"step {tool_id} ended without a result"
            report = {**failure_report("run", "StepFailed", message), "tool": tool_id}
        elif report.get("stage") == "result":
            message = f"step {tool_id} returned no usable result: {report.get('message')}"
            report |= {"stage": "run", "type": "BadResult", "message": message}
        elif is_failure(unit["success"], report.get("result")):
            message = describe_step(tool_id, unit["success"], report["result"])
            report = failure_report("run", "BadExitStatus", message)
        elif unread := describe_unread_step(unit, report.get("result"), inputs):
            report = {**failure_report("run", UnreadStep.__name__, unread), "tool": tool_id}
        report["own"] = bool(report.get("own")) and tool_id in self._job["tool"]["direct"]
        return report

    def _orders_for_step(
        self, tool_id: str, unit: dict[str, Any], inputs: dict[str, Any]
    ) -> dict[str, Any]:
        """Return how that call is confined, now that its inputs are known."""
        step = self._orders["steps"][tool_id]
        orders = dict(step["orders"])
        if unit["calls"]:  # a composition among the steps: its steps are confined one by one, too
            return {**orders, "steps": self._orders["steps"]}
        if step["reads"]:
            return orders
        folders = _writable_folders(step, inputs) if step["decidable"] else None
        if folders is None:
            return {**orders, "only_limits": True}
        return {**orders, "folders": list(folders)}


def _writable_folders(step: dict[str, Any], inputs: dict[str, Any]) -> tuple[str, ...] | None:
    from types import SimpleNamespace

    from pulsus.execution.confinement import declared_effects

    contract: Any = SimpleNamespace(
        effects=SimpleNamespace(paths=tuple(step["paths"]), hosts=()),
        args=[SimpleNamespace(name=name, default=default) for name, default in step["args"]],
    )
    return declared_effects.declared_folders(contract, inputs)


def _drop_supervision(keep: int) -> None:
    """Drop the descriptors and signal handlers of the composition's supervisor."""
    import signal

    from pulsus.execution.confinement.confine_process import close_others

    close_others((keep,))
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR2):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def describe_step(tool_id: str, success: list[int], result: object) -> str:
    """Return how the script of a step ended, and with what it would be a success."""
    good = ", ".join(map(str, success))
    status = read_status(success, result)
    return f"the script of step {tool_id} ended with exit status {status}, success is {good}"


def failure_report(stage: str, kind: str, message: str) -> dict[str, Any]:
    """Return the report of a failure that is not the fault of the inputs."""
    return {"ok": False, "stage": stage, "type": kind, "message": message, "own": False}


def send(number: int, found: dict[str, Any]) -> None:
    """Write one frame of JSON."""
    write(number, json.dumps(found, allow_nan=False).encode("ascii"))


def write(number: int, data: bytes) -> None:
    """Write one frame: the length, then the bytes."""
    data = HEADER.pack(len(data)) + data
    while data:
        data = data[os.write(number, data) :]


def receive(number: int) -> dict[str, Any] | None:
    """Return the next frame, or None if it is missing or invalid."""
    head = _read_exactly(number, HEADER.size)
    if len(head) < HEADER.size:
        return None
    data = _read_exactly(number, HEADER.unpack(head)[0])
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _read_exactly(number: int, size: int) -> bytes:
    parts = []
    while size > 0 and (part := os.read(number, min(size, 1 << 20))):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
