"""Run a promoted tool in a process of its own (routing spec §12; contracts, `pulsus run`).

The tool's bytes are passed on and never read again from disk: a sha256 that differs from the
promoted one is refused here, and a tool that is not promoted in `routing/runs/run_checks.py`. A
result is limited to 16 MiB, and the last 8 KiB of stdout and stderr are kept. Variables PULSUS_*
are kept from the tool, other secrets in `tool_secrets.py`. The sandbox is planned in
`execution/confinement/choose_confinement.py`. The timeout (`run.max_seconds` in
`config/settings.py`, passed by `routing/runs/run_promoted.py`) is noticed in
`execution/workers/child_pipes.py`, and the tool is ended by `end_tool_process.py`. Effects: starts
one process group, ends it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path
from typing import Any

from pulsus.core.compose.plans.module_source import read_plan
from pulsus.core.compose.plans.pins import MAX_NESTING
from pulsus.core.system import private_folders
from pulsus.core.telemetry.sanitize import strip_controls
from pulsus.core.types import JsonValue, OutputRef, PlanStep, ToolSpec, Verification
from pulsus.errors import (
    Aborted,
    HashMoved,
    HungUp,
    PlanInvalid,
    PulsusError,
    Terminated,
)
from pulsus.execution import end_tool_process, script_exit_status, unread_source
from pulsus.execution.cancellation import Cancellation
from pulsus.execution.confinement.choose_confinement import ConfinementPlan
from pulsus.execution.run_report import parse_report
from pulsus.execution.workers.child_pipes import Bounds, OnOutput, Pump
from pulsus.execution.workers.worker_launch import (
    FRESH,
    FreshInterpreter,
    StartedWorker,
    WorkerLauncher,
    WorkerPlace,
    WorkerStart,
)

# A result is read by people and other tools; larger data belongs in a file the tool writes.
MAX_RESULT_BYTES = 16 * 1024 * 1024
_TAIL_BYTES = 8 * 1024
# Time to run exit handlers once the result is there.
_GRACE_S = 2.0
UNCONFINED = ConfinementPlan(None)
_FRESH = FreshInterpreter()


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a tool, with the end of its output. `duration_ms` is wall time.

    `confinement` records what was enforced. If the tool wraps a script, `script_exit_status`
    is that of the script. `failure` says that the script has no success, or that a read could not
    read its source. `started` says how the worker was started.
    `wrote` is True if the run may have changed something: it was no read and no dry run.
    `verification` is the verdict on that change.
    """

    result: JsonValue
    stdout_tail: str
    stderr_tail: str
    duration_ms: int
    confinement: Mapping[str, JsonValue] = field(default_factory=dict)
    script_exit_status: int | None = None
    failure: PulsusError | None = None
    started: WorkerStart = FRESH
    wrote: bool = False
    verification: Verification | None = None


def check_hash(tool: ToolSpec, source: bytes, expected_sha256: str) -> None:
    """Raise HashMoved unless `source` has that hex digest."""
    actual = hashlib.sha256(source).hexdigest()
    if actual != expected_sha256:
        raise HashMoved(
            f"{tool.id} is not what was promoted: its bytes are {actual[:12]}…, "
            f"the record has {expected_sha256[:12]}…",
            hint="validate and promote the file again, or restore it",
            tool=tool.id,
            expected=expected_sha256,
            actual=actual,
        )


def run_tool(
    tool: ToolSpec,
    source: bytes,
    inputs: Mapping[str, JsonValue],
    *,
    steps: Mapping[str, tuple[ToolSpec, bytes]],
    timeout_s: float,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    on_output: OnOutput | None = None,
    max_result_bytes: int = MAX_RESULT_BYTES,
    python: Path | None = None,
    planned: ConfinementPlan = UNCONFINED,
    launcher: WorkerLauncher = _FRESH,
    cancellation: Cancellation | None = None,
) -> RunResult:
    """Return the result of `tool` for `inputs`, run from exactly these bytes.

    `steps` hold every tool that a composed module calls, and theirs (`pins.collect_step_sources`).
    `env` is the environment to pass on, by default the caller's own, always without `PULSUS_*`.
    Output goes to `on_output` as it comes; the last 8 KiB of each stream are stored. `python` is
    the interpreter to run it with, ours by default. `planned` confines the run (ADR 28). `launcher`
    starts its process, and `cancellation` ends it early.

    A script that ends with a failure, and a read that cannot read its source, still give their
    result (`RunResult.failure`); as a step they end the composition.

    Raises HashMoved before anything runs. Raises ConfinementUnavailable if the plan cannot be
    enforced; nothing of the tool ran then. Raises UsageError if the tool rejects its inputs with a
    ValueError, or a step does that gets only the caller's inputs, and InputPathUnusable if it
    cannot open the path in an input. Raises ToolFailed for any other failure, for a result that is
    not JSON, and after `timeout_s` seconds. The tool is then ended with all its children, as it is
    by Terminated (SIGTERM) and HungUp (SIGHUP), and by Aborted once it is cancelled.
    """
    check_hash(tool, source, tool.sha256)
    for step, code in steps.values():
        check_hash(step, code, step.sha256)
    job = {
        "tool": _tool_job(tool, source, steps),
        "steps": {name: _tool_job(step, code, steps) for name, (step, code) in steps.items()},
        "inputs": dict(inputs),
        "max_nesting": MAX_NESTING,
        "max_result_bytes": max_result_bytes,
        "confinement": planned.orders,
    }

    def encode(environment: Mapping[str, str] | None) -> bytes:
        given = None if environment is None else dict(environment)
        return json.dumps({**job, "environment": given}).encode("ascii")

    bounds = Bounds(report=max_result_bytes, tail=_TAIL_BYTES, grace_s=_GRACE_S)
    place = WorkerPlace(python, cwd, environment_without_settings(env))
    started = time.monotonic()
    try:
        pump, status, how = _run_in_worker(
            encode, bounds, timeout_s, place, on_output, launcher, cancellation
        )
    except Aborted:
        assert cancellation is not None
        raise Aborted(
            f"{cancellation.why} ended {tool.id}, with every process it started",
            hint="look at what it did so far before running it again",
            tool=tool.id,
        ) from None
    except KeyboardInterrupt as stopped:
        is_write = tool.kind == "write"
        told = "it may have changed something, so look first" if is_write else "it only reads"
        stopped.add_note(f"{tool.id} was ended; {told}")
        raise
    elapsed_ms = int((time.monotonic() - started) * 1000)
    tails = [strip_controls(tail.decode("utf-8", "replace")) for tail in pump.tails]
    try:
        result = parse_report(tool, pump, status, timeout_s, inputs)
    except PulsusError as error:
        error.details |= {
            "stdout_tail": tails[0],
            "stderr_tail": tails[1],
            "duration_ms": elapsed_ms,
        }
        error.details |= {"confinement": planned.record} if planned.record else {}
        raise
    return RunResult(
        result,
        tails[0],
        tails[1],
        elapsed_ms,
        planned.record,
        script_exit_status.read_status(tool.success_statuses, result),
        script_exit_status.script_failure(tool, result)
        or unread_source.source_failure(tool, result, inputs),
        how,
    )


