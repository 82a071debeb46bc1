"""The report of `pulsus compose-eval` as text and as JSON. Pure.

The figures come from `routing/evaluation/compose_metrics.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from pulsus.cli import console
from pulsus.cli.console import counted
from pulsus.cli.render.explain_table import wrapped
from pulsus.core.telemetry.sanitize import one_line
from pulsus.errors import PulsusError
from pulsus.routing.evaluation.compose_metrics import ComposeFailure, ComposeReport

SHOWN = 20
"""Failures listed as text without --limit. JSON then has them all."""


@dataclass(frozen=True, slots=True)
class ComposeResult:
    """The report with its settings. `past` counts the past plans, `limit` the failures to list."""

    report: ComposeReport
    tools: int
    past: int
    gold_tools: bool
    dangling: int
    ambiguous: int
    floors: Mapping[str, float] = field(default_factory=dict)
    below: frozenset[str] = frozenset()
    limit: int | None = None


def to_json(shown: ComposeResult, failure: PulsusError | None) -> dict[str, Any]:
    """Return the document's keys. `failure` ends the command."""
    report = shown.report
    rounded = {f.name: None if f.value is None else round(f.value, 4) for f in report.figures}
    spread = {
        f.name: None if f.low is None or f.high is None else [round(f.low, 4), round(f.high, 4)]
        for f in report.figures
    }
    failed = console.error_body(failure) if failure else {}
    return {
        "ok": failure is None,
        **rounded,
        "intervals": spread,
        "requests": report.counts["rows"],
        "tools": shown.tools,
        "past_plans": shown.past,
        "gold_tools": shown.gold_tools,
        "counts": report.counts
        | {"dangling_references": shown.dangling, "repeated_labels": shown.ambiguous},
        "floors": dict(shown.floors),
        "failed": len(report.failures),
        "failures": [_failure_json(one) for one in report.failures[: shown.limit]],
        **failed,
    }


def to_text(shown: ComposeResult, width: int | None) -> Iterator[str]:
    """Yield lines for a person; none is wider than the terminal, if there is one."""
    for line in _lines(shown):
        indent = " " * (len(line) - len(line.lstrip()))
        yield from wrapped(line[len(indent) :], width, indent)


def _lines(shown: ComposeResult) -> Iterator[str]:
    report = shown.report
    counts = report.counts
    memory = f", {counted(shown.past, 'past plan')}" if shown.past else ""
    given = ", tools given" if shown.gold_tools else ""
    yield (
        f"{counted(counts['rows'], 'request')}, {counted(shown.tools, 'tool')}{memory}{given}: "
        f"{counted(counts['nodes_wanted'], 'step')}, {counted(counts['edges_wanted'], 'edge')}"
    )
    if shown.dangling:
        yield f"  {counted(shown.dangling, 'reference')} to no earlier step: no edge"
    if shown.ambiguous:
        yield f"  {counted(shown.ambiguous, 'plan')} with one label twice: the later step counts"
    for figure in report.figures:
        name = f"  {figure.name:<10}"
        if figure.value is None:
            yield f"{name}not measured: the rows and the plans have none"
            continue
        floor = shown.floors.get(figure.name)
        mark = ", below" * (figure.name in shown.below)
        told = "" if floor is None else f"  (floor {floor:g}{mark})"
        yield f"{name}{figure.value:.3f}  95 % interval {figure.low:.3f} to {figure.high:.3f}{told}"
    yield from _failure_lines(report.failures, SHOWN if shown.limit is None else shown.limit)


def _failure_lines(failures: Sequence[ComposeFailure], limit: int) -> Iterator[str]:
    if failures:
        yield f"{counted(len(failures), 'failure')}:"
    for one in failures[:limit]:
        yield f"  line {one.line}, {one.what}: {one_line(one.query, 80)!r}"
        yield f"    expected {_plan(one.expected, one.expected_edges)}"
        yield f"    got      {_plan(one.got, one.got_edges)}"
    if len(failures) > limit:
        yield f"  and {len(failures) - limit} more: raise --limit"


def _plan(tools: Sequence[str], edges: Sequence[tuple[str, str]]) -> str:
    steps = ", ".join(tools) or "no tool"
    joined = ", ".join(f"{source} → {target}" for source, target in edges)
    return f"{steps}; {joined or 'no edge'}"


def _failure_json(one: ComposeFailure) -> dict[str, Any]:
    found = asdict(one)
    for name in ("expected", "got"):
        found[name] = list(found[name])
        found[f"{name}_edges"] = [list(edge) for edge in found[f"{name}_edges"]]
    return found
