"""Check a migration plan against the facts of now, before a card and before it runs (§32.4). Pure.

Unknown VMs and nodes, and steps that break a rule, are refused. The check is that of
`pulsus place --check` (`placement/plan_checker.py`), which shares no code with the planner.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pulsus.core.types import JsonValue
from pulsus.infra.migrations.migration_plan import parse_actions
from pulsus.kb.fact_base import FactView
from pulsus.placement.cluster import Cluster, PlacementAction
from pulsus.placement.cluster_from_facts import cluster_of_facts
from pulsus.placement.plan_checker import check_plan


@dataclass(frozen=True, slots=True)
class MigrationCheck:
    """The actions of a plan with their sources, and what is wrong with them.

    `unknown` are VMs and nodes that no fresh fact knows, `violations` the steps that break a rule.
    """

    actions: tuple[PlacementAction, ...]
    unknown: tuple[str, ...] = ()
    violations: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Return True if every step keeps the rules."""
        return not self.unknown and not self.violations


def check_migrations(plan: JsonValue, view: FactView) -> MigrationCheck:
    """Return the check of a plan from outside. Raises PlanInvalid, FactsIncomplete."""
    return check_actions(parse_actions(plan, needs_source=False), view)


def check_actions(actions: Sequence[PlacementAction], view: FactView) -> MigrationCheck:
    """Return the check of typed actions. Raises FactsIncomplete."""
    cluster = cluster_of_facts(view)
    filled = _with_sources(cluster, actions)
    unknown = _unknown_names(cluster, filled)
    if unknown:
        return MigrationCheck(filled, unknown)
    found = check_plan(cluster, filled)
    violations = [f"step {each.step}: {each.reason}" for each in found.violations]
    return MigrationCheck(filled, (), (*_refused_targets(cluster, filled, view), *violations))


def _with_sources(
    cluster: Cluster, actions: Sequence[PlacementAction]
) -> tuple[PlacementAction, ...]:
    """Return the actions; a migration without a source gets the host that its VM is on then."""
    where = {vm.vmid: vm.host for vm in cluster.vms}
    filled = []
    for each in actions:
        needs = each.action == "migrate" and not each.source
        filled.append(replace(each, source=where.get(each.vmid, "")) if needs else each)
        where[each.vmid] = each.target
    return tuple(filled)


def _unknown_names(cluster: Cluster, actions: Sequence[PlacementAction]) -> tuple[str, ...]:
    vmids = {vm.vmid for vm in cluster.vms}
    hosts = {host.name for host in cluster.hosts}
    found = []
    for each in actions:
        found += [] if each.vmid in vmids else [f"VM {each.vmid}"]
        names = (each.source, each.target)
        found += [f"node {name}" for name in names if name and name not in hosts]
    return tuple(dict.fromkeys(found))


def _refused_targets(
    cluster: Cluster, actions: Sequence[PlacementAction], view: FactView
) -> list[str]:
    """Return a line for each target that is no live node: the checker only calls it drained."""
    draining = {host.name for host in cluster.hosts if host.online and host.drain}
    names = dict.fromkeys(each.target for each in actions if each.target in draining)
    return [f"{name} is {view.health(name)}, and only a live node takes a VM" for name in names]
