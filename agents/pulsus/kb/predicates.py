"""The predicates of the knowledge base: read-only relations over facts (§32.1.2). Pure.

`PREDICATES` is the allow-list of queries, all of them read-only. Any other predicate, such as
`assert` or `retract`, is refused in `goal_engine.py`. Each predicate yields its rows in a fixed
order, and with every row the facts that it rests on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, Literal

from pulsus.fast_dataclass import dataclass
from pulsus.kb.fact_base import FactView, first_fresh
from pulsus.kb.facts import EVERY_NODE, ClusterFact, KnownNode
from pulsus.kb.query_limits import QueryDeadline
from pulsus.kb.rag_context import rag_context
from pulsus.kb.topology import LiveTopology

ParameterType = Literal["node", "vmid", "name", "number", "list", "text", "node_or_all"]
Given = str | int | float | None
"""A value that the goal gives for a parameter, or None for a variable."""
AnswerValue = str | int | float | tuple[str, ...]
Row = tuple[tuple[AnswerValue, ...], tuple[ClusterFact, ...]]
"""The values of all parameters, and the facts that the row rests on."""
Solve = Callable[[FactView, tuple[Given, ...], QueryDeadline], Iterator[Row]]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter. `required` ones must be given; a list or a text never can be."""

    name: str
    type: ParameterType
    required: bool = False


@dataclass(frozen=True, slots=True)
class Predicate:
    """One predicate. `modules` are the names that may stand before it."""

    name: str
    parameters: tuple[Parameter, ...]
    summary: str
    solve: Solve
    modules: tuple[str, ...] = ()

    @property
    def signature(self) -> str:
        """Return the predicate as it is called, such as `node_health(Node, Status)`."""
        return f"{self.name}({', '.join(each.name for each in self.parameters)})"


def _nodes(view: FactView, given: Given) -> list[KnownNode]:
    """Return the given node if it exists, or all nodes."""
    if given is None:
        return view.hosts()
    node = first_fresh(view.base.nodes.get(given), view.now)
    return [] if node is None else [node]


def _solve_known_node(view: FactView, args: tuple[Given, ...], _: QueryDeadline) -> Iterator[Row]:
    for node in _nodes(view, args[0]):
        yield (node.name,), (node,)


def _solve_health(view: FactView, args: tuple[Given, ...], _: QueryDeadline) -> Iterator[Row]:
    healths, now = view.base.healths, view.now
    for node in _nodes(view, args[0]):
        fact = first_fresh(healths.get(node.name), now)
        if fact is not None:
            yield (node.name, fact.health), (node, fact)
        else:  # it rests on the facts that are too old to be used
            yield (node.name, "unknown"), (node, *view.base.healths.get(node.name, ()))


def _solve_link(view: FactView, args: tuple[Given, ...], deadline: QueryDeadline) -> Iterator[Row]:
    topology = view.topology()
    for a in _live_names(topology, args[0]):
        deadline.check()
        links = topology.onward[a]
        for b in sorted(links) if args[1] is None else [str(args[1])]:
            if b in links:
                yield (a, b, links[b].cost), _path_facts(topology, (a, b))


def _solve_reach(view: FactView, args: tuple[Given, ...], deadline: QueryDeadline) -> Iterator[Row]:
    topology = view.topology()
    start, end = args
    if start is not None and end is not None:
        way = topology.find_way(str(start), str(end), deadline)
        if way is not None:
            yield (start, end), _path_facts(topology, way)
    elif start is None and end is not None:
        for name in sorted(topology.reachable(str(end), deadline, back=True)):
            way = topology.find_way(name, str(end), deadline)
            yield (name, end), _path_facts(topology, way or ())
    else:
        for name in _live_names(topology, start):
            for other in sorted(topology.reachable(name, deadline)):
                way = topology.find_way(name, other, deadline)
                yield (name, other), _path_facts(topology, way or ())


def _solve_path(view: FactView, args: tuple[Given, ...], deadline: QueryDeadline) -> Iterator[Row]:
    topology = view.topology()
    for start in _live_names(topology, args[0]):
        if args[1] is not None:
            end = str(args[1])
            path = topology.cheapest_path(start, end, deadline)
            if path is not None:
                yield (start, end, path), _path_facts(topology, path)
            continue
        ways = topology.cheapest_ways(start, deadline)
        for end in ways.ends():
            path = ways.path_to(end)
            yield (start, end, path), _path_facts(topology, path)


