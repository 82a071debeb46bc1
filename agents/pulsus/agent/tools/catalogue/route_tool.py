"""`pulsus_route`: the catalogue tools for a task, ranked, with their inputs. It runs nothing.

At most five tools are shown, those with a probability of 2 % or more.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import field
from typing import Final

from pulsus.agent.tool_protocol import CallContext, CallNeeds, CallOutcome
from pulsus.agent.tools.local.tool_report import ToolReport
from pulsus.core.types import JsonValue, Ranked, RouteOutcome
from pulsus.errors import PulsusError, RequestInvalid
from pulsus.fast_dataclass import dataclass
from pulsus.gates.built_in_tools import built_in_tools
from pulsus.gates.tool_descriptors import ToolDescriptor
from pulsus.routing.delivery.project_protocol import Project
from pulsus.routing.delivery.route_run import RouteOptions

_SHOWN: Final = 5
_LEAST_P: Final = 0.02


@dataclass(frozen=True, slots=True)
class RouteTool:
    """Ranks the tools of one project. `names` maps the id of a tool to the agent's name of it."""

    project: Project
    report: ToolReport
    names: Mapping[str, str]
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def descriptor(self) -> ToolDescriptor:
        """Return the tool's descriptor."""
        return built_in_tools()["pulsus_route"]

    def needs(self, args: Mapping[str, JsonValue]) -> CallNeeds:
        """Return what the call would do."""
        return CallNeeds("route")

    def run(self, args: Mapping[str, JsonValue], context: CallContext) -> CallOutcome:
        """Return the plan of the router for the request."""
        from pulsus.routing.router import Router  # the whole router, for this call only

        request = str(args["request"])
        try:
            with self.lock:  # its caches are files and values of one project
                outcome = Router(self.project, None).route(request, RouteOptions(plan=True))
        except RequestInvalid as error:
            return CallOutcome(self.report.failed("INVALID_INPUT", error.message))
        except PulsusError as error:
            answer = self.report.failed("EXECUTION_FAILED", error.message, recovery_hint=error.hint)
            return CallOutcome(answer)
        return CallOutcome(self.report.success(self._to_json(request, outcome)))

    def _to_json(self, request: str, outcome: RouteOutcome) -> dict[str, JsonValue]:
        decision = outcome.decision
        chosen: list[JsonValue] = [self._name(tool.id) for tool in decision.selected]
        likely = [each for each in outcome.candidates if each.p >= _LEAST_P][:_SHOWN]
        return {
            "request": request,
            "policy": decision.policy,
            "chosen": chosen,
            "inputs": {name: value.value for name, value in outcome.inputs.items()},
            "missing": [arg.name for arg in outcome.missing],
            "tools": [self._row(each) for each in likely],
        }

    def _row(self, ranked: Ranked) -> dict[str, JsonValue]:
        tool = ranked.tool
        return {
            "tool": self._name(tool.id),
            "id": tool.id,
            "p": round(ranked.p, 3),
            "kind": tool.kind,
            "summary": tool.summary,
            "inputs": {
                arg.name: f"{arg.type_hint or 'Any'}{'' if arg.required else ', optional'}"
                for arg in tool.args
            },
        }

    def _name(self, tool_id: str) -> str:
        return self.names.get(tool_id, tool_id)
