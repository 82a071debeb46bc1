"""Run the commands of read and control calls. Effects: starts processes.

The timeout (at most 60 seconds for a read) and the output limit (256 KiB) of a command of the agent
are set here, and a failed command gets its code.

A read runs only if the command gate allows it, and exactly as it was prepared. A write runs the
text that was approved. Commands that Pulsus itself needs are planned in `infra/local_command.py`.
The process itself is started in `execution/run_gated_command.py`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from pulsus.agent.tool_protocol import CallContext
from pulsus.agent.tools.local.local_system import LocalSystem
from pulsus.commands.execution_plan import SHELL, prepared
from pulsus.core.types import JsonValue
from pulsus.errors import UsageError
from pulsus.execution import run_gated_command
from pulsus.execution.run_gated_command import CommandResult
from pulsus.gates.gate_answer import GateAnswer
from pulsus.gates.tool_response import ToolErrorCode, ToolResponse
from pulsus.infra.local_machine import LOCAL

_MOST_BYTES: Final = 256 * 1024
_SECONDS: Final = 60.0
_QUIET: Final = {
    "TERM": "dumb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "SYSTEMD_PAGER": "",
    "GIT_TERMINAL_PROMPT": "0",
    "DEBIAN_FRONTEND": "noninteractive",
}
"""Keeps programs from waiting for a person. Nothing else of a write's behaviour is changed."""


def run_read(system: LocalSystem, command: str, context: CallContext) -> ToolResponse:
    """Return the result of a command that only reads, or the refusal of the gate."""
    found = system.judge.answer(command, system.host.name, system.known_hosts)
    approved = context.consent in {"asked", "typed", "yes"}
    asks = found.verdict.allow and found.ruling.decision == "require_approval"
    if not found.allow and not (asks and approved):
        hint = "use pulsus_control type=command if it has to change something"
        rewrite: dict[str, JsonValue] = (
            {"suggested_rewrite": found.rewrite, "auto_recoverable": True} if found.rewrite else {}
        )
        return system.report.blocked(
            _refusal_code(found), found.reason, command=command, recovery_hint=hint, **rewrite
        )
    plan = prepared(
        found.verdict,
        system.environ,
        tables=system.judge.context.tables,
        seconds=min(context.timeout_s, _SECONDS),
        most_bytes=_MOST_BYTES,
    )
    try:
        result = run_gated_command.run(plan, None, context.cancellation)
    except UsageError as error:
        return system.report.failed("EXECUTION_FAILED", error.message, command=command)
    return command_response(system, command, result)


def _refusal_code(found: GateAnswer) -> ToolErrorCode:
    """Return the code for a command that this tool does not run.

    Only a proven read can be approved here: any other command belongs to the tool that writes.
    """
    if found.verdict.sensitive:
        return "SENSITIVE_PATH"
    if found.ruling.decision == "block":
        return "POLICY_BLOCKED"
    return "APPROVAL_REQUIRED" if found.verdict.allow else "ACTION_NOT_ALLOWED"


def run_approved(system: LocalSystem, command: str, context: CallContext) -> ToolResponse:
    """Return the result of a command that was approved as it stands.

    A ruling of the policy that blocks it holds here too: no approval changes that.
    """
    found = system.judge.answer(command, system.host.name, system.known_hosts)
    if found.ruling.decision == "block":
        return system.report.blocked(
            "POLICY_BLOCKED", f"{command}: the policy blocks it, by {found.ruling.rule}"
        )
    plan = system.machine.commands.plan(
        (*SHELL, command), seconds=context.timeout_s, most_bytes=_MOST_BYTES, shell=True
    )
    kept = {name: plan.env[name] for name in plan.env if name in system.environ}
    env = {**kept, "PATH": plan.env["PATH"], **_QUIET}
    plan = replace(plan, env=env, private={}, ends_children=False)
    try:
        result = run_gated_command.run(plan, None, context.cancellation)
    except UsageError as error:
        return system.report.blocked(
            "EXECUTION_CONTEXT_UNAVAILABLE", error.message, command=command
        )
    return command_response(system, command, result)


def command_response(
    system: LocalSystem, command: str, result: CommandResult, context: str = LOCAL
) -> ToolResponse:
    """Return the envelope of a command that ended.

    A status above 0 without a word on stderr is an answer (`grep` found nothing, a service is
    down), any other one a failure.
    """
    output = result.output.decode("utf-8", "replace")
    errors = result.errors.decode("utf-8", "replace")
    data: dict[str, JsonValue] = {
        "success": result.status == 0,
        "exit_code": result.status,
        "output": output,
        "command": command,
    }
    if errors:
        data["stderr"] = errors
    status = result.status
    if status == 0 or (status is not None and 0 < status < 126 and not errors):
        meta: dict[str, JsonValue] = {"dropped": "output above 256 KiB"} if result.cut else {}
        return system.report.success(data, meta, context)
    if status is None:
        why = "it was cancelled" if result.cancelled else "it did not end in time"
    else:
        why = f"status {status}" if status > 0 else f"signal {-status}"
    message = f"{command}: {why}"
    return system.report.failed("EXECUTION_FAILED", message, data=data, retryable=status is None)
