"""`schedule_ha_proposal`: a placement plan from the facts (tool calling §32.1.2). It moves nothing.

The solver has at most 10 seconds here. The plan is computed in `placement/placement_planner.py`.

The model may name hosts and VMs. Their figures come from the knowledge base: a figure of the model
that differs is refused, and never used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from pulsus.agent.tool_protocol import CallContext, CallNeeds, CallOutcome
from pulsus.agent.tools.local.tool_report import ToolReport
from pulsus.core.text.similar_names import similar_names
from pulsus.core.types import JsonValue
from pulsus.errors import PulsusError
from pulsus.fast_dataclass import dataclass
from pulsus.gates.built_in_tools import built_in_tools
from pulsus.gates.tool_descriptors import ToolDescriptor
from pulsus.gates.tool_response import ToolResponse
from pulsus.infra.migrations.migration_plan import NODE_NAME, plan_rows
from pulsus.kb.fact_base import FactView
from pulsus.placement.cluster import Cluster, ClusterHost, ClusterVm
from pulsus.placement.cluster_from_facts import cluster_of_facts, narrow_cluster
from pulsus.placement.placement_plan import PlacementPlan
from pulsus.placement.placement_planner import PlanRequest, plan_placement
from pulsus.placement.plan_checker import Certificate, check_plan

SCHEDULE_HA_PROPOSAL: Final = "schedule_ha_proposal"
_SECONDS: Final = 10.0
"""The chapter gives the solver 10 s of the 15 s of the call."""

_FIGURES: Final = ("ram_mib", "cpu_mc")
_Row = dict[str, JsonValue]
_Known = ClusterHost | ClusterVm

ReadFacts = Callable[[], FactView]
"""Returns the facts of now. Raises FactsInvalid, ConfigError."""


@dataclass(frozen=True, slots=True)
class ScheduleHaProposalTool:
    """Plans migrations for one project. `facts` are read anew with each call."""

    facts: ReadFacts
    report: ToolReport

    @property
    def descriptor(self) -> ToolDescriptor:
        """Return the tool's descriptor."""
        return built_in_tools()[SCHEDULE_HA_PROPOSAL]

    def needs(self, args: Mapping[str, JsonValue]) -> CallNeeds:
        """Return what the call would do: it acts on no resource."""
        return CallNeeds("plan")

    def run(self, args: Mapping[str, JsonValue], context: CallContext) -> CallOutcome:
        """Return the plan, with its status and the check of each step."""
        # The model may ask for racks, but not do without: the facts decide, as on approval.
        racks = args.get("use_rack_constraints") is True
        try:
            cluster = cluster_of_facts(self.facts(), require_racks=racks)
            hosts, vms = _rows(args, "hosts"), _rows(args, "vms")
            by_name = {host.name: host for host in cluster.hosts}
            by_vmid = {str(vm.vmid): vm for vm in cluster.vms}
            refusal = self._refuse_rows(hosts, "name", by_name, _FIGURES) or self._refuse_rows(
                vms, "vmid", by_vmid, (*_FIGURES, "ha_group")
            )
            if refusal is not None:
                return CallOutcome(refusal)
            names = {str(row["name"]) for row in hosts} or set(by_name)
            vmids = {by_vmid[str(row["vmid"])].vmid for row in vms}
            part = narrow_cluster(cluster, names, vmids or {vm.vmid for vm in cluster.vms})
            seconds = max(0.1, min(_SECONDS, context.timeout_s))
            plan = plan_placement(part, PlanRequest(time_limit_s=seconds))
        except PulsusError as error:
            failed = self.report.failed(
                "EXECUTION_FAILED", f"{error.code}: {error.message}", recovery_hint=error.hint
            )
            return CallOutcome(failed)
        # The plan was made for a part of the cluster, and has to hold in the whole.
        return CallOutcome(self._answer(plan, check_plan(cluster, plan.actions), cluster))

    def _answer(self, plan: PlacementPlan, check: Certificate, cluster: Cluster) -> ToolResponse:
        if not check.ok:
            first = check.violations[0]
            return self.report.failed(
                "EXECUTION_FAILED",
                f"step {first.step} of the plan breaks a rule of the whole cluster: {first.reason}",
                recovery_hint="name that VM and its host too, or name none",
            )
        unplaced: list[JsonValue] = [
            {"vmid": each.vmid, "reasons": {**each.reasons}} for each in plan.unplaced
        ]
        drained: list[JsonValue] = [host.name for host in cluster.hosts if not host.usable]
        data: dict[str, JsonValue] = {
            "status": plan.status,
            "actions": plan_rows(plan.actions),
            "unplaced": unplaced,
            "objective": {**plan.objective},
            "gap": plan.gap,
            "core": [*plan.core],
            "hosts_that_take_no_vm": drained,
            "racks_count": cluster.use_rack_constraints,
            "certificate": {"steps_checked": check.steps_checked, "ok": check.ok},
        }
        return self.report.success(data)

    def _refuse_rows(
        self, rows: list[_Row], key: str, known: Mapping[str, _Known], fields: tuple[str, ...]
    ) -> ToolResponse | None:
        """Return the refusal of rows that the facts do not know as they are, or None."""
        names = [str(row[key]) for row in rows]
        for row, name in zip(rows, names, strict=True):
            if key == "name" and not NODE_NAME.fullmatch(name):
                return self._invalid(f"{name!r} is no name of a node")
            if names.count(name) > 1:
                return self._invalid(f"{key} {name} is given twice")
            fact = known.get(name)
            if fact is None:
                return self._not_found(key, name, known)
            for field in fields:
                given, true = row.get(field), getattr(fact, field)
                if given is not None and given != true:
                    return self._invalid(
                        f"{field} of {key} {name} is {true!r} in the facts, not {given!r}",
                        given=given,
                        known=true,
                    )
        return None

    def _not_found(self, key: str, name: str, known: Mapping[str, _Known]) -> ToolResponse:
        near: list[JsonValue] = [*similar_names(name, sorted(known))]
        return self.report.blocked(
            "NOT_FOUND",
            f"no fresh fact knows {key} {name}",
            suggestions=near,
            recovery_hint="ask query_wam for the nodes, or for the host of a VM",
            auto_recoverable=True,
        )

    def _invalid(self, message: str, **details: JsonValue) -> ToolResponse:
        return self.report.blocked(
            "INVALID_INPUT",
            message,
            recovery_hint="leave figures out: they come from the facts",
            auto_recoverable=True,
            **details,
        )


def _rows(args: Mapping[str, JsonValue], name: str) -> list[_Row]:
    """Return the objects of an argument. Its schema says that they are objects."""
    found = args.get(name)
    rows = found if isinstance(found, list) else []
    return [row for row in rows if isinstance(row, dict)]
