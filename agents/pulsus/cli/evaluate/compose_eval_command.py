"""`pulsus compose-eval`: composition measured on requests whose plans are known.

The figures are computed in `routing/evaluation/compose_metrics.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pulsus.cli import console
from pulsus.cli.command_session import CommandSession
from pulsus.cli.evaluate.prepare_search import build_engine, prepare, vectors_of
from pulsus.cli.help_text import page_end
from pulsus.cli.options import GivenFile, common
from pulsus.cli.render.unknown_tools import warn_of_missing
from pulsus.errors import EvalBelowFloor, PulsusError

if TYPE_CHECKING:
    from pulsus.routing.evaluation.compose_cases import ComposeCase
    from pulsus.routing.evaluation.compose_setup import AnswerCase

_FILE = GivenFile()

EPILOG = page_end(
    "pulsus compose-eval plans.jsonl",
    "pulsus compose-eval plans.jsonl --catalogue tools.jsonl --history past.jsonl",
    "pulsus compose-eval plans.jsonl --gold-tools --floor edge_f1=0.9",
    notes=(
        """A row of CASES, on one line (broken here to fit). Its steps have one edge:
  {"query": "biggest files in /var as a table", "plan": [
   {"tool": "storage/usage/biggest_files", "args": {"folder": "/var"},
    "label": "s1"},
   {"tool": "shared/report/markdown_table", "args": {"rows": "$s1.rows$"},
    "label": "s2"}]}""",
    ),
    exits={0: "measured", 2: "usage, settings, or an invalid row", 3: "below a floor"},
)


@click.command(epilog=EPILOG)
@click.argument("cases", type=_FILE)
@click.option(
    "--catalogue",
    type=_FILE,
    metavar="TOOLS.jsonl",
    help="Compose these rows instead of the project's tools: {id, name, description, params?, "
    "outputs?}, both lists of names.",
)
@click.option(
    "--history",
    type=_FILE,
    metavar="CASES.jsonl",
    help="Past requests with their plans, to learn from: rows as in CASES.",
)
@click.option(
    "--gold-tools",
    is_flag=True,
    help="Give the tools of each plan in order, and measure only the edges between them.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    metavar="N",
    help="List at most N failures. [default: 20, JSON all]",
)
@click.option(
    "--floor",
    "floors",
    multiple=True,
    metavar="FIGURE=VALUE",
    help="Exit 3 if a figure is below this value, for example node_f1=0.7; repeatable.",
)
@common()
def command(
    session: CommandSession,
    cases: Path,
    catalogue: Path | None,
    history: Path | None,
    gold_tools: bool,
    limit: int | None,
    floors: tuple[str, ...],
) -> None:
    """Measure plans on CASES: requests whose right plan is known.

    CASES has one row of JSON a line: {query, plan: [{tool, args, label}]}. A step that uses a
    result of an earlier step says so by an argument `$label.field$`: that is an edge.

    `node_f1` says how well the tools agree over all rows, from 0 to 1, and `edge_f1` how well the
    edges do. `exact` is the share of rows with the same tools in order and the same edges.

    Without --catalogue each request is planned as `pulsus route` does it. With --catalogue the
    given tools are used, and outputs go to inputs whose names fit.
    """
    from pulsus.cli.evaluate import compose_report
    from pulsus.routing.evaluation import compose_cases, compose_metrics
    from pulsus.routing.evaluation import floors as held

    wanted = held.parse_floors(floors, compose_metrics.FIGURES)
    rows = compose_cases.load_cases(cases, console.warn)
    past = compose_cases.load_cases(history, console.warn) if history else ()
    answer, known = (
        _prepare_bare(session, catalogue, history, past, gold_tools=gold_tools)
        if catalogue
        else _prepare_project(session, history, past, gold_tools=gold_tools)
    )
    asked = compose_cases.unknown_tools(rows, known)
    warn_of_missing("no such tool", asked, known)
    if history:
        lost = compose_cases.unknown_tools(past, known)
        warn_of_missing("--history: no such tool, so its plans do not count", lost, known)
    told = console.count_progress("composing, request", quiet=session.verbosity < 0)
    answers = []
    for number, case in enumerate(rows, start=1):
        answers.append(answer(case))
        if told:
            told(number, len(rows))
    report = compose_metrics.measure(rows, answers)
    figures = {figure.name: figure.value for figure in report.figures}
    low = held.values_below_floor(figures, wanted)
    failure: PulsusError | None = None
    try:
        held.check_values(low, wanted)
    except EvalBelowFloor as below:  # the report is printed all the same
        failure = below
    shown = compose_report.ComposeResult(
        report=report,
        tools=len(known),
        past=sum(known.issuperset(case.tools) for case in past),
        gold_tools=gold_tools,
        dangling=sum(case.dangling for case in rows),
        ambiguous=sum(case.is_ambiguous for case in rows),
        floors=wanted,
        below=frozenset(low),
        limit=limit,
    )
    if session.json:
        console.document(compose_report.to_json(shown, failure))
        console.leave(failure)
    click.echo("\n".join(compose_report.to_text(shown, console.width())))
    if failure:
        raise failure


def _prepare_bare(
    session: CommandSession,
    catalogue: Path,
    history: Path | None,
    past: Sequence[ComposeCase],
    *,
    gold_tools: bool,
) -> tuple[AnswerCase, frozenset[str]]:
    """Return what answers a row from bare tools, and their ids."""
    from pulsus.core.compose.tool_chains.chain_composer import ChainComposer
    from pulsus.routing.evaluation import compose_cases, compose_setup

    specs, table = compose_cases.load_signatures(catalogue, console.warn)
    engine = build_engine(session, specs, (), vectors_of(catalogue, history))
    composer = ChainComposer.of(table, compose_setup.rank_texts(engine))
    composer = compose_setup.remember_cases(composer, past)
    answer = compose_setup.answer_by_names(composer, gold_tools=gold_tools)
    return answer, frozenset(table.place)


def _prepare_project(
    session: CommandSession,
    history: Path | None,
    past: Sequence[ComposeCase],
    *,
    gold_tools: bool,
) -> tuple[AnswerCase, frozenset[str]]:
    """Return what answers a row from the project's own tools, and their ids."""
    from pulsus.cli import command_warnings
    from pulsus.routing.evaluation import compose_setup

    bench = prepare(session, None, history, lambda _: [(c.query, c.tools) for c in past])
    command_warnings.show_warnings(session)
    tools = {tool.id: tool for tool in session.app.catalogue.tools}
    steps = session.app.settings.compose.max_steps
    answer = compose_setup.answer_by_types(bench, tools, max_steps=steps, gold_tools=gold_tools)
    return answer, frozenset(tools)
