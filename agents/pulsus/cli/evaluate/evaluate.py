"""`pulsus eval`: routing measured on requests whose right tools are known."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence, Sized
from collections.abc import Set as AbstractSet
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pulsus.cli import console
from pulsus.cli.command_session import CommandSession
from pulsus.cli.help_text import page_end
from pulsus.cli.options import common, embeddings_option, rag_option
from pulsus.errors import CalibrationRefused, EvalBelowFloor, PulsusError, UsageError

if TYPE_CHECKING:
    from pulsus.cli.evaluate.eval_report import EvalResult
    from pulsus.cli.evaluate.output_files import OutputFiles
    from pulsus.core.memory.request_index import PastRequest
    from pulsus.core.types import ToolSpec
    from pulsus.routing.evaluation.dataset import GoldenRow
    from pulsus.routing.evaluation.search_setup import SearchSetup
    from pulsus.routing.search.searcher import Searcher

NAMED = 20
"""Unknown ids listed by a warning."""
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)

EPILOG = page_end(
    "pulsus eval config/golden.jsonl --floor hit_at_1=0.75",
    "pulsus eval config/golden.jsonl --keep main.json",
    "pulsus eval config/golden.jsonl --baseline main.json --output markdown",
    "pulsus eval config/golden.jsonl --calibrate --plot reliability.svg",
    exits={
        0: "measured",
        2: "usage, settings, or calibration refused",
        3: "below a floor",
    },
)


@click.command(epilog=EPILOG)
@click.argument("queries", type=_FILE)
@click.option(
    "--catalogue",
    type=_FILE,
    metavar="TOOLS.jsonl",
    help="Rank these rows instead of the project's tools: {id, name, description, params?}, "
    "`params` a list of names.",
)
@click.option(
    "--history", type=_FILE, metavar="QUERIES.jsonl", help="Past accepted requests to remember."
)
@rag_option
@embeddings_option
@click.option(
    "--calibrate",
    is_flag=True,
    help="Fit p to these requests and write it to config/calibration.json.",
)
@click.option(
    "--force", is_flag=True, help="With --calibrate: keep the fit even if it is worse out of fold."
)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N requests.")
@click.option(
    "--floor",
    "floors",
    multiple=True,
    metavar="FIGURE=VALUE",
    help="Exit 3 if a figure is below this value, for example hit_at_1=0.8; repeatable.",
)
@click.option(
    "--baseline", type=_FILE, metavar="FILE", help="Show the change since this JSON report."
)
@click.option(
    "--keep",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Also write the JSON report to this file: the next --baseline.",
)
@click.option(
    "--plot",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Draw the reliability of p (.png or .svg); needs the extra `plot`.",
)
@common("markdown")
def command(
    session: CommandSession,
    queries: Path,
    catalogue: Path | None,
    history: Path | None,
    calibrate: bool,
    force: bool,
    limit: int | None,
    floors: tuple[str, ...],
    baseline: Path | None,
    keep: Path | None,
    plot: Path | None,
) -> None:
    """Measure ranking and policy on QUERIES: rows {query, tools: [id, …], policy?, any?}.

    `tools` are whole ids. `[]` means that nothing fits, and `any: true` that each tool alone is
    right. The code is that of `pulsus route` in a fresh checkout: past routes and feedback do not
    count, but `requests` and `intents` of manifests do.
    """
    from pulsus.cli import catalogue_warnings, console
    from pulsus.cli.evaluate.calibrate import check_enough, fit
    from pulsus.cli.evaluate.eval_report import EvalResult
    from pulsus.cli.evaluate.output_files import OutputFiles
    from pulsus.routing.evaluation import floors as held
    from pulsus.routing.evaluation.dataset import load_queries

    wanted = held.parse_floors(floors)
    then = held.load_baseline(baseline) if baseline else None
    outputs = OutputFiles(session.project, keep, plot, calibrate)
    outputs.check({"QUERIES": queries, "--catalogue": catalogue, "--history": history})
    if session.flags.get("rag_enabled") and catalogue:
        raise UsageError(
            "--rag has no meaning with --catalogue: bare rows have no docs", hint="leave out one"
        )
    rows = load_queries(queries, console.warn)[:limit]
    bench = prepare(session, catalogue, history)
    if catalogue is None:
        catalogue_warnings.show_warnings(session)
    else:
        for line in (*session.app.ranking.calibration_warnings, *session.app.ranking.hint_warnings):
            console.warn(line)
    _warn_of_unknown(rows, bench)
    if calibrate:
        check_enough(rows, bench)
    quiet = session.verbosity < 0
    report = bench.measure(rows, console.count_progress("asking, request", quiet=quiet))
    failure: PulsusError | None = None
    fitted, document = None, None
    try:
        held.check_floors(report, wanted)
    except EvalBelowFloor as below:  # what was measured is told all the same
        failure = below
    if calibrate:
        try:
            fitted, document = fit(session, rows, bench, force=force)
        except CalibrationRefused as refused:
            failure = refused
    shown = EvalResult(
        report=report,
        calibration=bench.searcher.index.calibration,
        floors=wanted,
        below=frozenset(held.figures_below_floor(report, wanted)),
        deltas=held.baseline_deltas(report, then) if then is not None else None,
        fitted=fitted,
    )
    _finish(session, shown, failure, outputs, document)


def prepare(session: CommandSession, catalogue: Path | None, history: Path | None) -> SearchSetup:
    """Return the project's catalogue, or bare rows, ready to be searched."""
    from pulsus.core.rankers.ranker import Ranker
    from pulsus.core.telemetry.ids import utc_now
    from pulsus.core.types import Catalogue
    from pulsus.routing.evaluation import dataset
    from pulsus.routing.evaluation.search_setup import SearchSetup
    from pulsus.routing.search import past_request_store
    from pulsus.routing.search.searcher import Searcher

    app = session.app
    tau = app.settings.ranker.threshold
    began = time.perf_counter()
    if catalogue is None:
        parser, searcher = app.parser(), app.searcher(past=False)
        if history:
            searcher = _remembering(session, searcher, history)
        known = frozenset(tool.id for tool in app.catalogue.tools)
        return SearchSetup(searcher, parser, known, time.perf_counter() - began, tau)
    tools = dataset.load_tools(catalogue, console.warn)
    ordered = tuple(sorted(tools, key=lambda tool: tool.id))
    past = _past(ordered, history)
    half_life = app.settings.ranker.history_half_life_days
    index = Ranker.build(
        ordered,
        app.settings.ranker,
        features=app.contributions.features,
        synonyms=app.synonyms,
        memory=past_request_store.MemoryStore(half_life, utc_now()).of(past, len(ordered)),
        calibration=app.ranking.calibration,
        dense=app.ranking.meaning(ordered, _vectors_of(catalogue, history), past),
    )
    steps = app.settings.compose.max_steps
    searcher = Searcher(Catalogue(app.workflows_root, ordered), index, {}, utc_now(), steps)
    taken = time.perf_counter() - began
    return SearchSetup(searcher, None, frozenset(tool.id for tool in tools), taken, tau)


