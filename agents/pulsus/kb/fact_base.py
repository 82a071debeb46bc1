"""Indexed facts, and what holds of them at one moment. Pure.

The facts of the knowledge base are held in memory only. They come from files (`fact_files.py`),
this machine and plugins (`fact_sources.py`). If a fact is stale is decided in `facts.py`. A query
is answered in `goal_engine.py`.

If facts contradict each other (a conflict), the newest fresh fact of a key counts. A node is live
if it is online and healthy. The topology of live nodes is built once, and again when a fact has
expired.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from datetime import datetime
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

from pulsus.kb.facts import (
    ActiveAlert,
    ClusterFact,
    FactKind,
    Health,
    KnownNode,
    NodeHealth,
    NodeMetric,
    TopologyLink,
    VirtualMachine,
)
from pulsus.kb.topology import LiveTopology

_Fact = TypeVar("_Fact", bound=ClusterFact)
_Index = dict[Any, tuple[_Fact, ...]]


class FactBase:
    """All facts of one reading of the sources. It does not change."""

    def __init__(self, facts: Iterable[ClusterFact]) -> None:
        by_kind: dict[FactKind, dict[Any, list[Any]]] = {}
        for fact in facts:
            by_kind.setdefault(fact.kind, {}).setdefault(fact.key, []).append(fact)
        self.nodes: _Index[KnownNode] = _sorted_index(by_kind.get("node"))
        self.healths: _Index[NodeHealth] = _sorted_index(by_kind.get("health"))
        self.links: _Index[TopologyLink] = _sorted_index(by_kind.get("link"))
        self.alerts: _Index[ActiveAlert] = _sorted_index(by_kind.get("alert"))
        self.vms: _Index[VirtualMachine] = _sorted_index(by_kind.get("vm"))
        self.metrics: _Index[NodeMetric] = _sorted_index(by_kind.get("metric"))
        self.alerts_of = _group_by_node(self.alerts)
        self.metrics_of = _group_by_node(self.metrics)
        self._moments = _moments_of_change(self.nodes, self.healths, self.links)
        self._topologies: dict[bool, tuple[int, LiveTopology]] = {}

    def all_facts(self) -> list[ClusterFact]:
        """Return every fact, in the order of kinds and keys, the newest of a key first."""
        indexes: tuple[Mapping[Any, tuple[ClusterFact, ...]], ...] = (
            self.nodes,
            self.healths,
            self.links,
            self.alerts,
            self.vms,
            self.metrics,
        )
        return [fact for index in indexes for facts in index.values() for fact in facts]

    def at(self, now: datetime, *, use_degraded: bool = False, use_racks: bool = True) -> FactView:
        """Return the facts as they hold at `now`, an aware time."""
        return FactView(self, now, use_degraded, use_racks)

    def topology(self, view: FactView) -> LiveTopology:
        """Return the live nodes and links at the time of `view`."""
        period = bisect_right(self._moments, view.now)
        known = self._topologies.get(view.use_degraded)
        if known is not None and known[0] == period:
            return known[1]
        fresh = (first_fresh(facts, view.now) for facts in self.links.values())
        built = LiveTopology.build(view.live_nodes(), (link for link in fresh if link is not None))
        self._topologies[view.use_degraded] = (period, built)
        return built


class FactView(NamedTuple):
    """The facts of `base` that are fresh at `now`.

    With `use_degraded` a degraded node is live too. With `use_racks` the racks of the facts count
    for the members of an HA group.
    """

    base: FactBase
    now: datetime
    use_degraded: bool
    use_racks: bool = True

    def node(self, name: str) -> KnownNode | None:
        """Return the fresh fact that the node exists, or None."""
        return first_fresh(self.base.nodes.get(name), self.now)

    def node_names(self) -> list[str]:
        """Return the names of all nodes that exist, sorted."""
        return [name for name in self.base.nodes if self.node(name) is not None]

    def health_fact(self, name: str) -> NodeHealth | None:
        """Return the fresh fact about the health of a node, or None."""
        return first_fresh(self.base.healths.get(name), self.now)

    def health(self, name: str) -> Health:
        """Return the health of a node; `unknown` without a fresh fact."""
        fact = self.health_fact(name)
        return "unknown" if fact is None else fact.health

    def is_live(self, name: str) -> bool:
        """Return True if links and paths may use the node: it is online and healthy."""
        node, health = self.node(name), self.health_fact(name)
        return node is not None and health is not None and self._are_live(node, health)

    def live_nodes(self) -> dict[str, tuple[KnownNode, NodeHealth]]:
        """Return the live nodes, sorted by name, with the facts that make them live."""
        found = {}
        for name, facts in self.base.nodes.items():
            node = first_fresh(facts, self.now)
            health = self.health_fact(name)
            if node is not None and health is not None and self._are_live(node, health):
                found[name] = (node, health)
        return found

    def _are_live(self, node: KnownNode, health: NodeHealth) -> bool:
        if node.status != "online":
            return False
        return health.health == "nominal" or (self.use_degraded and health.health == "degraded")

    def topology(self) -> LiveTopology:
        """Return the live nodes and the links between them."""
        return self.base.topology(self)

    def alerts(self, node: str) -> list[ActiveAlert]:
        """Return the alerts of a node within the alert window, sorted by condition."""
        keys = self.base.alerts_of.get(node, ())
        found = (first_fresh(self.base.alerts[key], self.now) for key in keys)
        return [alert for alert in found if alert is not None]

    def metric(self, node: str, name: str) -> NodeMetric | None:
        """Return the fresh figure of a node, or None."""
        return first_fresh(self.base.metrics.get((node, name)), self.now)

    def metrics(self, node: str) -> list[NodeMetric]:
        """Return the fresh figures of a node, sorted by name."""
        keys = self.base.metrics_of.get(node, ())
        found = (first_fresh(self.base.metrics[key], self.now) for key in keys)
        return [metric for metric in found if metric is not None]

    def vm(self, vmid: int) -> VirtualMachine | None:
        """Return the fresh fact about a virtual machine, or None."""
        return first_fresh(self.base.vms.get(vmid), self.now)

    def current_host(self, vmid: int) -> str | None:
        """Return the host of a virtual machine; None if it does not run or is not known."""
        fact = self.vm(vmid)
        return None if fact is None else fact.host

    def vms(self) -> list[VirtualMachine]:
        """Return every virtual machine with a fresh fact, by vmid. Capacities may be None."""
        found = (self.vm(vmid) for vmid in self.base.vms)
        return [vm for vm in found if vm is not None]

    def hosts(self) -> list[KnownNode]:
        """Return every node with a fresh fact, by name. Capacities may be None."""
        found = (self.node(name) for name in self.base.nodes)
        return [node for node in found if node is not None]

    def ha_groups(self) -> dict[str, tuple[int, ...]]:
        """Return the vmids of each HA group, both sorted."""
        groups: dict[str, list[int]] = {}
        for vm in self.vms():
            if vm.ha_group is not None:
                groups.setdefault(vm.ha_group, []).append(vm.vmid)
        return {name: tuple(groups[name]) for name in sorted(groups)}

    def racks(self) -> dict[str, tuple[str, ...]]:
        """Return the node names of each rack, both sorted."""
        racks: dict[str, list[str]] = {}
        for node in self.hosts():
            if node.rack is not None:
                racks.setdefault(node.rack, []).append(node.name)
        return {name: tuple(racks[name]) for name in sorted(racks)}


def first_fresh(facts: tuple[_Fact, ...] | None, now: datetime) -> _Fact | None:
    """Return the first of these facts that may be used at `now`, or None."""
    for fact in facts or ():
        if fact.provenance.is_fresh(now):
            return fact
    return None


def _sorted_index(found: dict[Any, list[_Fact]] | None) -> _Index[_Fact]:
    """Return the index with sorted keys, and the newest fact of a key first.

    Facts of the same time are in the order of their sources' names, so the choice is stable.
    """
    index: _Index[_Fact] = {}
    for key in sorted(found or ()):
        facts = sorted((found or {})[key], key=attrgetter("provenance.source"))
        facts.sort(key=attrgetter("provenance.observed_at"), reverse=True)
        index[key] = tuple(facts)
    return index


def _moments_of_change(*indexes: Mapping[Any, tuple[ClusterFact, ...]]) -> list[datetime]:
    """Return the moments, sorted, at which a fact begins or ceases to be fresh.

    Between two of them the topology stays the same.
    """
    every = (f.provenance for index in indexes for facts in index.values() for f in facts)
    # Most facts of a file share one origin; comparing their ids is ten times faster than hashing.
    origins = {id(origin): origin for origin in every}.values()
    begins = {origin.usable_from for origin in origins}
    return sorted(begins | {end for origin in origins if (end := origin.expires_at) is not None})


def _group_by_node(keys: Iterable[tuple[str, str]]) -> dict[str, list[tuple[str, str]]]:
    groups: dict[str, list[tuple[str, str]]] = {}
    for key in keys:
        groups.setdefault(key[0], []).append(key)
    return groups
