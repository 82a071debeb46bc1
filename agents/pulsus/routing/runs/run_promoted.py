"""Run a promoted tool in a child process (spec §12, `--run`). Effect: starts a process.

Here the run is logged and its time limit (`run.max_seconds`) passed on. Consent to a write is asked
in `approvals/run_consent.py`, confinement chosen in `execution/confinement/choose_confinement.py`.
Secrets in its output are masked by `execution/tool_secrets.py`. Limits of memory, processes and
files are `run.max_mem_mb`, `run.max_processes` and `run.max_files`.

`routing/runs/run_checks.py` decides if its bytes may run.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Mapping, Sequence

from pulsus.approvals.approver_protocol import WriteRun
from pulsus.approvals.run_consent import (
    RunApproval,
    RunConsent,
    is_dry_run_call,
)
from pulsus.core.memory import last_runs
from pulsus.core.types import JsonValue, ToolSpec
from pulsus.core.validators.effects.observed_against_declared import DRY_RUN
from pulsus.errors import PulsusError
from pulsus.execution import tool_secrets
from pulsus.execution.cancellation import Cancellation
from pulsus.execution.confinement.choose_confinement import Mode, RunLimits, choose_confinement
from pulsus.execution.tool_process import RunResult, run_tool
from pulsus.execution.workers.child_pipes import OnOutput
from pulsus.execution.workers.worker_launch import FreshInterpreter, WorkerLauncher
from pulsus.fast_dataclass import dataclass
from pulsus.routing.delivery.candidate_module import pinned_steps
from pulsus.routing.delivery.project_protocol import Project
from pulsus.routing.delivery.route_metrics import count_run
from pulsus.routing.runs.run_checks import (
    check_access,
    require_approved_records,
    require_promoted,
)

_LOG = logging.getLogger("pulsus")


@dataclass(frozen=True, slots=True)
class ToolRun:
    """One run of a tool: its module's bytes, its inputs, and how it may run.

    `consent` is asked if the tool may write. `on_output` gets the tool's own output while it runs.
    With `confinement` "required" a tool that only reads does not run unconfined, with "off" it
    does. A module that was `rendered` from a plan in this run needs no record of its own: it only
    calls its steps, and those are promoted.
    """

    tool: ToolSpec
    source: bytes
    inputs: Mapping[str, JsonValue]
    consent: RunApproval
    on_output: OnOutput | None = None
    confinement: Mode = "wanted"
    rendered: bool = False


@dataclass(frozen=True, slots=True)
class PreparedTool:
    """A tool whose bytes, records and secrets were checked; it may be called many times.

    `steps` are the tools that a composition calls, with their bytes. `used` is the tool and its
    steps, with the kind on record. `secrets` are the values for the environment of the child.
    """

    tool: ToolSpec
    source: bytes
    steps: Mapping[str, tuple[ToolSpec, bytes]]
    used: tuple[ToolSpec, ...]
    confinement: Mode
    secrets: Mapping[str, str]

    @property
    def may_write(self) -> bool:
        """Return True if the tool, or a step of it, may change something."""
        return any(each.kind == "write" for each in self.used)

    @property
    def writers(self) -> tuple[ToolSpec, ...]:
        """Return the steps that may write, or the tool itself."""
        return tuple(each for each in self.used[1:] if each.kind == "write") or self.used[:1]

    def is_dry_run(self, inputs: Mapping[str, JsonValue]) -> bool:
        """Return True if this call passes `dry_run` true to every tool that may write."""
        writes = self.may_write and self.tool.kind == "write"
        return writes and is_dry_run_call(self.used, self.source, inputs)

    def wanted_consent(self, inputs: Mapping[str, JsonValue]) -> WriteRun:
        """Return the call as a person is asked about it."""
        veil = tool_secrets.SecretMask(self.secrets.values())
        shown = {name: veil.value(value) for name, value in inputs.items()}
        return WriteRun(self.tool, self.writers, shown)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a prepared tool.

    `consent` says how a call that may write was confirmed. `timeout_s` None is the setting's limit.
    `launcher` starts the process, by default as a new interpreter; `cancellation` ends it early.
    """

    inputs: Mapping[str, JsonValue]
    consent: RunConsent | None = None
    on_output: OnOutput | None = None
    timeout_s: float | None = None
    launcher: WorkerLauncher | None = None
    cancellation: Cancellation | None = None


def run_promoted(project: Project, run: ToolRun) -> RunResult:
    """Run exactly these bytes and return the result; they and those of the steps must be promoted.

    A tool that may write runs only with consent, unless the call passes `dry_run` true. The
    secrets that the tools name are in the child's environment, and masked in everything returned. A
    tool that only reads is confined (ADR 28).

    Raises Denied for a tool or step that the filters exclude, NotPromoted for bytes without a
    record, InputMissing for a secret without a value, ConfinementUnavailable, ToolFailed,
    UsageError. For a tool that may write also ApprovalNeeded, and as `CataloguePromoter.decided`:
    then it did not run.
    """
    prepared = prepare_tool(project, run.tool, run.source, run.confinement, rendered=run.rendered)
    return run_prepared(project, run, prepared)


