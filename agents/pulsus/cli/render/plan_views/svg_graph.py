"""The steps of a saved plan as an SVG picture, readable on a white and a dark page. Pure.

It has no script, no link and no font of its own. All text is escaped.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape

from pulsus.cli.render.plan_views.plan_page import PlanPage
from pulsus.cli.render.plan_views.step_words import count_kinds, cut
from pulsus.cli.render.plan_views.svg_layout import BOX_HEIGHT, PlacedBox, place_graph
from pulsus.core.compose.saved_plans.plan_graph import PlanEdge
from pulsus.core.types import PlanStep

_FONT = 12
_CHAR = 7.3
"""Width of a character of the fixed-width font, with room for wider ones."""
_LABEL = 40
"""Characters of a line of text; `…` stands for the rest."""
_PAD = 14
# Middle grey: its contrast to white and to near black (#0d1117) is above 3.9.
_LINE = "#7d8590"
_READ = ("#ddf4ff", "#0969da")
_WRITE = ("#ffebe9", "#cf222e")
_TEXT = "#1f2328"


def svg_graph(page: PlanPage) -> str:
    """Return the picture as one SVG document."""
    return "".join(f"{line}\n" for line in _list_lines(page))


def _list_lines(page: PlanPage) -> Iterator[str]:
    steps = page.saved.plan.steps
    texts = {step.id: _box_texts(page, step) for step in steps}
    widths = {name: max(map(len, lines)) * _CHAR + 2 * _PAD for name, lines in texts.items()}
    layout = place_graph(page.graph, widths)
    size = f'width="{layout.width:.0f}" height="{layout.height:.0f}"'
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img"'
        f' viewBox="0 0 {layout.width:.0f} {layout.height:.0f}"'
        f' font-family="ui-monospace, Menlo, Consolas, monospace" font-size="{_FONT}">'
    )
    yield f"  <title>{escape_xml(f'Plan {page.file}: {count_kinds(page.saved)}', 200)}</title>"
    yield (
        '  <defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8"'
        f' markerHeight="8" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="{_LINE}"/>'
        "</marker></defs>"
    )
    for edge, points in zip(page.graph.edges, layout.paths, strict=True):
        dashed = "" if edge.kind == "data" else ' stroke-dasharray="5 4"'
        yield (
            f'  <path d="{_draw_path(points)}" fill="none" stroke="{_LINE}" stroke-width="1.5"'
            f'{dashed} marker-end="url(#tip)"/>'
        )
    for edge, points in zip(page.graph.edges, layout.paths, strict=True):
        yield from _draw_label(edge, points[0], points[1])
    for step in steps:
        yield from _draw_box(page, step, layout.boxes[step.id], texts[step.id])
    yield "</svg>"


def _box_texts(page: PlanPage, step: PlanStep) -> tuple[str, str]:
    version = f"@{step.version}" if step.version else ""
    mark = "WRITES  " if step.id in page.saved.writes else ""
    return f"{mark}{_shorten(step.id)}", _shorten(f"{step.tool}{version}")


def _draw_box(
    page: PlanPage, step: PlanStep, box: PlacedBox, texts: tuple[str, str]
) -> Iterator[str]:
    fill, stroke = _WRITE if step.id in page.saved.writes else _READ
    bold = 3 if step.id in page.saved.writes else 1.5
    middle = box.x + box.width / 2
    yield (
        f'  <rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{BOX_HEIGHT}"'
        f' rx="6" fill="{fill}" stroke="{stroke}" stroke-width="{bold}"/>'
    )
    for text, y, weight in ((texts[0], 23, "bold"), (texts[1], 42, "normal")):
        yield (
            f'  <text x="{middle:.1f}" y="{box.y + y:.1f}" text-anchor="middle" fill="{_TEXT}"'
            f' font-weight="{weight}">{escape_xml(text, _LABEL + 10)}</text>'
        )


def _draw_label(
    edge: PlanEdge, start: tuple[float, float], end: tuple[float, float]
) -> Iterator[str]:
    """Yield the label on a pill of its own, so that it is read on any page."""
    text = {"needs": "needs", "order": "then"}.get(edge.kind) or _shorten(", ".join(edge.labels))
    wide = len(text) * _CHAR + 16
    # Nearer to the target, where lines from one box have parted.
    x, y = start[0] + (end[0] - start[0]) * 0.6, start[1] + (end[1] - start[1]) * 0.6
    yield (
        f'  <rect x="{x - wide / 2:.1f}" y="{y - 10:.1f}" width="{wide:.1f}" height="18" rx="9"'
        f' fill="#f6f8fa" stroke="{_LINE}" stroke-width="0.5"/>'
    )
    yield (
        f'  <text x="{x:.1f}" y="{y + 3:.1f}" text-anchor="middle" fill="{_TEXT}">'
        f"{escape_xml(text, _LABEL)}</text>"
    )


def _draw_path(points: tuple[tuple[float, float], ...]) -> str:
    """Return a curve that leaves and reaches each point vertically."""
    (x, y), *rest = points
    found = [f"M{x:.1f},{y:.1f}"]
    for to_x, to_y in rest:
        middle = (y + to_y) / 2
        found.append(f"C{x:.1f},{middle:.1f} {to_x:.1f},{middle:.1f} {to_x:.1f},{to_y:.1f}")
        x, y = to_x, to_y
    return " ".join(found)


def _shorten(text: str) -> str:
    line = cut(text, None)
    return line if len(line) <= _LABEL else f"{line[: _LABEL - 1]}…"


def escape_xml(text: str, most: int) -> str:
    """Return the text for XML, of characters that XML 1.0 allows."""
    allowed = (c for c in cut(text, None)[:most] if c not in "\ufffe\uffff")
    return escape("".join(c for c in allowed if not "\ud800" <= c <= "\udfff"))
