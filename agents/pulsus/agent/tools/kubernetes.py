"""`pulsus_kubernetes`: reads of a cluster through kubectl, if one is configured (§7).

A request has a timeout of 15 seconds. The kubeconfig, the context and the namespace of a call are
chosen here.

Nothing of a cluster is in the inventory yet, so a change could not be resolved: it is refused.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from pulsus.agent.tool_protocol import CallContext, CallNeeds, CallOutcome
from pulsus.agent.tools.local.local_system import LocalSystem, number_of, targets_of, text_of
from pulsus.commands.execution_plan import find_program
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass
from pulsus.gates.built_in_tools import built_in_tools
from pulsus.gates.tool_descriptors import ToolDescriptor
from pulsus.infra.local_command import failure_line, output_text

_WRITES: Final = frozenset({"scale", "restart", "delete_pod", "exec"})
_NO_INVENTORY: Final = (
    "this Pulsus discovers no Kubernetes resources, so it changes none and reads no logs of pods"
)
_SECONDS: Final = 15.0


@dataclass(frozen=True, slots=True)
class KubernetesTool:
    """Reads clusters."""

    system: LocalSystem

    @property
    def descriptor(self) -> ToolDescriptor:
        """Return the tool's descriptor."""
        return built_in_tools()["pulsus_kubernetes"]

    def needs(self, args: Mapping[str, JsonValue]) -> CallNeeds:
        """Return the action, and why there is no backend for it."""
        kind = text_of(args, "type")
        return CallNeeds(kind, targets_of(args), unavailable=self._unavailable(kind))

    def _unavailable(self, kind: str) -> str:
        if kind in _WRITES or kind == "logs":
            return _NO_INVENTORY
        if find_program("kubectl") is None:
            return "kubectl is not installed on this machine"
        named = self.system.environ.get("KUBECONFIG", "")
        home = self.system.environ.get("HOME", "")
        files = [each for each in named.split(os.pathsep) if each] or [f"{home}/.kube/config"]
        if not any(Path(each).is_file() for each in files):
            return f"no Kubernetes cluster is configured: there is no {files[0]}"
        return ""

    def run(self, args: Mapping[str, JsonValue], context: CallContext) -> CallOutcome:
        """Ask the cluster."""
        kind = text_of(args, "type")
        unavailable = self._unavailable(kind)
        if unavailable:
            return self.system.refused("EXECUTION_CONTEXT_UNAVAILABLE", unavailable)
        cluster = text_of(args, "cluster")
        chosen = ("--context", cluster) if cluster else ()
        if kind == "clusters":
            argv: tuple[str, ...] = ("kubectl", "config", "get-contexts", "-o", "name")
        else:
            namespace = text_of(args, "namespace")
            scope = ("--namespace", namespace) if namespace else ("--all-namespaces",)
            limit = f"--request-timeout={_SECONDS:g}s"
            argv = ("kubectl", *chosen, limit, "get", kind, *scope, "--output", "json")
        result = self.system.machine.commands.run(
            argv, seconds=_SECONDS + 1, cancellation=context.cancellation
        )
        if result is None or result.status != 0:
            why = failure_line(result) if result else "it cannot be started"
            return self.system.refused("EXECUTION_CONTEXT_UNAVAILABLE", f"kubectl: {why}")
        text = output_text(result)
        if kind == "clusters":
            rows: list[JsonValue] = [{"name": name} for name in text.split()]
            data: dict[str, JsonValue] = {"clusters": rows, "total": len(rows)}
        else:
            items = json.loads(text).get("items", [])
            found = [_row(kind, item) for item in items[: number_of(args, "lines", 200)]]
            data = {"cluster": cluster or "current", kind: list(found), "total": len(items)}
        return CallOutcome(self.system.report.success(data, context="kubectl"))


def _row(kind: str, item: Mapping[str, Any]) -> dict[str, JsonValue]:
    about, status = item.get("metadata", {}), item.get("status", {})
    row: dict[str, JsonValue] = {"name": str(about.get("name", ""))}
    if about.get("namespace"):
        row["namespace"] = str(about["namespace"])
    return row | _DETAILS[kind](item, status)


def _pod(item: Mapping[str, Any], status: Mapping[str, Any]) -> dict[str, JsonValue]:
    states = status.get("containerStatuses") or []
    return {
        "phase": str(status.get("phase", "")),
        "restarts": sum(int(each.get("restartCount", 0)) for each in states),
        "node": str(item.get("spec", {}).get("nodeName", "")),
    }


def _deployment(item: Mapping[str, Any], status: Mapping[str, Any]) -> dict[str, JsonValue]:
    return {
        "desired_replicas": int(item.get("spec", {}).get("replicas", 0)),
        "ready_replicas": int(status.get("readyReplicas", 0)),
        "available_replicas": int(status.get("availableReplicas", 0)),
    }


def _node(_: Mapping[str, Any], status: Mapping[str, Any]) -> dict[str, JsonValue]:
    conditions = {each["type"]: each["status"] for each in status.get("conditions", [])}
    return {"ready": conditions.get("Ready") == "True"}


def _service(item: Mapping[str, Any], _: Mapping[str, Any]) -> dict[str, JsonValue]:
    spec = item.get("spec", {})
    ports: list[JsonValue] = [int(each.get("port", 0)) for each in spec.get("ports") or []]
    return {"type": str(spec.get("type", "")), "ports": ports}


def _event(item: Mapping[str, Any], _: Mapping[str, Any]) -> dict[str, JsonValue]:
    about = item.get("involvedObject", {})
    return {
        "type": str(item.get("type", "")),
        "reason": str(item.get("reason", "")),
        "object": f"{about.get('kind', '')}/{about.get('name', '')}",
        "message": str(item.get("message", "")),
        "count": int(item.get("count") or 1),
    }


_Details = Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, JsonValue]]
_DETAILS: Final[Mapping[str, _Details]] = {
    "pods": _pod,
    "deployments": _deployment,
    "nodes": _node,
    "services": _service,
    "events": _event,
}
