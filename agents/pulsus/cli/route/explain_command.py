"""`pulsus explain`: the decision on a request and why, without acting on it.

The decision is that of `routing/route_preview.py`, and `routing/search/why_not.py` explains a tool
that was not chosen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from pulsus.cli import console
from pulsus.cli.command_session import CommandSession
from pulsus.cli.completed_words import complete_tools
from pulsus.cli.help_text import page_end
from pulsus.cli.options import common, embeddings_option, kind_option, rag_option
from pulsus.cli.render.validation_text import relative
from pulsus.core.telemetry.sanitize import strip_controls
from pulsus.errors import ToolNotFound

if TYPE_CHECKING:
    from pulsus.core.types import BrokenTool, RouteOutcome, SubIntent, ToolSpec
    from pulsus.routing.search.search_result import SearchResult
    from pulsus.routing.search.searcher import Searcher
    from pulsus.routing.search.why_not import WhyNot

EPILOG = page_end(
    'pulsus explain "which disks are nearly full"',
    'pulsus explain "which disks are nearly full" --why-not memory_summary',
    exits={0: "explained", 2: "usage, settings, or no such tool"},
)


@click.command(epilog=EPILOG)
@click.argument("request", nargs=-1, required=True)
@click.option(
    "--why-not",
    "about",
    metavar="TOOL",
    shell_complete=complete_tools,
    help="Say why TOOL was not chosen.",
)
@rag_option
@embeddings_option
@kind_option
@common()
def command(
    session: CommandSession,
    request: tuple[str, ...],
    about: str | None,
) -> None:
    """Show how REQUEST would be decided, with every number behind it.

    Nothing runs, nothing is asked and nothing is written. With --why-not it shows the smallest
    reason why that tool was not chosen, and what would change the decision.
    """
    from pulsus.cli import command_warnings
    from pulsus.cli.render import explain_table, outcome_json, outcome_text
    from pulsus.cli.render.inputs_text import input_lines

    app = session.app
    wanted = _wanted(session, about) if about else None
    outcome, answer = _explained(session, " ".join(request), wanted)
    command_warnings.show_warnings(session)
    calibration = app.ranking.index.calibration
    if session.json:
        body: dict[str, Any] = outcome_json.outcome(outcome, session.project, calibration)
        del body["run_id"]
        console.document(body | ({"why_not": outcome_json.why_not(answer)} if answer else {}))
        return
    width = console.width()
    if answer:
        lines: Iterator[str] = explain_table.why_not_lines(answer, width)
    else:
        notes = outcome_text.note_lines(outcome.notes)
        missed = outcome.decision.policy == "generate"
        near = outcome_text.nearest_tools(outcome) if missed else ()
        detailed = session.verbosity > 0
        explained = outcome_text.explain(outcome, calibration, width, detailed=detailed)
        lines = chain(explained, input_lines(outcome), near, notes)
    for line in lines:
        console.echo(strip_controls(line), width)


def _explained(
    session: CommandSession, request: str, wanted: ToolSpec | BrokenTool | None
) -> tuple[RouteOutcome, WhyNot | None]:
    """Return the decision, and the answer about the tool asked for."""
    from pulsus.core.types import BrokenTool
    from pulsus.routing.route_preview import preview_route
    from pulsus.routing.search import why_not

    app = session.app
    seen = preview_route(app, request, datetime.now().astimezone())
    outcome, found, searcher = seen.outcome, seen.found, seen.searcher
    if wanted is None:
        return outcome, None
    if isinstance(wanted, BrokenTool):
        return outcome, why_not.because_broken(wanted, relative(wanted.path, session.project))
    access = searcher.ranking.access
    refusal = access.refusal(wanted) if access else None
    if refusal:
        return outcome, why_not.because_filtered(wanted, refusal)
    if all(ranked.tool.id != wanted.id for ranked in found.choice.chosen):
        note = app.past.deprecations.note(wanted.id)
        if note:
            return outcome, why_not.because_deprecated(wanted, note)
    # Searched again with the tool in sight: the decision shown is the one without it.
    again = searcher.search(outcome.intent, include=(wanted.id,), hinted=seen.hinted)
    answer = why_not.why_not(
        wanted,
        replace(found, candidates=again.candidates),
        app.catalogue,
        app.ranking.index.calibration,
        tau=outcome.tau,
        subintents=_with(wanted, found, searcher),
        request=seen.text,
    )
    return outcome, answer


def _with(tool: ToolSpec, found: SearchResult, searcher: Searcher) -> tuple[SubIntent, ...]:
    """Return the clauses of a composition, the tool ranked in each."""
    if found.choice.policy != "compose":
        return ()
    clauses = []
    for clause in found.subintents:
        candidates = clause.candidates
        if all(ranked.tool.id != tool.id for ranked in candidates):
            again = searcher.ranking.rank_clause(clause.text, include=(tool.id,))
            candidates = (*candidates, *(r for r in again if r.tool.id == tool.id))
        clauses.append(replace(clause, candidates=candidates))
    return tuple(clauses)


def _wanted(session: CommandSession, ref: str) -> ToolSpec | BrokenTool:
    """Return the tool or broken file `ref` means. Raises ToolNotFound, ToolAmbiguous."""
    app = session.app
    try:
        return app.tool(ref)
    except ToolNotFound:
        name = ref.removesuffix("::run").removesuffix("::main").removesuffix(".py")
        for broken in app.catalogue.broken:
            if _means(name, broken, session):
                return broken
        raise


def _means(name: str, broken: BrokenTool, session: CommandSession) -> bool:
    from pulsus.routing.discovery.tool_path import ToolPath, parse_tool_path

    root = session.app.catalogue.root
    inside = broken.path.relative_to(root).parts if broken.path.is_relative_to(root) else ()
    found = parse_tool_path(inside)
    return name == broken.path.stem or (isinstance(found, ToolPath) and found.id == name)
