"""The parts that the built-in tools of this machine share: inventory, limits and judges.

A call on another machine, or inside a container, is refused here (EXECUTION_CONTEXT_UNAVAILABLE),
and so is a write without approval.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pulsus.agent.tool_protocol import CallContext, CallOutcome
from pulsus.agent.tools.local.readable_files import FileRefused
from pulsus.agent.tools.local.tool_report import ToolReport
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass
from pulsus.gates.resources.resolved_resource import ResolvedResource
from pulsus.gates.tool_response import ToolErrorCode, ToolResponse
from pulsus.infra.inventory import CONTAINER, HOST, SERVICE
from pulsus.infra.local_machine import LocalMachine

if TYPE_CHECKING:
    from pulsus.commands.judge_context import JudgeContext
    from pulsus.gates.gate_answer import GateAnswer


class CommandJudge(Protocol):
    """Judges shell commands with the tables and the policy of one project."""

    @property
    def context(self) -> JudgeContext:
        """Return the tables to judge with."""
        ...

    def answer(
        self, command: str, target: str | None = None, known: Sequence[str] = ()
    ) -> GateAnswer:
        """Decide whether `command` may run as a read on `target`, and why."""
        ...


@dataclass(frozen=True)
class LocalSystem:
    """This machine, as the tools of one session use it.

    `judge` decides on commands, and `known_hosts` are hosts that the request names. Files below
    `protected` belong to Pulsus itself: no tool opens them. `state_dir` keeps previous versions of
    edited files. `dismissed` are the alerts that were dismissed in this session, with the reason.
    """

    machine: LocalMachine
    report: ToolReport
    judge: CommandJudge
    environ: Mapping[str, str]
    state_dir: Path
    protected: tuple[Path, ...] = ()
    known_hosts: tuple[str, ...] = ()
    dismissed: dict[str, str] = field(default_factory=dict)

    @property
    def host(self) -> ResolvedResource:
        """Return this machine."""
        return self.machine.host

    def target_of(self, context: CallContext) -> ResolvedResource:
        """Return the resolved target of a call; this machine if the call names none."""
        return context.resources[0] if context.resources else self.host

    def refuse_elsewhere(self, target: ResolvedResource) -> ToolResponse | None:
        """Return a refusal if files and commands of `target` are not those of this machine."""
        if target.host == self.host.host and target.kind != CONTAINER:
            return None
        where = "inside containers" if target.kind == CONTAINER else f"on {target.host!r}"
        return self.report.blocked(
            "EXECUTION_CONTEXT_UNAVAILABLE",
            f"{target.id}: no executor of this Pulsus runs files and commands {where}",
            target_resource_id=target.id,
            recovery_hint=f"use target_resource_id {self.host.id!r} if this machine is meant",
        )

    def refuse_unapproved(self, context: CallContext, what: str) -> ToolResponse | None:
        """Return a refusal for a write without a confirmation."""
        if context.consent in {"asked", "typed", "yes"}:
            return None
        return self.report.blocked("APPROVAL_REQUIRED", f"{what} may change things: approve it")

    def file_refused(self, refused: FileRefused) -> ToolResponse:
        """Return the answer for a file that was not opened. A secret is refused by a gate."""
        if refused.code == "SENSITIVE_PATH":
            return self.report.blocked(refused.code, refused.message)
        return self.report.failed(refused.code, refused.message)

    def refused(self, code: ToolErrorCode, message: str, **details: JsonValue) -> CallOutcome:
        """Return the outcome of a call that was refused."""
        return CallOutcome(self.report.blocked(code, message, **details))


def targets_of(args: Mapping[str, JsonValue]) -> tuple[str, ...]:
    """Return the target that a call names: its id if it has both."""
    named = args.get("target_resource_id") or args.get("target_host")
    return (str(named),) if named else ()


def text_of(args: Mapping[str, JsonValue], name: str, default: str = "") -> str:
    """Return a text argument, or `default`."""
    value = args.get(name)
    return value if isinstance(value, str) else default


def number_of(args: Mapping[str, JsonValue], name: str, default: int) -> int:
    """Return a whole number, or `default`."""
    value = args.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def is_host(resource: ResolvedResource) -> bool:
    """Return True for a machine."""
    return resource.kind == HOST


def is_service(resource: ResolvedResource) -> bool:
    """Return True for a service."""
    return resource.kind == SERVICE
