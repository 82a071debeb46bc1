"""The steps of a saved plan as a Mermaid flowchart. Pure.

Arrows with labels carry an output. Dashed arrows only give the order. Writes have another shape.
"""

from __future__ import annotations

from collections.abc import Iterator

from pulsus.cli.render.plan_views.plan_page import PlanPage
from pulsus.cli.render.plan_views.step_words import cut
from pulsus.core.compose.saved_plans.plan_graph import PlanEdge

_LABEL = 60
"""Characters of a label; `…` stands for the rest."""
_PLAIN = frozenset(" ./_-")


def mermaid_graph(page: PlanPage) -> str:
    """Return the flowchart. Reads without an arrow between them run at the same time."""
    return "".join(f"{line}\n" for line in _list_lines(page))


def _list_lines(page: PlanPage) -> Iterator[str]:
    yield "flowchart TD"
    # Ids of our own: `end` and others have a meaning in Mermaid.
    ids = {step.id: f"s{number}" for number, step in enumerate(page.saved.plan.steps, 1)}
    writes = page.saved.writes
    for step in page.saved.plan.steps:
        version = f"@{step.version}" if step.version else ""
        text = f"{escape_label(step.id)}<br/>{escape_label(step.tool + version)}"
        shape = f'[/"{text}<br/>WRITES"/]:::write' if step.id in writes else f'["{text}"]:::read'
        yield f"  {ids[step.id]}{shape}"
    for edge in page.graph.edges:
        yield f"  {ids[edge.source]} {_draw_arrow(edge)} {ids[edge.target]}"
    yield "  classDef read fill:#ddf4ff,stroke:#0969da,color:#1f2328"
    yield "  classDef write fill:#ffebe9,stroke:#cf222e,color:#1f2328,stroke-width:3px"


def _draw_arrow(edge: PlanEdge) -> str:
    match edge.kind:
        case "data":
            return f'-->|"{escape_label(", ".join(edge.labels))}"|'
        case "needs":
            return '-.->|"needs"|'
        case "order":
            return '-.->|"then"|'


def escape_label(text: str) -> str:
    """Return the text for a quoted label. All but letters, digits and a few become entities."""
    line = cut(text, None)
    line = line if len(line) <= _LABEL else f"{line[: _LABEL - 1]}…"
    return "".join(c if c.isalnum() or c in _PLAIN else f"#{ord(c)};" for c in line)
