"""`pulsus eval`: routing measured on requests whose right tools are known."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pulsus.cli import output
from pulsus.cli.common import Session, common
from pulsus.core.telemetry.printable import one_line
from pulsus.errors import EvalBelowFloor

if TYPE_CHECKING:
    from pulsus.core.types import Ranked
    from pulsus.routing.evaluate import EvalReport
    from pulsus.routing.golden import GoldenRow
    from pulsus.routing.search import Search

SHOWN = 20
"""Failures listed as text; JSON has them all."""

FIGURES = (
    "hit_at_1",
    "recall_at_5",
    "ndcg_at_10",
    "mrr",
    "policy_accuracy",
    "compose_exact",
    "ece",
    "precision_at_tau",
    "coverage_at_tau",
    "out_of_catalogue_below_tau",
)


@click.command()
@click.argument("queries", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--catalogue",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="TOOLS.jsonl",
    help="Rank these rows {id, name, description, params?} instead of the project's tools.",
)
@click.option(
    "--history",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="QUERIES.jsonl",
    help="Past accepted requests.",
)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N requests.")
@click.option(
    "--floor",
    "floors",
    multiple=True,
    metavar="FIGURE=VALUE",
    help="Exit 3 when a figure is below this, e.g. hit_at_1=0.8.",
)
@common()
def command(
    session: Session,
    queries: Path,
    catalogue: Path | None,
    history: Path | None,
    limit: int | None,
    floors: tuple[str, ...],
) -> None:
    """Measure ranking and policy on QUERIES: rows {query, tools: [id, …], policy?}.

    `tools: []` means that nothing fits. The same code decides here as in `pulsus route`.

    \b
    Example:
      pulsus eval config/golden.jsonl --floor hit_at_1=0.75 --floor policy_accuracy=0.8
    """
    from pulsus.routing.evaluate import check_floors, parse_floors, to_json

    wanted = parse_floors(floors)
    report = measure(session, queries, catalogue, history, limit)
    below = None
    try:
        check_floors(report, wanted)
    except EvalBelowFloor as error:
        below = error
    if session.json:
        failed = output.error_body(below) if below else {}
        output.document({"ok": below is None, **to_json(report), **failed})
        raise SystemExit(below.exit_status if below else 0)
    click.echo("\n".join(_lines(report)))
    if below:
        raise below


def measure(
    session: Session, queries: Path, catalogue: Path | None, history: Path | None, limit: int | None
) -> EvalReport:
    """The report on the first `limit` rows of `queries`."""
    from pulsus.routing import evaluate, golden
    from pulsus.routing.unbuilt import require_built

    settings = session.app.settings
    require_built(rag=settings.rag_enabled, embeddings=settings.embeddings_enabled)
    rows = golden.load_queries(queries)[:limit]
    began = time.perf_counter()
    search, known = _search(session, catalogue, history)
    _warn_of_unknown(rows, known)
    index_seconds = time.perf_counter() - began
    found: dict[str, Search] = {}

    def rank(query: str) -> Sequence[Ranked]:
        found[query] = search(query)
        return found[query].candidates

    return evaluate.evaluate(
        rows,
        rank,
        lambda query, _: found[query].choice,
        tau=settings.ranker.threshold,
        tools=len(known),
        index_seconds=index_seconds,
        seconds=time.perf_counter,
    )


def _search(
    session: Session, catalogue: Path | None, history: Path | None
) -> tuple[Callable[[str], Search], frozenset[str]]:
    """How a request is searched for, and the ids it is searched among."""
    from pulsus.core.rankers.scorer import RankIndex
    from pulsus.core.telemetry.ids import utc_now
    from pulsus.core.types import Catalogue, ParsedIntent
    from pulsus.routing import golden
    from pulsus.routing.search import Searcher

    app = session.app
    past = golden.load_remembered(history) if history else {}
    if catalogue is None and not past:
        parser, searcher = app.parser(), app.searcher()
        known = frozenset(tool.id for tool in app.catalogue.tools)
        return lambda query: searcher.search(parser.parse(query)), known
    tools = golden.load_tools(catalogue) if catalogue else app.catalogue.tools
    index = RankIndex.build(
        tools,
        app.settings.ranker,
        features=app.contributions.features,
        synonyms=app.synonyms,
        remembered=past,
    )
    steps = app.settings.compose.max_steps
    searcher = Searcher(Catalogue(app.workflows_root, tools), index, {}, utc_now(), steps)
    # Bare rows have no folders to parse a request into: the whole catalogue is searched.
    known = frozenset(tool.id for tool in tools)
    return lambda query: searcher.search(ParsedIntent(None, None, query, 0.0)), known


def _warn_of_unknown(rows: Sequence[GoldenRow], known: frozenset[str]) -> None:
    """Say which right answers can never be given: a mistyped or removed id."""
    missing = sorted({tool for row in rows for tool in row.tools} - known)
    if missing:
        more = f" and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
        output.warn(f"no such tool: {', '.join(missing[:SHOWN])}{more}")


def _lines(report: EvalReport) -> Iterator[str]:
    yield f"{report.queries} requests, {report.tools} tools, τ={report.tau:.2f}"
    for name in FIGURES:
        value = getattr(report, name)
        if value is not None:
            yield f"  {name:<28} {value:.3f}"
    typical, worst = report.query_ms_p50 or 0, report.query_ms_p99 or 0
    yield f"  {'query_ms_p50 / p99':<28} {typical:.1f} / {worst:.1f}"
    if report.failures:
        yield f"{len(report.failures)} failures:"
    for failure in report.failures[:SHOWN]:
        expected = " + ".join(failure.expected) or "nothing"
        got = " + ".join(failure.got[:3]) or "nothing"
        query = one_line(failure.query, 80)
        yield f"  {query!r}: expected {expected}, got {got} (p {failure.p:.2f})"
    if len(report.failures) > SHOWN:
        yield f"  and {len(report.failures) - SHOWN} more: --output json lists all"
