"""Find tools with almost the same description (`pulsus tools check`). Pure.

Duplicates by bytes or name are found in `routing/maintenance/catalogue_check.py`, tools that take
each other's requests in `routing/maintenance/ranking_conflicts.py`. A new module that repeats a
tool is found in `approvals/known_modules.py`.

Ranking may still tell two such tools apart today, by their golden requests or a single word. People
who choose between them cannot, and the next one of their kind makes it worse. Imports scikit-learn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from pulsus.core.rankers.spec.features import DocKeywords, plain_name
from pulsus.core.types import ToolSpec
from pulsus.routing.maintenance.catalogue_check import CatalogueFinding

ALIKE = 0.75
"""Cosine from which two tools are near-duplicates. In the shipped catalogue no pair comes above
0.58. A copy under another name comes to 0.99, with another summary to 0.78 (docs/benchmarks.md)."""

_SHOWN = 8
"""Shared words that a finding names."""

_SAID = frozenset({"SAME_BYTES", "NEAR_DUPLICATE", "INTENT_COLLISION"})
"""Findings that already tell of a pair."""


def description(tool: ToolSpec) -> str:
    """Return the text of a tool that is compared: its name, its summary and its whole docstring.

    The summary is the first line of the docstring too, so its words count twice.
    """
    return f"{plain_name(tool.name)}\n{tool.summary}\n{tool.doc}"


def _are_counterparts(one: ToolSpec, other: ToolSpec) -> bool:
    """Return True for a write and its reverse or its check: they share their words on purpose."""
    return any(
        call is not None and call.tool == theirs.id
        for own, theirs in ((one, other), (other, one))
        for call in (own.verify, own.undo)
    )


def similar_text_findings(
    tools: Iterable[ToolSpec], known: Sequence[CatalogueFinding] = ()
) -> Iterator[CatalogueFinding]:
    """Yield each pair of tools whose tf-idf cosine reaches `ALIKE`, the most similar pair first.

    Pairs of `known` findings are left out, and pairs of which one verifies or undoes the other. So
    are compositions: Pulsus writes their docstrings, and
    all of these are alike.
    """
    told = {
        frozenset(pair)
        for finding in known
        if finding.code in _SAID
        for pair in combinations(finding.tools, 2)
    }
    compared = sorted((t for t in tools if not t.composed), key=lambda tool: tool.id)
    keywords = DocKeywords.of([description(tool) for tool in compared])
    pairs = sorted(keywords.similar_pairs(ALIKE), key=lambda pair: (-pair[2], pair[:2]))
    for first, second, cosine in pairs:
        one, other = compared[first], compared[second]
        if frozenset((one.id, other.id)) in told or _are_counterparts(one, other):
            continue
        words = keywords.shared_words(first, second, _SHOWN)
        yield CatalogueFinding(
            "SIMILAR_TEXT",
            "warning",
            one.path,
            (one.id, other.id),
            f"its name and docstring are almost those of {other.id} (cosine {cosine:.2f}): "
            f"{', '.join(words)}",
            "merge the two, or say in each docstring what the other does not do",
            words,
        )
