"""`pulsus eval`: routing measured on requests whose right tools are known."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pulsus.cli import output
from pulsus.cli.common import Session, common
from pulsus.errors import EvalBelowFloor

if TYPE_CHECKING:
    from pulsus.cli.eval_report import Fitted, Shown
    from pulsus.core.rankers.recollection import Past
    from pulsus.core.types import Ranked, ToolSpec
    from pulsus.routing.bench import Bench
    from pulsus.routing.evaluate import EvalReport
    from pulsus.routing.golden import GoldenRow

NAMED = 20
"""Unknown ids listed by a warning."""

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)

EPILOG = """\b
Examples:
  pulsus eval config/golden.jsonl --floor hit_at_1=0.75 --floor policy_accuracy=0.8
  pulsus eval config/golden.jsonl --output markdown --baseline main.json --keep new.json
  pulsus eval config/golden.jsonl --calibrate --plot reliability.svg
"""


@click.command(epilog=EPILOG)
@click.argument("queries", type=_FILE)
@click.option(
    "--catalogue",
    type=_FILE,
    metavar="TOOLS.jsonl",
    help="Rank these rows {id, name, description, params?} instead of the project's tools.",
)
@click.option(
    "--history", type=_FILE, metavar="QUERIES.jsonl", help="Past accepted requests to remember."
)
@click.option(
    "--embeddings", is_flag=True, help="Rank by meaning too; needs the extra `embeddings`."
)
@click.option(
    "--calibrate",
    is_flag=True,
    help="Fit p to these requests and keep that in config/calibration.json.",
)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N requests.")
@click.option(
    "--floor",
    "floors",
    multiple=True,
    metavar="FIGURE=VALUE",
    help="Exit 3 when a figure is below this, e.g. hit_at_1=0.8.",
)
@click.option(
    "--baseline", type=_FILE, metavar="FILE", help="Tell the change since this JSON report."
)
@click.option(
    "--keep",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the JSON report here too, whatever is printed: the next --baseline.",
)
@click.option(
    "--plot",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Draw the reliability of p (.png or .svg); needs the extra `plot`.",
)
@common("markdown")
def command(
    session: Session,
    queries: Path,
    catalogue: Path | None,
    history: Path | None,
    embeddings: bool,
    calibrate: bool,
    limit: int | None,
    floors: tuple[str, ...],
    baseline: Path | None,
    keep: Path | None,
    plot: Path | None,
) -> None:
    """Measure ranking and policy on QUERIES: rows {query, tools: [id, …], policy?}.

    `tools: []` means that nothing fits. The same code decides here as in `pulsus route`.
    """
    from pulsus.cli.eval_report import Shown
    from pulsus.routing import floors as held
    from pulsus.routing.golden import load_queries

    wanted = held.parse_floors(floors)
    then = held.load_baseline(baseline) if baseline else None
    if plot:
        _plotting(plot)
    if embeddings:
        session.flags["embeddings_enabled"] = True
    rows = load_queries(queries)[:limit]
    bench = prepare(session, catalogue, history)
    for line in session.app.calibration_warnings:
        output.warn(line)
    _warn_of_unknown(rows, bench.known)
    report = bench.measure(rows)
    below = _below(report, wanted)
    shown = Shown(
        report=report,
        calibration=bench.searcher.index.calibration,
        floors=wanted,
        below=frozenset(held.missed(report, wanted)),
        deltas=held.deltas(report, then) if then is not None else None,
        fitted=_calibrate(session, rows, bench) if calibrate else None,
    )
    if plot:
        _draw(plot, shown)
    _print(session, shown, below, keep)


def prepare(session: Session, catalogue: Path | None, history: Path | None) -> Bench:
    """The project's catalogue, or bare rows, ready to be searched."""
    from pulsus.core.rankers.scorer import RankIndex
    from pulsus.core.telemetry.ids import utc_now
    from pulsus.core.types import Catalogue
    from pulsus.routing import golden, recall
    from pulsus.routing.bench import Bench
    from pulsus.routing.search import Searcher

    app = session.app
    tau = app.settings.ranker.threshold
    began = time.perf_counter()
    if catalogue is None and history is None:
        parser, searcher = app.parser(), app.searcher(past=False)
        known = frozenset(tool.id for tool in app.catalogue.tools)
        return Bench(searcher, parser, known, time.perf_counter() - began, tau)
    tools = golden.load_tools(catalogue) if catalogue else tuple(app.catalogue.tools)
    ordered = tuple(sorted(tools, key=lambda tool: tool.id))
    past = _past(ordered, history)
    half_life = app.settings.ranker.history_half_life_days
    index = RankIndex.build(
        ordered,
        app.settings.ranker,
        features=app.contributions.features,
        synonyms=app.synonyms,
        memory=recall.Recall(half_life, utc_now()).of(past, len(ordered)),
        calibration=app.calibration,
        dense=app.meaning(ordered, _vectors_of(catalogue, history), past),
    )
    steps = app.settings.compose.max_steps
    searcher = Searcher(Catalogue(app.workflows_root, ordered), index, {}, utc_now(), steps)
    taken = time.perf_counter() - began
    return Bench(searcher, None, frozenset(tool.id for tool in tools), taken, tau)


