"""Places of the steps in a picture: one row a stage, and lines that go round boxes. Pure.

Lengths are in pixels of the picture. A line that crosses a row gets a place of its own in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pulsus.core.compose.saved_plans.plan_graph import PlanEdge, PlanGraph
from pulsus.fast_dataclass import dataclass

BOX_HEIGHT = 56
GAP = 32
"""Space between two boxes in a row."""
ROW = 120
"""Height of a row, with the space below its boxes for lines and their labels."""
MARGIN = 16
_LANE = 24
"""Width of the place of a line that crosses a row."""
_Slot = tuple[str, int]
"""A step (with -1), or the number of the edge that crosses a row (with an empty text)."""


@dataclass(frozen=True, slots=True)
class PlacedBox:
    """The box of one step: its upper left corner and its width."""

    x: float
    y: float
    width: float


@dataclass(frozen=True, slots=True)
class SvgLayout:
    """The boxes by step, the points of each edge in order, and the size of the picture."""

    boxes: Mapping[str, PlacedBox]
    paths: tuple[tuple[tuple[float, float], ...], ...]
    width: float
    height: float


def place_graph(graph: PlanGraph, widths: Mapping[str, float]) -> SvgLayout:
    """Return the places. `widths` are those of the boxes."""
    level = {step: number for number, stage in enumerate(graph.stages) for step in stage}
    rows = _order_rows(graph, level)
    sizes = [[_slot_width(slot, widths) for slot in row] for row in rows]
    totals = [sum(row) + GAP * (len(row) - 1) for row in sizes]
    width = max(totals, default=0.0) + 2 * MARGIN
    left: dict[tuple[int, _Slot], float] = {}
    for number, row in enumerate(rows):
        x = (width - totals[number]) / 2
        for slot, size in zip(row, sizes[number], strict=True):
            left[number, slot] = x
            x += size + GAP
    boxes = {
        step: PlacedBox(left[at, (step, -1)], MARGIN + at * ROW, widths[step])
        for step, at in level.items()
    }
    paths = tuple(_list_points(n, edge, level, boxes, left) for n, edge in enumerate(graph.edges))
    height = 2 * MARGIN + max(0, len(rows) - 1) * ROW + BOX_HEIGHT
    return SvgLayout(boxes, paths, width, height)


def _order_rows(graph: PlanGraph, level: Mapping[str, int]) -> list[list[_Slot]]:
    """Return the slots of each row. Lines that cross it stand at the mean of where they begin."""
    rows: list[list[_Slot]] = [[(step, -1) for step in stage] for stage in graph.stages]
    for number, edge in enumerate(graph.edges):
        for at in range(level[edge.source] + 1, level[edge.target]):
            rows[at].append(("", number))
    for at in range(1, len(rows)):
        above = {slot: place / len(rows[at - 1]) for place, slot in enumerate(rows[at - 1])}
        rows[at].sort(key=lambda slot: _mean_place(slot, above, graph.edges))
    return rows


def _mean_place(slot: _Slot, above: Mapping[_Slot, float], edges: Sequence[PlanEdge]) -> float:
    """Return the mean place, 0 to 1, of what stands above the slot and is joined to it."""
    step, number = slot
    joined = [number] if number >= 0 else [n for n, e in enumerate(edges) if e.target == step]
    places = [above.get(("", n), above.get((edges[n].source, -1))) for n in joined]
    known = [place for place in places if place is not None]
    return sum(known) / len(known) if known else 0.5


def _slot_width(slot: _Slot, widths: Mapping[str, float]) -> float:
    return _LANE if slot[1] >= 0 else widths[slot[0]]


def _list_points(
    number: int,
    edge: PlanEdge,
    level: Mapping[str, int],
    boxes: Mapping[str, PlacedBox],
    left: Mapping[tuple[int, _Slot], float],
) -> tuple[tuple[float, float], ...]:
    """Return the points of one edge, from the bottom of a box to the top of another."""
    source, target = boxes[edge.source], boxes[edge.target]
    points = [(source.x + source.width / 2, source.y + BOX_HEIGHT)]
    for at in range(level[edge.source] + 1, level[edge.target]):
        x, y = left[at, ("", number)] + _LANE / 2, float(MARGIN + at * ROW)
        points += [(x, y), (x, y + BOX_HEIGHT)]
    return (*points, (target.x + target.width / 2, target.y))
