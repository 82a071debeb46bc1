"""`pulsus eval`: routing measured on requests whose right tools are known.

The figures are computed in `routing/evaluation/eval_metrics.py`, and thresholds (`--floor`)
compared in `routing/evaluation/floors.py`. Rows are read in `routing/evaluation/dataset.py`, and
files written by `cli/evaluate/output_files.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pulsus.cli import console
from pulsus.cli.command_session import CommandSession
from pulsus.cli.evaluate.prepare_search import prepare
from pulsus.cli.help_text import page_end
from pulsus.cli.options import GivenFile, common, embeddings_option, rag_option
from pulsus.cli.render.unknown_tools import NAMED, and_more, warn_of_missing
from pulsus.errors import CalibrationRefused, EvalBelowFloor, PulsusError, UsageError

if TYPE_CHECKING:
    from pulsus.cli.evaluate.eval_report import EvalResult
    from pulsus.cli.evaluate.output_files import OutputFiles
    from pulsus.routing.evaluation.dataset import GoldenRow, InvalidQuery
    from pulsus.routing.evaluation.search_setup import SearchSetup

_FILE = GivenFile()

EPILOG = page_end(
    "pulsus eval config/golden.jsonl --floor hit_at_1=0.75",
    "pulsus eval config/golden.jsonl --keep main.json",
    "pulsus eval config/golden.jsonl --baseline main.json --output markdown",
    "pulsus eval my_requests.jsonl --calibrate --plot reliability.svg",
    notes=(
        """Rows of QUERIES:
  {"query": "disk full?", "tools": ["storage/usage/disk_usage"]}
  {"query": "order a pizza", "tools": []}""",
        """--calibrate needs at least 30 requests, and refuses a fit that is worse than
the one in use: add requests of your own to those of config/golden.jsonl.""",
    ),
    exits={
        0: "measured",
        2: "usage, settings, an invalid row, or calibration refused",
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
    help="Fit p, the probability that a tool is right, to these requests, and write it to "
    "config/calibration.json.",
)
@click.option(
    "--force",
    is_flag=True,
    help="With --calibrate: keep the fit even if it is worse on requests that it has not seen.",
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
    help="Also write the JSON report to this file: the next --baseline. It replaces only a report.",
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
    """Measure how often routes are right, on QUERIES whose right tools are known.

    QUERIES has one row of JSON a line: {query, tools: [id, …], policy?, any?, inputs?}. `tools` are
    whole ids: [] means that no tool fits, and `any: true` that each of them alone is right.
    `policy` is the right kind of answer: select, compose or generate. `inputs` are the values that
    the request should fill. An invalid row is named with its line, and the others are measured.

    Requests are decided as `pulsus route` decides them in a fresh checkout: past routes and
    feedback do not count. A value that a route would only propose counts as missing.
    """
    from pulsus.cli import command_warnings, console
    from pulsus.cli.evaluate.calibrate_command import check_enough, fit
    from pulsus.cli.evaluate.eval_report import EvalResult
    from pulsus.cli.evaluate.output_files import OutputFiles
    from pulsus.routing.evaluation import floors as held
    from pulsus.routing.evaluation.dataset import read_queries
    from pulsus.routing.prompt_parser import validate_request

    wanted = held.parse_floors(floors)
    then = held.load_baseline(baseline) if baseline else None
    outputs = OutputFiles(session.project, keep, plot, calibrate)
    outputs.check({"QUERIES": queries, "--catalogue": catalogue, "--history": history})
    if session.flags.get("rag_enabled") and catalogue:
        raise UsageError(
            "--rag has no meaning with --catalogue: bare rows have no docs", hint="leave out one"
        )
    limit_chars = session.app.settings.parser.max_request_chars
    check = None if catalogue else partial(validate_request, max_chars=limit_chars)
    valid, invalid = read_queries(queries, console.warn, check)
    rows = valid[:limit]
    if calibrate and invalid:
        raise _invalid_rows(queries, len(valid), invalid)
    bench = prepare(session, catalogue, history)
    if catalogue is None:
        command_warnings.show_warnings(session)
    else:
        for line in (*session.app.ranking.calibration_warnings, *session.app.ranking.hint_warnings):
            console.warn(line)
    _warn_of_unknown(rows, bench)
    _warn_of_inputs(rows, bench)
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
    if invalid:
        failure = _invalid_rows(queries, len(valid), invalid)
    if calibrate:
        try:
            fitted, document = fit(session, rows, bench, force=force)
        except CalibrationRefused as refused:
            failure = refused
    shown = EvalResult(
        report=report,
        calibration=bench.searcher.ranking.index.calibration,
        floors=wanted,
        below=frozenset(held.figures_below_floor(report, wanted)),
        deltas=held.baseline_deltas(report, then) if then is not None else None,
        fitted=fitted,
        invalid=invalid,
    )
    _finish(session, shown, failure, outputs, document)


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


def _invalid_rows(queries: Path, valid: int, invalid: Sequence[InvalidQuery]) -> UsageError:
    """Return the error of a file in which some rows cannot be asked."""
    first, rows = invalid[0], valid + len(invalid)
    return UsageError(
        f"{len(invalid)} of {console.counted(rows, 'row')} of {queries} "
        f"{'is' if len(invalid) == 1 else 'are'} invalid, the first in line {first.line}: "
        f"{first.message}",
        hint=first.hint,
        lines=[row.line for row in invalid],
    )


def _warn_of_inputs(rows: Sequence[GoldenRow], bench: SearchSetup) -> None:
    """Say which wanted inputs can never be filled: no tool of the row has them."""
    asked = [row for row in rows if row.inputs]
    if asked and bench.fill is None:
        console.warn("inputs are not measured with --catalogue: its parameters have no types")
        return
    by_id = {tool.id: tool for tool in bench.searcher.ranking.catalogue.tools}
    for row in asked:
        tools = [by_id[each] for each in row.tools if each in by_id]
        known = {arg.name for tool in tools for arg in tool.args}
        for name in row.inputs or {}:
            if tools and name.rpartition(".")[2] not in known:
                said = ", ".join(sorted(known)) or "none"
                console.warn(f"{row.query[:60]!r}: no tool of the row has the input {name}: {said}")


def _warn_of_unknown(rows: Sequence[GoldenRow], bench: SearchSetup) -> None:
    """Say which right answers can never be given: a mistyped, removed or denied id."""
    asked = {tool for row in rows for tool in row.tools}
    warn_of_missing("no such tool", asked, bench.known)
    refused = {tool: why for tool, why in bench.refused().items() if tool in asked}
    if refused:
        told = [f"{tool} ({why})" for tool, why in list(refused.items())[:NAMED]]
        listed = ", ".join(told) + and_more(refused)
        console.warn(f"asked for, but taken out before ranking: {listed}")