def _solve_alerts(view: FactView, args: tuple[Given, ...], _: QueryDeadline) -> Iterator[Row]:
    for node in _nodes(view, args[0]):
        alerts = view.alerts(node.name)
        conditions = tuple(alert.condition for alert in alerts)
        yield (node.name, conditions), (node, *alerts)


def _solve_host(view: FactView, args: tuple[Given, ...], _: QueryDeadline) -> Iterator[Row]:
    given = args[0]
    for vmid in view.base.vms if given is None else [given]:
        vm = view.vm(int(vmid))
        if vm is not None and vm.host is not None:
            yield (vm.vmid, vm.host), (vm,)


def _solve_metric(view: FactView, args: tuple[Given, ...], _: QueryDeadline) -> Iterator[Row]:
    for node in _nodes(view, args[0]):
        for metric in view.metrics(node.name):
            if args[1] is None or args[1] == metric.metric:
                yield (node.name, metric.metric, metric.value), (metric,)


def _solve_context(
    view: FactView, args: tuple[Given, ...], deadline: QueryDeadline
) -> Iterator[Row]:
    target = str(args[0])
    if target == EVERY_NODE or view.node(target) is not None:
        yield (target, rag_context(view, target, deadline)), ()


def _live_names(topology: LiveTopology, given: Given) -> Iterable[str]:
    if given is None:
        return topology.onward
    return [str(given)] if str(given) in topology.onward else []


def _path_facts(topology: LiveTopology, path: tuple[str, ...]) -> tuple[ClusterFact, ...]:
    """Return the facts of a path: its nodes, their health, and its links."""
    facts: list[ClusterFact] = []
    for at, name in enumerate(path):
        if at:
            facts.append(topology.onward[path[at - 1]][name])
        facts.extend(topology.nodes[name])
    return tuple(facts)


_NODE = Parameter("Node", "node")
_TABLE: Final = (
    Predicate(
        "known_node",
        (_NODE,),
        "the node exists",
        _solve_known_node,
        ("proxmox_topology",),
    ),
    Predicate(
        "node_health",
        (_NODE, Parameter("Status", "name")),
        "health of a node: nominal, degraded, critical or unknown",
        _solve_health,
        ("live_state",),
    ),
    Predicate(
        "query_single_node_health",
        (Parameter("Node", "node", required=True), Parameter("Status", "name")),
        "the same for one named node",
        _solve_health,
        ("cluster_aggregator",),
    ),
    Predicate(
        "live_link",
        (Parameter("A", "node"), Parameter("B", "node"), Parameter("Cost", "number")),
        "a link joins two healthy nodes",
        _solve_link,
    ),
    Predicate(
        "can_reach",
        (Parameter("From", "node"), Parameter("To", "node")),
        "a path of healthy nodes joins them",
        _solve_reach,
    ),
    Predicate(
        "live_shortest_path",
        (Parameter("From", "node"), Parameter("To", "node"), Parameter("Path", "list")),
        "the cheapest such path, ties by name",
        _solve_path,
    ),
    Predicate(
        "active_alerts",
        (_NODE, Parameter("ConditionIDs", "list")),
        "conditions with an alert in the alert window",
        _solve_alerts,
    ),
    Predicate(
        "current_vm_host",
        (Parameter("VMID", "vmid"), Parameter("Host", "node")),
        "the host that a virtual machine runs on",
        _solve_host,
    ),
    Predicate(
        "node_metric",
        (_NODE, Parameter("Metric", "name"), Parameter("Value", "number")),
        "a measured figure of a node",
        _solve_metric,
        ("live_state",),
    ),
    Predicate(
        "gather_rag_context",
        (Parameter("Node", "node_or_all", required=True), Parameter("Context", "text")),
        "the context that a model gets about a node, or about `all`",
        _solve_context,
        ("rag_context",),
    ),
)

PREDICATES: Final[Mapping[tuple[str, int], Predicate]] = MappingProxyType(
    {(each.name, len(each.parameters)): each for each in _TABLE}
)
"""The allow-list: every predicate by its name and its number of arguments."""
