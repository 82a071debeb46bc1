"""`pulsus_docker`: the containers of this machine, through Docker or Podman (§7).

Docker is asked through `infra/containers.py`. Without an engine, calls end with
EXECUTION_CONTEXT_UNAVAILABLE.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Final

from pulsus.agent.tool_protocol import CallContext, CallNeeds, CallOutcome
from pulsus.agent.tools.local.command_runs import command_response
from pulsus.agent.tools.local.local_system import LocalSystem, number_of, targets_of, text_of
from pulsus.agent.tools.local.service_details import container_facts
from pulsus.commands.execution_plan import find_program
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass
from pulsus.gates.built_in_tools import built_in_tools
from pulsus.gates.resources.resolved_resource import ResolvedResource
from pulsus.gates.tool_descriptors import ToolDescriptor
from pulsus.infra.containers import ENGINES, EngineSilent
from pulsus.infra.inventory import CONTAINER

_LIMIT: Final = 100
_NO_ENGINE: Final = "neither docker nor podman is installed on this machine"
_NO_REGISTRY: Final = (
    "this Pulsus asks no image registry, so it neither knows of updates nor replaces an image"
)
_UNAVAILABLE: Final = dict.fromkeys(("updates", "check_updates", "update"), _NO_REGISTRY)


@dataclass(frozen=True, slots=True)
class DockerTool:
    """Shows and controls the containers of this machine."""

    system: LocalSystem

    @property
    def descriptor(self) -> ToolDescriptor:
        """Return the tool's descriptor."""
        return built_in_tools()["pulsus_docker"]

    def needs(self, args: Mapping[str, JsonValue]) -> CallNeeds:
        """Return the action, and why there is no backend for it."""
        action = text_of(args, "action")
        unavailable = _UNAVAILABLE.get(action, "")
        if not any(find_program(each) for each in ENGINES):
            unavailable = _NO_ENGINE
        if action == "control":
            action = text_of(args, "operation")
        written = {"operation": args["operation"]} if "operation" in args else {}
        return CallNeeds(action, targets_of(args), written=written, unavailable=unavailable)

    def run(self, args: Mapping[str, JsonValue], context: CallContext) -> CallOutcome:
        """Ask the engine. `control` needs consent."""
        action, target = text_of(args, "action"), self.system.target_of(context)
        if action in _UNAVAILABLE:
            return self.system.refused("EXECUTION_CONTEXT_UNAVAILABLE", _UNAVAILABLE[action])
        if action in {"control", "inspect"} and target.kind != CONTAINER:
            return self.system.refused("INVALID_INPUT", f"{target.id} is no container")
        try:
            if action == "control":
                return self._control(text_of(args, "operation"), target, context)
            data = self._read(action, target, number_of(args, "limit", _LIMIT))
        except EngineSilent as silent:
            return self.system.refused("EXECUTION_CONTEXT_UNAVAILABLE", str(silent))
        return CallOutcome(self.system.report.success(data), read=(target.id,))

    def _control(
        self, operation: str, target: ResolvedResource, context: CallContext
    ) -> CallOutcome:
        refusal = self.system.refuse_unapproved(context, f"pulsus_docker control {operation}")
        if refusal is not None:
            return CallOutcome(refusal)
        argv = (self.system.machine.engine.client(), operation, target.uid)
        result = self.system.machine.commands.run(
            argv, seconds=context.timeout_s, cancellation=context.cancellation
        )
        if result is None:
            raise EngineSilent(f"{argv[0]} cannot be started")
        response = command_response(self.system, shlex.join(argv), result)
        return CallOutcome(response, wrote=(target.id,))

    def _read(self, action: str, target: ResolvedResource, limit: int) -> dict[str, JsonValue]:
        engine, host = self.system.machine.engine, self.system.host.name
        one = (target.uid,) if target.kind == CONTAINER else ()
        match action:
            case "inspect":
                record = engine.inspect(target.uid)
                state = record.get("State")
                shown = {"host": host, "id": target.id, "name": target.name, "state": _state(state)}
                return shown | container_facts(record)
            case "stats":
                text = engine.ask(
                    "stats", "--no-stream", "--format", "{{json .}}", *one, seconds=15.0
                )
                return _rows(host, "containers", text, limit)
            case "services":
                return _rows(
                    host, "services", engine.ask("service", "ls", "--format", "{{json .}}"), limit
                )
            case "tasks":
                listed = engine.ask("node", "ps", "--format", "{{json .}}")
                return _rows(host, "tasks", listed, limit)
            case _:
                found = engine.containers()
                rows: list[JsonValue] = [
                    {
                        "id": f"{CONTAINER}:{host}:{each.id}",
                        "name": each.name,
                        "image": each.image,
                        "state": each.status,
                        "status": each.state,
                        "ports": each.ports,
                    }
                    for each in found[:limit]
                ]
                return {"host": host, "containers": rows, "total": len(found)}


def _state(state: JsonValue) -> JsonValue:
    if not isinstance(state, dict):
        return {}
    names = ("Status", "ExitCode", "OOMKilled", "Error", "StartedAt", "FinishedAt")
    shown = ("status", "exit_code", "oom_killed", "error", "started_at", "finished_at")
    return {to: state[name] for name, to in zip(names, shown, strict=True) if name in state}


def _rows(host: str, name: str, text: str, limit: int) -> dict[str, JsonValue]:
    """Return the JSON lines of a client as rows; keys are in lower case with underscores."""
    rows: list[JsonValue] = []
    for line in text.splitlines():
        row = json.loads(line)
        rows.append({_snake(str(key)): value for key, value in row.items()})
    return {"host": host, name: rows[:limit], "total": len(rows)}


def _snake(name: str) -> str:
    text = "".join(f"_{each.lower()}" if each.isupper() else each for each in name)
    return text.lstrip("_").replace("_i_d", "_id").replace("p_i_ds", "pids")