def _remembering(session: CommandSession, searcher: Searcher, history: Path) -> Searcher:
    """Return the project's searcher that remembers these requests too, filters and all."""
    from pulsus.core.telemetry.ids import utc_now
    from pulsus.routing.search import past_request_store

    app = session.app
    tools = app.catalogue.tools
    past = _past(tools, history)
    half_life = app.settings.ranker.history_half_life_days
    memory = past_request_store.MemoryStore(half_life, utc_now()).of(past, len(tools))
    index = replace(searcher.index, memory=memory)
    if app.ranking.vectors is not None:
        index = replace(index, dense=app.ranking.meaning(tools, _vectors_of(None, history), past))
    hidden = searcher.unshadowed.hidden if searcher.unshadowed else frozenset()
    unshadowed = replace(index, hidden=hidden) if hidden else None
    return replace(searcher, index=index, unshadowed=unshadowed)


def _past(tools: Sequence[ToolSpec], history: Path | None) -> list[PastRequest]:
    """Return the past requests that a project with these tools would remember, oldest first."""
    from pulsus.core.telemetry.ids import utc_now
    from pulsus.routing.evaluation import dataset
    from pulsus.routing.search import past_request_store

    if history is None:
        return [*past_request_store.manifest_requests(tools)]
    rows = [(row.query, row.tools) for row in dataset.load_queries(history, console.warn)]
    told = {tool for _, right in rows for tool in right}
    _warn_of_missing("--history: no such tool", told, frozenset(tool.id for tool in tools))
    return [
        *past_request_store.manifest_requests(tools),
        *past_request_store.accepted_queries(rows, utc_now()),
    ]


def _vectors_of(*files: Path | None) -> str:
    """Return the name of the kept vectors of what was read from these files."""
    told = "|".join(str(file.resolve()) if file else "" for file in files)
    return f"eval-{hashlib.sha256(told.encode('utf-8', 'replace')).hexdigest()[:8]}"


def _finish(
    session: CommandSession,
    shown: EvalResult,
    failure: PulsusError | None,
    outputs: OutputFiles,
    calibration: dict[str, Any] | None,
) -> None:
    """Write the files, then the report in the form asked for, whatever became of the files.

    Ends the command with the status of what failed; a file that was not written comes first.
    """
    from pulsus.cli.evaluate import eval_json, eval_report

    try:
        outputs.write(shown, eval_json.body(shown, failure), calibration)
    except PulsusError as unwritten:
        failure, shown = unwritten, replace(shown, fitted=None)
    if session.json:
        console.document(eval_json.body(shown, failure))
        console.leave(failure)
    if session.output == "markdown":
        lines = eval_report.markdown(shown)
    else:
        lines = eval_report.text(shown, console.width())
    click.echo("\n".join(lines))
    if failure:
        raise failure


def _warn_of_unknown(rows: Sequence[GoldenRow], bench: SearchSetup) -> None:
    """Say which right answers can never be given: a mistyped, removed or denied id."""
    asked = {tool for row in rows for tool in row.tools}
    _warn_of_missing("no such tool", asked, bench.known)
    refused = {tool: why for tool, why in bench.refused().items() if tool in asked}
    if refused:
        told = [f"{tool} ({why})" for tool, why in list(refused.items())[:NAMED]]
        console.warn(f"asked for, but taken out before ranking: {', '.join(told)}{_more(refused)}")


def _warn_of_missing(what: str, asked: AbstractSet[str], known: AbstractSet[str]) -> None:
    """Name the unknown ids, each with the id that was probably meant."""
    from pulsus.routing.evaluation.dataset import nearest

    missing = sorted(asked - known)
    if missing:
        near = {tool: nearest(tool, known) for tool in missing[:NAMED]}
        told = [
            f"{tool} (did you mean {meant}?)" if meant else tool for tool, meant in near.items()
        ]
        console.warn(f"{what}: {', '.join(told)}{_more(missing)}")


def _more(found: Sized) -> str:
    return f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
