"""`pulsus_alerts`: findings about this machine, computed when they are asked for (§7).

Findings are computed in `agent/tools/local/machine_findings.py`; their thresholds (disk full,
memory) are in `infra/local_facts.py`.

A dismissed alert is hidden for the session. A finding ends with its cause: `resolve` checks that it
has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from pulsus.agent.tool_protocol import CallContext, CallNeeds, CallOutcome
from pulsus.agent.tools.local.local_system import LocalSystem, targets_of, text_of
from pulsus.agent.tools.local.machine_findings import LocalFinding, find_problems
from pulsus.core.types import JsonValue
from pulsus.errors import ExtraMissing
from pulsus.fast_dataclass import dataclass
from pulsus.gates.built_in_tools import built_in_tools
from pulsus.gates.tool_descriptors import ToolDescriptor
from pulsus.gates.tool_response import ToolResponse


@dataclass(frozen=True, slots=True)
class AlertsTool:
    """Lists findings, and dismisses or resolves one."""

    system: LocalSystem

    @property
    def descriptor(self) -> ToolDescriptor:
        """Return the tool's descriptor."""
        return built_in_tools()["pulsus_alerts"]

    def needs(self, args: Mapping[str, JsonValue]) -> CallNeeds:
        """Return what the call reads or changes."""
        names = ("alert_id", "reason")
        written = {name: args[name] for name in names if name in args}
        return CallNeeds(text_of(args, "action"), targets_of(args), written=written)

    def run(self, args: Mapping[str, JsonValue], context: CallContext) -> CallOutcome:
        """List the findings, or change one. A change needs consent."""
        target, action = self.system.target_of(context), text_of(args, "action")
        writes = action in {"resolve", "dismiss"}
        if writes:
            refusal = self.system.refuse_unapproved(context, f"pulsus_alerts action={action}")
            if refusal is not None:
                return CallOutcome(refusal)
        try:
            found = find_problems(self.system.machine)
        except ExtraMissing as missing:
            return self.system.refused(
                "EXECUTION_CONTEXT_UNAVAILABLE", missing.message, recovery_hint=missing.hint
            )
        if not writes:
            severity = text_of(args, "severity")
            chosen = [
                each
                for each in found
                if each.id not in self.system.dismissed and severity in {"", each.severity}
            ]
            return CallOutcome(self._list(action, chosen), read=(target.id,))
        response = self._change(action, text_of(args, "alert_id"), text_of(args, "reason"), found)
        wrote = (target.id,) if response.ok else ()
        return CallOutcome(response, wrote=wrote, unchanged=not response.ok)

    def _list(self, action: str, found: list[LocalFinding]) -> ToolResponse:
        rows: list[JsonValue] = [each.to_json() for each in found]
        counts: dict[str, JsonValue] = {**Counter(str(each.severity) for each in found)}
        data: dict[str, JsonValue] = {
            "active" if action == "findings" else "alerts": rows,
            "counts": {"active": len(rows), "dismissed": len(self.system.dismissed), **counts},
        }
        return self.system.report.success(data)

    def _change(
        self, action: str, alert_id: str, reason: str, found: list[LocalFinding]
    ) -> ToolResponse:
        active = {each.id: each for each in found}
        if action == "resolve":
            if alert_id in active:
                return self.system.report.failed(
                    "EXECUTION_FAILED",
                    f"{alert_id} is not resolved: {active[alert_id].title}",
                    recovery_hint="remove its cause, or dismiss it with a reason",
                )
            self.system.dismissed.pop(alert_id, None)
            return self.system.report.success({"alert_id": alert_id, "status": "resolved"})
        if alert_id not in active:
            known: list[JsonValue] = list(active)
            return self.system.report.failed(
                "NOT_FOUND", f"there is no active alert {alert_id!r}", suggestions=known
            )
        self.system.dismissed[alert_id] = reason
        data: dict[str, JsonValue] = {
            "alert_id": alert_id,
            "status": "dismissed",
            "reason": reason,
            "until": "the end of this session",
        }
        return self.system.report.success(data)
