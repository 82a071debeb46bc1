"""`pulsus_control` and `pulsus_run_command`: services, guests, and commands that may write (§2.4).

A service is restarted through `infra/supervisors.py`, a command through
`agent/tools/local/command_runs.py`.

A service is controlled through the supervisor that has it. A command runs as it was approved.

This is the tool that a model calls. If a call is allowed is decided in
`agent/control/call_verdict.py`.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Final

from pulsus.agent.tool_protocol import CallContext, CallNeeds, CallOutcome
from pulsus.agent.tools.local import command_runs
from pulsus.agent.tools.local.local_system import LocalSystem, is_host, targets_of, text_of
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass
from pulsus.gates.built_in_tools import built_in_tools
from pulsus.gates.resources.resolved_resource import ResolvedResource
from pulsus.gates.tool_descriptors import ToolDescriptor
from pulsus.gates.tool_response import ToolResponse
from pulsus.infra.containers import CONTAINER_ACTIONS, EngineSilent
from pulsus.infra.inventory import CONTAINER, SERVICE

_GUESTS: Final = ("vm", "lxc")


@dataclass(frozen=True, slots=True)
class ControlTool:
    """Changes the state of a resource of this machine. `name` is one of the tool's two names."""

    system: LocalSystem
    name: str = "pulsus_control"

    @property
    def descriptor(self) -> ToolDescriptor:
        """Return the tool's descriptor."""
        return built_in_tools()[self.name]

    def needs(self, args: Mapping[str, JsonValue]) -> CallNeeds:
        """Return the command, or the action on a service or a guest."""
        kind, named = self._type(args), targets_of(args)
        if kind == "command":
            command = text_of(args, "command")
            return CallNeeds("command", named, command=command, checks_routing=True)
        action, unavailable = text_of(args, "action"), ""
        if kind == "service" and text_of(args, "service"):
            named = (self._service_target(text_of(args, "service"), named),)
        if kind == "guest" and any(each.startswith(_GUESTS) for each in named):
            unavailable = "no backend of this Pulsus controls virtual machines or LXC guests"
        return CallNeeds(action, named, written={"action": action}, unavailable=unavailable)

    def _type(self, args: Mapping[str, JsonValue]) -> str:
        return "command" if self.name == "pulsus_run_command" else text_of(args, "type")

    def _service_target(self, service: str, named: tuple[str, ...]) -> str:
        """Return the id of a service that is named beside its host."""
        host = self.system.host
        if named and named[0] in host.names:
            return f"{SERVICE}:{host.host}:{service.removesuffix('.service')}"
        return service

    def run(self, args: Mapping[str, JsonValue], context: CallContext) -> CallOutcome:
        """Run the change. It needs consent."""
        target, kind = self.system.target_of(context), self._type(args)
        refusal = self.system.refuse_unapproved(context, f"pulsus_control type={kind}")
        if refusal is None and kind != "guest":
            refusal = self.system.refuse_elsewhere(target)
        if refusal is not None:
            return CallOutcome(refusal)
        action = text_of(args, "action")
        match kind:
            case "command" if is_host(target):
                command = text_of(args, "command")
                response = command_runs.run_approved(self.system, command, context)
            case "service" if target.kind == SERVICE:
                response = self._service(action, target, context)
            case "guest" if target.kind == CONTAINER:
                response = self._container(action, target, context)
            case _:
                response = self.system.report.blocked(
                    "INVALID_INPUT", f"type={kind} does not act on {target.id}, a {target.kind}"
                )
        blocked = response.error is not None and response.error.blocked
        return CallOutcome(response, wrote=() if blocked else (target.id,))

    def _service(self, action: str, target: ResolvedResource, context: CallContext) -> ToolResponse:
        machine = self.system.machine
        listing = machine.list_resources((SERVICE,))
        found = (each for each in listing.entries if each.resource.id == target.id)
        entry = next(found, None)
        supervisor = machine.supervisor_of(entry) if entry else None
        if entry is None or supervisor is None:
            silent = [f"{each.name}: {each.reason}" for each in listing.backends if each.reason]
            return self.system.report.blocked(
                "NOT_FOUND",
                f"no supervisor that answers has {target.id} ({'; '.join(silent) or 'it is gone'})",
            )
        if action not in target.allowed_actions:
            return self.system.report.blocked(
                "ACTION_NOT_ALLOWED", f"{supervisor.name} cannot {action} {target.name}"
            )
        argv = supervisor.control(action, target.uid)
        result = machine.commands.run(
            argv,
            seconds=context.timeout_s,
            cancellation=context.cancellation,
            ends_children=False,
        )
        if result is None:
            return self.system.report.blocked(
                "EXECUTION_CONTEXT_UNAVAILABLE", f"{argv[0]} cannot be started"
            )
        return command_runs.command_response(self.system, shlex.join(argv), result)

    def _container(
        self, action: str, target: ResolvedResource, context: CallContext
    ) -> ToolResponse:
        if action not in CONTAINER_ACTIONS:
            return self.system.report.blocked(
                "ACTION_NOT_ALLOWED",
                f"{action} is no action of containers: use {', '.join(CONTAINER_ACTIONS)}",
            )
        try:
            client = self.system.machine.engine.client()
        except EngineSilent as silent:
            return self.system.report.blocked("EXECUTION_CONTEXT_UNAVAILABLE", str(silent))
        argv = (client, action, target.uid)
        result = self.system.machine.commands.run(
            argv, seconds=context.timeout_s, cancellation=context.cancellation
        )
        if result is None:
            return self.system.report.blocked(
                "EXECUTION_CONTEXT_UNAVAILABLE", f"{client} cannot be started"
            )
        return command_runs.command_response(self.system, shlex.join(argv), result)