def run_prepared(project: Project, run: ToolRun, prepared: PreparedTool) -> RunResult:
    """Run a tool that `prepare_tool` checked, once its consent is obtained.

    Raises ApprovalNeeded, and what `call_tool` raises.
    """
    how = None
    if prepared.may_write:
        dry = prepared.is_dry_run(run.inputs)
        how = run.consent.obtain(prepared.wanted_consent(run.inputs), dry=dry)
    remember_run(project, prepared.used)
    return call_tool(project, prepared, ToolCall(run.inputs, how, run.on_output))


def prepare_tool(
    project: Project,
    tool: ToolSpec,
    source: bytes,
    confinement: Mode = "wanted",
    *,
    rendered: bool = False,
) -> PreparedTool:
    """Check that these bytes may run. Raises what `run_promoted` raises before a run."""
    steps = pinned_steps(project, source)
    check_access(project, tool, [step for step, _ in steps.values()])
    called = [require_promoted(project, step, code) for step, code in steps.values()]
    first = tool if rendered else require_promoted(project, tool, source)
    used = (first, *called)
    check_access(project, first, [])  # its kind may be another on record
    confinement = require_approved_records(project, called if rendered else used, confinement)
    given = tool_secrets.read_secrets(used, os.environ)
    return PreparedTool(tool, source, steps, used, confinement, given)


def call_tool(project: Project, prepared: PreparedTool, call: ToolCall) -> RunResult:
    """Run a prepared tool once. A call that may write is logged first, or it does not run.

    Raises ConfinementUnavailable, ToolFailed, UsageError, Aborted.
    """
    tool, inputs, used = prepared.tool, call.inputs, prepared.used
    veil = tool_secrets.SecretMask(prepared.secrets.values())
    writes, tries = prepared.may_write, prepared.is_dry_run(inputs)
    config = project.settings.run
    limits = RunLimits(config.max_mem_mb, config.max_processes, config.max_files)
    reads = not writes or tries
    planned = choose_confinement(used, inputs, limits, prepared.confinement, reads=reads)
    if writes:
        assert call.consent is not None
        shown = prepared.wanted_consent(inputs).inputs
        _log_run(project, tool, shown, call.consent, veil.value(planned.record))
    began = time.monotonic()
    output = veil.output(call.on_output) if call.on_output else None
    try:
        done = run_tool(
            tool,
            prepared.source,
            inputs,
            steps=prepared.steps,
            timeout_s=config.max_seconds if call.timeout_s is None else call.timeout_s,
            python=project.interpreter.python if project.interpreter else None,
            env=tool_secrets.environment_with_secrets(os.environ, prepared.secrets),
            on_output=output,
            planned=planned,
            launcher=call.launcher or FreshInterpreter(),
            cancellation=call.cancellation,
        )
    except PulsusError as error:
        _count_run(project, tool, began, error.code)
        raise veil.error(error) from None
    finally:
        if output:
            output.close()
    failure = veil.error(done.failure) if done.failure else None
    _count_run(project, tool, began, failure.code if failure else "done")
    # By default a dry run needs consent, because the caller may not know. It still changes nothing.
    tried = prepared.is_dry_run(_with_default_dry_run(tool, inputs))
    return RunResult(
        veil.value(done.result),
        veil.text(done.stdout_tail),
        veil.text(done.stderr_tail),
        done.duration_ms,
        {key: veil.value(value) for key, value in done.confinement.items()},
        done.script_exit_status,
        failure,
        done.started,
        wrote=writes and not tried,
    )


def _with_default_dry_run(tool: ToolSpec, inputs: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the inputs with `dry_run` true if they leave it out and that is its default."""
    by_default = any(arg.name == DRY_RUN and arg.default == "True" for arg in tool.args)
    return {**({DRY_RUN: True} if by_default else {}), **inputs}


def remember_run(project: Project, used: Sequence[ToolSpec]) -> None:
    """Record when these tools ran. A run does not fail because that cannot be recorded."""
    try:
        last_runs.record_runs(project.state_dir, [tool.id for tool in used])
    except PulsusError as failure:
        _LOG.info("`pulsus tools check --stale` will not know of this run: %s", failure.message)


def _count_run(project: Project, tool: ToolSpec, began: float, ended: str) -> None:
    """Time one run. A tool that ran did so, even if that cannot be written down."""
    try:
        took = (time.monotonic() - began) * 1000
        count_run(project.metrics(), took, tool, ended)
    except PulsusError as failure:
        _LOG.warning("the metrics lack this run: %s", failure.message)


def _log_run(
    project: Project,
    tool: ToolSpec,
    inputs: Mapping[str, JsonValue],
    consent: RunConsent,
    confinement: JsonValue,
) -> None:
    """Record who runs a tool that may write, before it does: unlogged, it does not run."""
    data: dict[str, JsonValue] = {
        "tool": tool.id,
        "sha256": tool.sha256,
        "inputs": dict(inputs),
        "consent": consent,
        "confinement": confinement,
    }
    project.promoter().decided("run", data)
