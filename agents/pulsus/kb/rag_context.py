"""RAG context: the cluster in words for a model: health, alerts, topology (§32.3.2). Pure.

A query to the knowledge base is answered in `goal_engine.py`. A section has at most 12 lines. Names
have a fixed form and all other values are numbers, so no text of a third party (an injection, a
secret) gets in. `bootstrap/knowledge.py` chooses the node of a request, and
`agent/cluster_context.py` waits for the context.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from pulsus.kb.fact_base import FactView
from pulsus.kb.facts import EVERY_NODE, Health
from pulsus.kb.query_limits import QueryDeadline

HEADING: Final = "## RAG Context"
UNAVAILABLE: Final = f"{HEADING}\n*Unavailable.*"
"""The context if none could be made in time."""
_MOST_LINES: Final = 12
"""Lines of one section: a small model reads the whole context with every turn."""


def rag_context(view: FactView, target: str, deadline: QueryDeadline) -> str:
    """Return the context of one node, or of the whole cluster for `all`, as Markdown.

    The node must exist. Raises KnowledgeTimeout.
    """
    sections = _cluster(view, deadline) if target == EVERY_NODE else _one_node(view, target)
    deadline.check()
    time = view.now.strftime("%Y-%m-%dT%H:%M:%SZ")
    parts = [f"{HEADING}\nState of {target} at {time}."]
    parts += [f"### {title}\n" + "\n".join(_shortened(lines)) for title, lines in sections]
    return "\n\n".join(parts)


_Section = tuple[str, list[str]]


def _cluster(view: FactView, deadline: QueryDeadline) -> list[_Section]:
    names = view.node_names()
    health = {name: view.health(name) for name in names}
    deadline.check()
    counts = Counter(health.values())
    order: tuple[Health, ...] = ("critical", "unknown", "degraded", "nominal")
    lines = [
        f"- {counts[each]} of {_count(len(names), 'node')} {each}" for each in order if counts[each]
    ]
    troubled = [
        f"- {name}: {health[name]}" for e in order[:3] for name in names if health[name] == e
    ]
    alerts = [
        f"- {name}: {alert.condition}, {alert.provenance.age_seconds(view.now):.0f} s ago"
        for name in names
        for alert in view.alerts(name)
    ]
    deadline.check()
    topology = view.topology()
    links = {id(link) for links in topology.onward.values() for link in links.values()}
    racks = [f"- rack {name}: {_count(len(nodes), 'node')}" for name, nodes in view.racks().items()]
    running = sum(vm.host is not None for vm in view.vms())
    return [
        ("Health", lines or ["- no node is known"]),
        ("Nodes that are not nominal", troubled or ["- none"]),
        ("Active alerts", alerts or ["- none"]),
        (
            "Topology",
            [
                f"- {_count(len(topology.nodes), 'live node')}, {_count(len(links), 'live link')}",
                f"- {_count(running, 'virtual machine')} running",
                *racks,
            ],
        ),
    ]


def _one_node(view: FactView, name: str) -> list[_Section]:
    node, health = view.node(name), view.health_fact(name)
    age = f", seen {health.provenance.age_seconds(view.now):.0f} s ago" if health else ""
    lines = [f"- {name}: {view.health(name)}{age}"]
    if node is not None:
        lines.append(f"- {node.status}" + (f", rack {node.rack}" if node.rack else ""))
    lines += [f"- {metric.metric}: {metric.value:g}" for metric in view.metrics(name)]
    alerts = [
        f"- {alert.condition}, {alert.provenance.age_seconds(view.now):.0f} s ago"
        for alert in view.alerts(name)
    ]
    topology = view.topology()
    neighbours = topology.onward.get(name, {})
    links = [f"- {other} at cost {neighbours[other].cost:g}" for other in sorted(neighbours)]
    guests = [f"- VM {vm.vmid}" for vm in view.vms() if vm.host == name]
    return [
        ("Health", lines),
        ("Active alerts", alerts or ["- none"]),
        ("Live links", links or ["- none"]),
        ("Virtual machines", guests or ["- none"]),
    ]


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _shortened(lines: Iterable[str]) -> list[str]:
    shown = list(lines)
    if len(shown) <= _MOST_LINES:
        return shown
    return [*shown[: _MOST_LINES - 1], f"- and {len(shown) - _MOST_LINES + 1} more"]