def _past(tools: Sequence[ToolSpec], history: Path | None) -> list[Past]:
    """What a project with these tools and past requests would remember, oldest first."""
    from pulsus.core.telemetry.ids import utc_now
    from pulsus.routing import golden, recall

    rows = [(row.query, row.tools) for row in golden.load_queries(history)] if history else []
    return [*recall.of_manifests(tools), *recall.of_queries(rows, utc_now())]


def _vectors_of(*files: Path | None) -> str:
    """The name of the kept vectors of what was read from these files."""
    told = "|".join(str(file.resolve()) if file else "" for file in files)
    return f"eval-{hashlib.sha256(told.encode('utf-8', 'replace')).hexdigest()[:8]}"


def _below(report: EvalReport, wanted: dict[str, float]) -> EvalBelowFloor | None:
    from pulsus.routing.floors import check_floors

    try:
        check_floors(report, wanted)
    except EvalBelowFloor as error:
        return error
    return None


def _calibrate(session: Session, rows: Sequence[GoldenRow], bench: Bench) -> Fitted:
    """Fit p to the rows, out of fold and whole, and keep it in the project."""
    from pulsus.cli.eval_report import Fitted
    from pulsus.core.catalogue import columns
    from pulsus.core.rankers.calibration import shipped
    from pulsus.core.telemetry.ids import utc_now
    from pulsus.routing import calibrate, calibration_file, reliability

    index, searcher = bench.searcher.index, bench.searcher

    def look(text: str, without: Collection[str]) -> Sequence[Ranked]:
        return index.rank(
            text, history=searcher.history, now=searcher.now, limit=1, without=without
        )

    def split(query: str) -> Sequence[str]:
        return [clause.text for clause in bench.search(query).subintents]

    fitted = calibrate.refit(list(calibrate.samples(rows, look, split)), shipped())
    before, after = (reliability.judge(s, bench.tau) for s in (fitted.before, fitted.after))
    stored = calibration_file.store(
        session.project,
        fitted.calibration,
        data=calibrate.data_hash(rows),
        requests=len(rows),
        tools=len(bench.known),
        catalogue=columns(index.tools).digest,
        fitted_at=utc_now(),
        figures={"before": before, "after": after},
    )
    return Fitted(
        stored,
        before,
        after,
        reliability.bins(fitted.before),
        reliability.bins(fitted.after),
        calibration_file.PLACE,
    )


def _plotting(path: Path) -> None:
    from pulsus.routing.reliability_plot import require

    require(path)


def _draw(path: Path, shown: Shown) -> None:
    from pulsus.routing.reliability_plot import draw

    curves = {"as shipped" if shown.fitted else "every request": shown.report.reliability}
    if shown.fitted:
        curves = {
            "before, out of fold": shown.fitted.bins_before,
            "after, out of fold": shown.fitted.bins_after,
        }
    draw(path, curves, tau=shown.report.tau)
    output.note(f"drawn: {path}")


def _print(session: Session, shown: Shown, below: EvalBelowFloor | None, keep: Path | None) -> None:
    """The report in the form asked for; ends the command with the floor's exit status."""
    from pulsus.cli import eval_json, eval_report

    body = eval_json.body(shown, below)
    if keep:
        eval_json.keep(keep, body)
    if session.json:
        output.document(body)
        raise SystemExit(below.exit_status if below else 0)
    lines = eval_report.markdown if session.output == "markdown" else eval_report.text
    click.echo("\n".join(lines(shown)))
    if below:
        raise below


def _warn_of_unknown(rows: Sequence[GoldenRow], known: frozenset[str]) -> None:
    """Say which right answers can never be given: a mistyped or removed id."""
    missing = sorted({tool for row in rows for tool in row.tools} - known)
    if missing:
        more = f" and {len(missing) - NAMED} more" if len(missing) > NAMED else ""
        output.warn(f"no such tool: {', '.join(missing[:NAMED])}{more}")
