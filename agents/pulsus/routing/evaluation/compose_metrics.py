"""Compare composed plans with known ones: nodes, edges, exact plans. Pure.

Precision and recall of tools and edges make an F1 score, with a 95 % confidence interval.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pulsus.core.compose.tool_chains.past_plans import Edge
from pulsus.routing.evaluation.compose_cases import ComposeCase

FIGURES = ("node_f1", "edge_f1", "exact")
_COUNTS = (
    *("nodes_right", "nodes_found", "nodes_wanted"),
    *("edges_right", "edges_found", "edges_wanted", "exact_rows"),
)
_SEED, _DRAWS, _TAIL = 20250101, 2000, 2.5

Answer = tuple[Sequence[str], Collection[Edge]]
"""The tools of a plan in order, and its edges as positions in it."""


@dataclass(frozen=True, slots=True)
class ComposeFigure:
    """A fraction with its 95 % interval, by a bootstrap over rows with a fixed seed.

    All three are None if nothing could be counted, such as edges of plans without edges.
    """

    name: str
    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class ComposeFailure:
    """A row whose plan is not exact. Edges are (source tool, target tool), in order."""

    line: int
    query: str
    expected: tuple[str, ...]
    got: tuple[str, ...]
    expected_edges: tuple[tuple[str, str], ...]
    got_edges: tuple[tuple[str, str], ...]
    what: str


@dataclass(frozen=True, slots=True)
class ComposeReport:
    """Figures, the counts behind them, and the failures in file order."""

    figures: tuple[ComposeFigure, ...]
    counts: dict[str, int]
    failures: tuple[ComposeFailure, ...]

    def value(self, name: str) -> float | None:
        """Return one figure."""
        return next(figure.value for figure in self.figures if figure.name == name)


def measure(cases: Sequence[ComposeCase], answers: Sequence[Answer]) -> ComposeReport:
    """Return the report on the answers, one for each case.

    `node_f1` and `edge_f1` are micro F1: hits, found and wanted are summed over all rows. A tool
    that occurs twice counts twice. `exact` is the share of rows with the same tools in order and
    the same edges.
    """
    rows, failures = [], []
    for case, (tools, edges) in zip(cases, answers, strict=True):
        found, wanted = Counter(tools), Counter(case.tools)
        got, right = _name_edges(tools, edges), _name_edges(case.tools, case.edges)
        exact = tuple(tools) == case.tools and set(edges) == case.edges
        rows.append(
            [
                *((found & wanted).total(), found.total(), wanted.total()),
                *((got & right).total(), got.total(), right.total()),
                int(exact),
            ]
        )
        if not exact:
            failures.append(_describe_failure(case, tools, got, right))
    counts = np.array(rows, dtype=np.float64)
    total = counts.sum(0).astype(int)
    return ComposeReport(
        _compute_figures(counts),
        {"rows": len(rows)} | dict(zip(_COUNTS, map(int, total), strict=True)),
        tuple(failures),
    )


def _name_edges(tools: Sequence[str], edges: Collection[Edge]) -> Counter[tuple[str, str]]:
    return Counter((tools[first], tools[second]) for first, second in edges)


def _compute_figures(counts: NDArray[np.float64]) -> tuple[ComposeFigure, ...]:
    draws = np.random.default_rng(_SEED).integers(0, len(counts), (_DRAWS, len(counts)))
    drawn = counts[draws].sum(1)
    whole = counts.sum(0)[None, :]

    def f1(sums: NDArray[np.float64], at: int) -> NDArray[np.float64]:
        size = sums[:, at + 1] + sums[:, at + 2]
        found: NDArray[np.float64] = np.where(
            size > 0, 2 * sums[:, at] / np.maximum(size, 1), np.nan
        )
        return found

    figures = []
    for name in FIGURES:
        at = {"node_f1": 0, "edge_f1": 3}.get(name)
        value = f1(whole, at)[0] if at is not None else whole[0, 6] / len(counts)
        spread = f1(drawn, at) if at is not None else drawn[:, 6] / len(counts)
        if np.isnan(value):
            figures.append(ComposeFigure(name, None, None, None))
            continue
        low, high = np.nanpercentile(spread, [_TAIL, 100 - _TAIL])
        figures.append(ComposeFigure(name, float(value), float(low), float(high)))
    return tuple(figures)


def _describe_failure(
    case: ComposeCase,
    tools: Sequence[str],
    got: Counter[tuple[str, str]],
    right: Counter[tuple[str, str]],
) -> ComposeFailure:
    if Counter(tools) != Counter(case.tools):
        what = "tools"
    elif tuple(tools) != case.tools:
        what = "order"
    else:
        what = "edges"
    return ComposeFailure(
        case.line,
        case.query,
        case.tools,
        tuple(tools),
        tuple(sorted(right.elements())),
        tuple(sorted(got.elements())),
        what,
    )
