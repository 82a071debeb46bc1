"""Facts for tests of the knowledge base."""

from datetime import UTC, datetime, timedelta

from pulsus.kb.fact_base import FactBase
from pulsus.kb.facts_document import FactDefaults, parse_document

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
DEFAULTS = FactDefaults(NOW - timedelta(seconds=30))


def ago(seconds):
    """Return the ISO time so many seconds before NOW."""
    return (NOW - timedelta(seconds=seconds)).isoformat()


def facts_of(document, source="cluster.yaml"):
    """Return the facts of a document as one source."""
    return parse_document(document, source, DEFAULTS)


def base_of(*documents):
    """Return the facts of documents, each a source of its own."""
    rows = [facts_of(each, f"source{n}") for n, each in enumerate(documents)]
    return FactBase([fact for facts in rows for fact in facts])


def nodes(*names, **fields):
    """Return rows of nominal nodes."""
    return [{"name": name, "health": "nominal", **fields} for name in names]


def links(*rows):
    """Return rows of links from tuples (a, b, cost)."""
    return [{"a": a, "b": b, "cost": cost} for a, b, cost in rows]


SQUARE = {
    "nodes": [*nodes("pve1", "pve2", "pve4", rack="r1"), {"name": "pve3", "health": "degraded"}],
    "links": links(
        ("pve1", "pve2", 1), ("pve2", "pve4", 1), ("pve1", "pve3", 1), ("pve3", "pve4", 1)
    ),
}
"""Four nodes in a square, of which one is degraded."""
