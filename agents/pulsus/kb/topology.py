"""Live nodes and links, and the shortest paths over them: breadth-first search and Dijkstra. Pure.

If a node is live is decided in `fact_base.py`. Of paths with the same cost the first by name wins.
A graph library was measured: it is slower to import and to build than a whole query takes here, and
none breaks ties by name (ADR 49).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping

from pulsus.fast_dataclass import dataclass
from pulsus.kb.facts import KnownNode, NodeHealth, TopologyLink
from pulsus.kb.query_limits import STEPS_BETWEEN_CHECKS, QueryDeadline

_Neighbours = dict[str, dict[str, TopologyLink]]


@dataclass(frozen=True, slots=True)
class CheapestWays:
    """The cheapest paths from one node: the node before each reached node."""

    came_from: Mapping[str, str]

    def ends(self) -> list[str]:
        """Return the nodes that a path leads to, sorted; the start is one of them."""
        return sorted(self.came_from)

    def path_to(self, end: str) -> tuple[str, ...]:
        """Return the path to one of `ends`."""
        return tuple(reversed(_follow(end, self.came_from)))


class LiveTopology:
    """The live nodes, each with the cheapest link to each live neighbour.

    `onward` are the links from a node, `backward` those to it.
    """

    def __init__(
        self,
        nodes: Mapping[str, tuple[KnownNode, NodeHealth]],
        onward: _Neighbours,
        backward: _Neighbours,
    ) -> None:
        self.nodes, self.onward, self.backward = nodes, onward, backward
        self._weights: dict[bool, dict[str, list[tuple[str, int]]]] = {}

    @classmethod
    def build(
        cls, nodes: Mapping[str, tuple[KnownNode, NodeHealth]], links: Iterable[TopologyLink]
    ) -> LiveTopology:
        """Return the topology of these live nodes and fresh links."""
        onward: _Neighbours = {name: {} for name in nodes}
        backward: _Neighbours = {name: {} for name in nodes}
        for link in links:
            if link.a not in nodes or link.b not in nodes:
                continue
            ways = ((link.a, link.b),) if link.directed else ((link.a, link.b), (link.b, link.a))
            for start, end in ways:
                known = onward[start].get(end)
                if known is None or link.cost < known.cost:
                    onward[start][end] = backward[end][start] = link
        return cls(nodes, onward, backward)

    def reachable(self, start: str, deadline: QueryDeadline, *, back: bool = False) -> set[str]:
        """Return all nodes that a live path joins with `start`, itself included.

        With `back` these are the nodes from which a path leads to `start`.
        """
        neighbours = self.backward if back else self.onward
        if start not in neighbours:
            return set()
        found, edge = {start}, [start]
        while edge:
            deadline.check()
            edge = list({n for name in edge for n in neighbours[name]} - found)
            found.update(edge)
        return found

    def find_way(self, start: str, end: str, deadline: QueryDeadline) -> tuple[str, ...] | None:
        """Return some live path, or None. It need not be the cheapest.

        The search goes from both ends, so it sees a small part of a large cluster.
        """
        if start not in self.onward or end not in self.onward:
            return None
        before: dict[str, str] = {start: start}
        after: dict[str, str] = {end: end}
        heads, tails = [start], [end]
        meeting = start if start == end else None
        while meeting is None and heads and tails:
            deadline.check()
            if len(heads) <= len(tails):
                heads, meeting = _step(heads, self.onward, before, after)
            else:
                tails, meeting = _step(tails, self.backward, after, before)
        if meeting is None:
            return None
        return (*reversed(_follow(meeting, before)), *_follow(meeting, after)[1:])

    def cheapest_path(
        self, start: str, end: str, deadline: QueryDeadline
    ) -> tuple[str, ...] | None:
        """Return the cheapest live path, or None. Of equal ones the first by the names on it."""
        if start not in self.onward or end not in self.onward:
            return None
        left = self._distances(end, deadline, back=True, stop=start)
        if start not in left:
            return None
        path = [start]
        while path[-1] != end:
            here = path[-1]
            onward = self._weights_of(back=False)[here]
            path.append(min(n for n, w in onward if n in left and left[n] + w == left[here]))
        return tuple(path)

    def cheapest_ways(self, start: str, deadline: QueryDeadline) -> CheapestWays:
        """Return the cheapest live paths to every node that `start` reaches, ties as above.

        A depth-first search over the links of cheapest paths, in the order of names, meets each
        node first on the path that comes first: these links form no cycle, as costs are above 0.
        """
        came_from: dict[str, str] = {}
        if start not in self.onward:
            return CheapestWays(came_from)
        distance = self._distances(start, deadline, back=False)
        weights = self._weights_of(back=False)
        waiting = [(start, start)]
        while waiting:
            name, origin = waiting.pop()
            if name in came_from:
                continue
            came_from[name] = origin
            if len(came_from) % STEPS_BETWEEN_CHECKS == 0:
                deadline.check()
            tight = [n for n, w in weights[name] if distance[name] + w == distance[n]]
            waiting.extend((n, name) for n in sorted(tight, reverse=True) if n not in came_from)
        return CheapestWays(came_from)

    def _distances(
        self, start: str, deadline: QueryDeadline, *, back: bool, stop: str | None = None
    ) -> dict[str, int]:
        """Return the cost to each node that is at most as far as `stop`, in millionths."""
        weights = self._weights_of(back=back)
        settled: dict[str, int] = {}
        best = {start: 0}
        heap = [(0, start)]
        while heap:
            cost, name = heapq.heappop(heap)
            if name in settled:
                continue
            settled[name] = cost
            if name == stop:
                break
            if len(settled) % STEPS_BETWEEN_CHECKS == 0:
                deadline.check()
            for neighbour, weight in weights[name]:
                total = cost + weight
                if neighbour not in best or total < best[neighbour]:
                    best[neighbour] = total
                    heapq.heappush(heap, (total, neighbour))
        return settled

    def _weights_of(self, *, back: bool) -> dict[str, list[tuple[str, int]]]:
        """Return the neighbours of each node with their weights. It is computed once."""
        if back not in self._weights:
            neighbours = self.backward if back else self.onward
            self._weights[back] = {
                name: [(other, link.weight) for other, link in links.items()]
                for name, links in neighbours.items()
            }
        return self._weights[back]


def _step(
    edge: list[str], neighbours: _Neighbours, seen: dict[str, str], other: dict[str, str]
) -> tuple[list[str], str | None]:
    """Go one link further from the nodes of `edge`. Return the new ones, and a common node."""
    further = []
    for name in edge:
        for neighbour in neighbours[name]:
            if neighbour not in seen:
                seen[neighbour] = name
                if neighbour in other:
                    return [], neighbour
                further.append(neighbour)
    return further, None


def _follow(name: str, origin: Mapping[str, str]) -> list[str]:
    """Return the nodes from `name` to the start of a search."""
    way = [name]
    while origin[way[-1]] != way[-1]:
        way.append(origin[way[-1]])
    return way