def environment_without_settings(env: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return `env`, by default this process's own, without Pulsus's settings.

    Settings may hold secrets.
    """
    given = os.environ if env is None else env
    return {key: value for key, value in given.items() if not key.upper().startswith("PULSUS_")}


def _tool_job(
    tool: ToolSpec, source: bytes, steps: Mapping[str, tuple[ToolSpec, bytes]]
) -> dict[str, Any]:
    plan = read_plan(source)
    calls = plan.steps if plan is not None else ()
    for step in calls:
        if step.tool not in steps:
            raise PlanInvalid(
                f"{tool.id} calls {step.tool}, whose bytes are missing",
                hint="compose the plan again from tools that exist",
                tool=tool.id,
                step=step.id,
            )
        step_tool, code = steps[step.tool]
        check_hash(step_tool, code, step.sha256 or "")
    return {
        "id": tool.id,
        "entry": tool.entry,
        "filename": str(tool.path),
        "sha256": tool.sha256,
        "source": base64.b64encode(source).decode("ascii"),
        "calls": [step.tool for step in calls],
        "success": list(tool.success_statuses),
        "kind": tool.kind,
        "direct": sorted({step.tool for step in calls} - {s.tool for s in calls if _is_fed(s)}),
    }


def _is_fed(step: PlanStep) -> bool:
    return any(isinstance(value, OutputRef) for value in step.inputs.values())


def _run_in_worker(
    encode: Callable[[Mapping[str, str] | None], bytes],
    bounds: Bounds,
    timeout_s: float,
    place: WorkerPlace,
    on_output: OnOutput | None,
    launcher: WorkerLauncher,
    cancellation: Cancellation | None,
) -> tuple[Pump, int, WorkerStart]:
    """Run one job. `encode` returns it for a worker that needs this environment, or none."""
    with ExitStack() as stack:
        ours, theirs = os.pipe()
        report = stack.enter_context(FileIO(ours, "r"))
        end = stack.enter_context(FileIO(theirs, "w"))
        tied, lifeline_end = os.pipe()
        lifeline = stack.enter_context(FileIO(tied, "r"))
        stack.enter_context(FileIO(lifeline_end, "w"))
        stack.enter_context(end_tool_process.raise_on_signals())
        process = launcher.start((theirs, tied), place)
        end.close()
        pump: Pump | None = None
        try:
            stdin, *streams = [stack.enter_context(stream) for stream in process.streams]
            end_tool_process.kill_with_parent(tied, process.pid)
            lifeline.close()
            outputs = (streams[0], streams[1])
            pump = Pump(stdin, outputs, report, bounds, on_output, cancellation)
            try:
                pump.run(encode(process.environment), timeout_s)
                if pump.cancelled:
                    raise Aborted("it was cancelled")
                if not pump.ended and pump.answer is None:  # its time is up, or it sends too much
                    end_tool_process.ask_to_end(process.pid, streams)
            except (Terminated, HungUp, KeyboardInterrupt, Aborted):
                end_tool_process.ask_to_end(process.pid, streams)
                raise
        finally:
            folder = _end_worker(process, pump) if pump is not None else None
            # Before its status is read: until then no other process can get its number.
            end_tool_process.kill_group(process.pid)
            status = process.wait()
            if folder:
                private_folders.remove(folder)
    return pump, status, process.started


def _end_worker(worker: StartedWorker, pump: Pump) -> str | None:
    """Let the worker of a confined run end what it started and clear up, for a bounded time.

    Only the worker knows processes that left its group. Return the temporary folder of the run,
    which is still there if the worker was killed before it could remove it.
    """
    first = json.loads(pump.first) if pump.first else {}
    if not first.get("confined"):
        return None
    if not pump.ended:
        with suppress(ProcessLookupError):
            os.kill(worker.pid, signal.SIGUSR2)
    until = time.monotonic() + _GRACE_S
    while not worker.has_ended() and time.monotonic() < until:
        time.sleep(0.002)
    return str(first["folder"])
