"""A tool of the catalogue, called by the agent (issue of the agent, part 12).

A write without `Target:` or `Verify:`, a tool that changed since the session began, and a tool of
another host are refused here. Error codes of its envelopes, and its name for the model if another
tool has taken that name, are chosen here.

It runs in the confined worker like `pulsus run`. A write acts on resources: its `Target:` has to
name discovered ones. The consent comes from the caller; nothing here asks a person.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from pulsus.agent.tool_protocol import CallContext, CallNeeds, CallOutcome
from pulsus.agent.tools.catalogue.contract_schema import contract_schema, default_values
from pulsus.agent.tools.local.local_system import LocalSystem
from pulsus.core.contract.declared_call import render_value, uses_write
from pulsus.core.types import JsonValue, ToolSpec, Verification
from pulsus.errors import (
    ApprovalNeeded,
    ConfinementUnavailable,
    Denied,
    InputMissing,
    PulsusError,
    RecordUnknown,
    SourceUnreadable,
    UsageError,
)
from pulsus.execution.tool_process import RunResult
from pulsus.execution.unread_source import saved_copy_ways
from pulsus.fast_dataclass import dataclass
from pulsus.gates.tool_descriptors import ToolDescriptor
from pulsus.gates.tool_response import ToolErrorCode
from pulsus.infra.inventory import CONTAINER, SERVICE
from pulsus.routing.delivery.candidate_module import read_module
from pulsus.routing.delivery.deliver import digest
from pulsus.routing.delivery.project_protocol import Project
from pulsus.routing.plans.verify_write import verify_write
from pulsus.routing.runs.run_promoted import (
    PreparedTool,
    ToolCall,
    call_tool,
    prepare_tool,
    remember_run,
)

_DESCRIPTION_CHARS: Final = 300
_RESOURCE_INPUTS: Final[Mapping[str, tuple[str, ...]]] = {
    "services": ("name", "unit", "service"),
    "containers": ("name", "container"),
    "process": ("pid", "name"),
}
"""Inputs of a domain whose values name a resource of the inventory. What other targets name (a
file, a user, a mount point) is a part of the host, so the host is the resource that changes."""


@dataclass(frozen=True, slots=True)
class CatalogueTool:
    """One promoted tool. `name` is how the agent calls it."""

    project: Project
    system: LocalSystem
    tool: ToolSpec
    name: str

    @property
    def descriptor(self) -> ToolDescriptor:
        """Return the descriptor made from the tool's contract."""
        return ToolDescriptor(
            name=self.name,
            description=self.tool.summary[:_DESCRIPTION_CHARS],
            parameters=contract_schema(self.tool),
            kind=self.tool.kind,
        )

    @property
    def not_allowed(self) -> str:
        """Return why the agent may not call the tool, or an empty text."""
        lacks = [] if self.tool.target else ["Target:"]
        if self.tool.verify is None:
            lacks.append("Verify:")
        elif not uses_write(self.tool.verify):
            lacks.append("Verify: that uses an input or output")
        if self.tool.kind != "write" or not lacks:
            return ""
        return (
            f"{self.tool.id} may change things and its contract has no {' and no '.join(lacks)}, "
            f"so its change could not be checked"
        )

    def needs(self, args: Mapping[str, JsonValue]) -> CallNeeds:
        """Return the resources and paths that a write acts on, and the values that it sets."""
        given = default_values(self.tool) | dict(args)
        named = {
            each: given[each] for each in self.tool.target if given.get(each) not in (None, "")
        }
        values = [each for each in named.values() if isinstance(each, str)]
        paths = tuple(each for each in values if each.startswith("/"))
        writes = self.tool.kind == "write"
        check = self._verifying_tool(args, values) if writes else (self.tool.id,)
        return CallNeeds(
            action="run",
            targets=self._resources(named) if writes else (),
            subjects=(*values, *check),
            paths=paths,
            checks_routing=writes,
            written=dict(args) if writes else {},
            not_allowed=self.not_allowed,
        )

    def _verifying_tool(self, args: Mapping[str, JsonValue], values: list[str]) -> tuple[str, ...]:
        """Return the id of the read under `Verify:` if its inputs name none of the targets."""
        if self.tool.verify is None:
            return ()
        found = self.verification_call(args, {})
        named = found is not None and not set(values).isdisjoint(map(str, found[1].values()))
        return () if named else (self.tool.verify.tool,)

    def _resources(self, named: Mapping[str, JsonValue]) -> tuple[str, ...]:
        domain = self.tool.domain or ""
        inputs = _RESOURCE_INPUTS.get(domain, ())
        host = self.system.host
        found = []
        for name, value in named.items():
            if name in inputs and domain == "services":
                found.append(f"{SERVICE}:{host.host}:{str(value).removesuffix('.service')}")
            elif name in inputs:
                found.append(str(value))
        return tuple(found) or (host.id,)

    def run(self, args: Mapping[str, JsonValue], context: CallContext) -> CallOutcome:
        """Run the tool once in the confined worker."""
        if self.not_allowed:
            return self.system.refused("ACTION_NOT_ALLOWED", self.not_allowed)
        foreign = [each for each in context.resources if self._is_elsewhere(each.host, each.kind)]
        if foreign:
            return self.system.refused(
                "EXECUTION_CONTEXT_UNAVAILABLE",
                f"{self.tool.id} runs on {self.system.host.name}, and {foreign[0].id} is elsewhere",
            )
        ran = False
        try:
            prepared = self._prepare()
            refusal = self._refuse(prepared, args, context)
            if refusal is not None:
                return refusal
            remember_run(self.project, prepared.used)
            dry = prepared.is_dry_run(args)
            consent = "dry_run" if dry else context.consent
            call = ToolCall(
                args,
                consent if prepared.may_write else None,
                timeout_s=min(context.timeout_s, self.project.settings.run.max_seconds),
                cancellation=context.cancellation,
            )
            ran = True
            done = call_tool(self.project, prepared, call)
        except PulsusError as error:
            # A tool that rejects its inputs may have changed something before.
            ran = ran and not isinstance(error, ConfinementUnavailable)
            wrote = self._touched(context) if ran and self.tool.kind == "write" else ()
            answer = self.system.report.failed(
                error_code(error), error.message, recovery_hint=error.hint, tool_id=self.tool.id
            )
            return CallOutcome(answer, wrote=wrote, unchanged=not ran)
        return self._outcome(done, args, context)

    def verification_call(
        self, args: Mapping[str, JsonValue], result: JsonValue
    ) -> tuple[str, dict[str, JsonValue]] | None:
        """Return the id and the inputs of the read that `Verify:` names for a run, or None.

        None also if the result lacks a value that it refers to.
        """
        call = self.tool.verify
        if call is None:
            return None
        outputs = result if isinstance(result, dict) else {"result": result}
        inputs = default_values(self.tool) | dict(args)
        try:
            found = render_value(dict(call.inputs), inputs, outputs)
        except KeyError:
            return None
        return (call.tool, found) if isinstance(found, dict) else None

    def verify(self, args: Mapping[str, JsonValue], result: JsonValue) -> Verification:
        """Run the read that `Verify:` names, and return its verdict. Effect: starts a process."""
        return verify_write(self.project, self.tool, args, result)

    def _prepare(self) -> PreparedTool:
        """Check the tool as it is now. Raises what `prepare_tool` raises, Denied if it changed."""
        source = read_module(self.tool.path)
        if digest(source) != self.tool.sha256:
            raise Denied(
                f"{self.tool.id} has changed since this session began",
                hint="start the agent again, and look at the tool",
            )
        return prepare_tool(self.project, self.tool, source)

    def _refuse(
        self, prepared: PreparedTool, args: Mapping[str, JsonValue], context: CallContext
    ) -> CallOutcome | None:
        """Return a refusal if the call may write and was not confirmed for that."""
        if not prepared.may_write or prepared.is_dry_run(args):
            return None
        if self.tool.kind != "write":
            return self.system.refused(
                "POLICY_BLOCKED",
                f"{self.tool.id} declares that it only reads, but its record says that it writes",
            )
        strict = [each.id for each in prepared.used if each.approval == "approver"]
        if strict and context.consent != "typed":
            return self.system.refused(
                "APPROVAL_REQUIRED", f"{strict[0]} needs an approver who types its target"
            )
        answer = self.system.refuse_unapproved(context, self.tool.id)
        return None if answer is None else CallOutcome(answer)

    def _outcome(
        self, done: RunResult, args: Mapping[str, JsonValue], context: CallContext
    ) -> CallOutcome:
        touched = self._touched(context)
        wrote = touched if done.wrote else ()
        meta: dict[str, JsonValue] = {
            "tool_id": self.tool.id,
            "duration_ms": done.duration_ms,
            "confinement": dict(done.confinement),
        }
        if done.failure:
            unread = isinstance(done.failure, SourceUnreadable)
            ways = saved_copy_ways(self.tool, args) if unread else []
            hint: dict[str, Any] = {"recovery_hint": f"Give {'; '.join(ways)}"} if ways else {}
            answer = self.system.report.failed(
                "EXECUTION_FAILED",
                done.failure.message,
                data=done.result,
                tool_id=self.tool.id,
                **hint,
            )
            return CallOutcome(answer, wrote=wrote)
        if not done.wrote:
            return CallOutcome(self.system.report.success(done.result, meta), read=touched)
        check = self.verification_call(args, done.result)
        if check is not None:
            meta["verify_with"] = {"tool_id": check[0], "inputs": check[1]}
        return CallOutcome(self.system.report.success(done.result, meta), wrote=wrote)

    def _touched(self, context: CallContext) -> tuple[str, ...]:
        return tuple(each.id for each in context.resources) or (self.system.host.id,)

    def _is_elsewhere(self, host: str, kind: str) -> bool:
        inside = kind == CONTAINER and self.tool.domain != "containers"
        return host != self.system.host.host or inside


def error_code(error: PulsusError) -> ToolErrorCode:
    """Return the code of the envelope for an error of a run."""
    match error:
        case InputMissing() | ConfinementUnavailable():
            return "EXECUTION_CONTEXT_UNAVAILABLE"
        case Denied() | RecordUnknown():
            return "POLICY_BLOCKED"
        case ApprovalNeeded():
            return "APPROVAL_REQUIRED"
        case UsageError():
            return "INVALID_INPUT"
        case _:
            return "EXECUTION_FAILED"


def agent_names(tools: list[ToolSpec], taken: frozenset[str]) -> dict[str, str]:
    """Return the agent's name of each tool by its id: its own name if that is unique.

    Names hold only letters, digits, `_` and `-`, as the protocols of models ask.
    """
    names = [tool.name for tool in tools]
    found = {}
    for tool in tools:
        unique = names.count(tool.name) == 1 and tool.name not in taken
        found[tool.id] = tool.name if unique else re.sub(r"[^\w-]", "_", tool.id)
    return found
