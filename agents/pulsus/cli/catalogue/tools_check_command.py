"""`pulsus tools check`: what is wrong with the catalogue, and what to do about it.

Duplicate and broken tools are found in `routing/maintenance/catalogue_check.py`, unused ones in
`routing/maintenance/unused_tools.py`, unreachable ones in
`routing/maintenance/ranking_conflicts.py`, stale ones in `routing/maintenance/staleness.py`. The
level (severity) of a finding is set where it is found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pulsus.cli import console
from pulsus.cli.command_session import CommandSession
from pulsus.cli.help_text import page_end
from pulsus.cli.options import GivenFile, common
from pulsus.cli.render.validation_text import relative
from pulsus.core.telemetry.sanitize import strip_controls
from pulsus.errors import ValidationFailed

if TYPE_CHECKING:
    from pulsus.core.types import ToolSpec
    from pulsus.routing.evaluation.dataset import GoldenRow
    from pulsus.routing.maintenance.catalogue_check import CatalogueFinding, Level
    from pulsus.routing.maintenance.ranking_conflicts import FirstTool, ReachabilityResult

NAMES: dict[Level, str] = {"error": "error", "warning": "warning", "info": "note"}

_MANY, _NAMED = 4, 3
"""From this many equal findings they are one row on a terminal, which names the first few."""
WIDE = 120
"""Columns from which a table of findings is easier to read than a list."""

GOLDEN = Path("config/golden.jsonl")

EPILOG = page_end(
    "pulsus tools check",
    "pulsus tools check --strict --output github",
    "pulsus tools check --golden config/golden.jsonl --unused-days 90",
    "pulsus tools check --stale 180 --output json",
    exits={0: "no errors", 2: "usage or settings", 3: "errors (--strict: or warnings)"},
)


@click.command(epilog=EPILOG)
@click.option(
    "--golden",
    type=GivenFile(),
    metavar="FILE",
    help="Requests and their right tools: shows which tool wins the requests of another one. "
    f"[default: {GOLDEN}]",
)
@click.option(
    "--unused-days",
    type=click.IntRange(min=1),
    metavar="N",
    help="Report tools older than N days that no route used in the last N days.",
)
@click.option(
    "--stale",
    type=click.IntRange(1, 36500),
    metavar="DAYS",
    help="Report tools that did not run for DAYS days, have no owner, or call a step that changed.",
)
@click.option("--strict", is_flag=True, help="Exit 3 for warnings too.")
@common("github")
def check(
    session: CommandSession,
    golden: Path | None,
    unused_days: int | None,
    stale: int | None,
    strict: bool,
) -> None:
    """Find broken files, and duplicate, unreachable or unused tools.

    Pulsus searches the catalogue with the words of each tool, and with the golden requests if there
    are any, and names the tools that are not found. It is an error if a file cannot be a tool, a
    contract is wrong, or a tool contradicts itself.
    """
    found = _findings(session, golden, unused_days)
    if stale is not None:
        found = _worst_first([*found, *_stale(session, stale)])
    failing = [f for f in found if f.level == "error" or (strict and f.level == "warning")]
    refusal = _refused(len(failing)) if failing else None
    if session.json:
        body = _document(session, found, ok=refusal is None)
        console.end_document(body, refusal)
    elif session.output == "github":
        for finding in found:
            click.echo(_annotation(finding, session.project))
    else:
        _tell(session, found)
    console.leave(refusal)


def _findings(
    session: CommandSession, golden: Path | None, unused_days: int | None
) -> list[CatalogueFinding]:
    """Return every finding, the worst first."""
    from pulsus.core.memory import past_routes
    from pulsus.core.storage.records import promotion_records
    from pulsus.core.telemetry.ids import utc_now
    from pulsus.routing.maintenance import (
        catalogue_check,
        ranking_conflicts,
        shared_intents,
        similar_descriptions,
        unused_tools,
    )

    tell = console.line_progress(quiet=session.verbosity < 0)
    tell("checking the catalogue: each tool is searched with its own words …")
    app = session.app
    latest = {r.tool_id: r for r in promotion_records.read_all(app.workflows_root)}
    found = catalogue_check.check_catalogue(app.catalogue, latest, app.project)
    found += catalogue_check.find_git_ignored(app.catalogue, app.project, app.workflows_root)
    first = _first(session)
    hidden = {found.shared for found in app.catalogue.shadowed}
    tools = [tool for tool in app.catalogue.tools if tool.path not in hidden]
    tools = [tool for tool in tools if tool.id not in app.past.deprecations.records]
    asked, faults = _golden(session, golden)
    found += faults
    found += ranking_conflicts.reachability_findings(_probed(session, asked, tools, first))
    tell("comparing the intents and the texts of the tools …")
    found += ranking_conflicts.intent_collisions(shared_intents.find_shared_intents(tools), first)
    found += similar_descriptions.similar_text_findings(tools, found)
    past = past_routes.load_routes(app.state_dir)
    found += unused_tools.find_unused(
        app.catalogue.tools,
        unused_tools.last_used(past, latest),
        {tool: record.created for tool, record in latest.items()},
        now=utc_now(),
        days=unused_days,
    )
    return _worst_first(found)


def _worst_first(found: Sequence[CatalogueFinding]) -> list[CatalogueFinding]:
    from pulsus.routing.maintenance.catalogue_check import LEVELS

    return sorted(found, key=lambda f: (LEVELS.index(f.level), f.code, str(f.path)))


def _stale(session: CommandSession, days: int) -> list[CatalogueFinding]:
    """Return tools that do not run, that have no owner, or whose steps changed."""
    from pulsus.core.memory import last_runs
    from pulsus.core.telemetry.ids import utc_now
    from pulsus.routing.maintenance import staleness

    app = session.app
    tools = [tool for tool in app.catalogue.tools if tool.id not in app.past.deprecations.records]
    runs = last_runs.read_runs(app.state_dir)
    return [
        *staleness.find_not_run(tools, runs, app.past.latest, now=utc_now(), days=days),
        *staleness.find_unowned(tools, app.past.latest),
        *staleness.find_moved_steps(app.workflows_root, app.catalogue.tools),
    ]


def _golden(
    session: CommandSession, given: Path | None
) -> tuple[tuple[GoldenRow, ...], list[CatalogueFinding]]:
    """Return the golden requests, and what is wrong with their file."""
    from pulsus.core.types import CatalogueWarning
    from pulsus.routing.evaluation.dataset import load_queries
    from pulsus.routing.maintenance import catalogue_check, ranking_conflicts

    path = given or session.app.project / GOLDEN
    if not (given or path.exists()):
        return (), []
    warnings: list[str] = []
    rows = load_queries(path, warnings.append)
    known = frozenset(tool.id for tool in session.app.catalogue.tools)
    return rows, [
        *(catalogue_check.warning_finding(CatalogueWarning(text, path)) for text in warnings),
        *ranking_conflicts.unknown_tool_findings(rows, path, known),
    ]


def _probed(
    session: CommandSession,
    asked: Sequence[GoldenRow],
    tools: Sequence[ToolSpec],
    first: FirstTool,
) -> list[ReachabilityResult]:
    """Return every tool asked for; with progress on a terminal."""
    from pulsus.routing.maintenance import ranking_conflicts

    told = console.count_progress("asking for each tool", quiet=session.verbosity < 0)
    if told:
        told(0, len(tools))
    probing = ranking_conflicts.probe_tools(tools, first, ranking_conflicts.golden_texts(asked))
    found: list[ReachabilityResult] = []
    for one in probing:
        found.append(one)
        if told:
            told(len(found), len(tools))
    return found


def _first(session: CommandSession) -> FirstTool:
    """Return a function that finds the first tool for a text, without the influence of past routes.

    If ranking alone puts the wanted tool first, the full search is skipped.
    """
    app = session.app
    parser = app.parser()
    searcher = app.searcher(past=False)
    ranking = replace(searcher.ranking, access=None)
    searcher = replace(searcher, ranking=ranking)
    index = ranking.unshadowed or ranking.index

    def first(text: str, wanted: str) -> str | None:
        ranked = index.rank(text, limit=1)
        if ranked and ranked[0].tool.id == wanted:
            return wanted
        found = searcher.search(parser.parse(text)).candidates
        return found[0].tool.id if found else None

    return first


def _document(
    session: CommandSession, found: Sequence[CatalogueFinding], *, ok: bool
) -> dict[str, Any]:
    return {
        "ok": ok,
        "tools": len(session.app.catalogue.tools),
        "findings": [
            {
                "path": _where(finding, session.project),
                **console.json_fields(finding, "code reason level tools evidence fix"),
            }
            for finding in found
        ],
    }


def _tell(session: CommandSession, found: Sequence[CatalogueFinding]) -> None:
    """A table of what was found, what to do about each kind, and the totals; notes with -v."""
    counts = Counter(f.level for f in found)
    shown = [f for f in found if f.level != "info" or session.verbosity > 0]
    if shown:
        rows = [(NAMES[f.level], f.code, _about(f, session.project), f.reason) for f in shown]
        grouped = console.width() is not None and session.verbosity <= 0
        _listed(_grouped(rows) if grouped else rows, console.width())
        click.echo()
        console.table(("code", "what to do"), _advice(shown, grouped=grouped))
        click.echo()
    more = "" if session.verbosity > 0 or not counts["info"] else " (-v lists them)"
    totals = (console.counted(counts[level], name) for level, name in NAMES.items())
    tools = console.counted(len(session.app.catalogue.tools), "tool")
    console.echo(f"{tools}, {', '.join(totals)}{more}")


def _grouped(rows: Sequence[tuple[str, str, str, str]]) -> list[tuple[str, str, str, str]]:
    """Return one row for many findings that say the same of different tools; others as they are."""
    same: dict[tuple[str, str, str], list[str]] = {}
    for level, code, about, reason in rows:
        same.setdefault((level, code, reason), []).append(about)
    found = []
    for (level, code, reason), abouts in same.items():
        if len(abouts) < _MANY:
            found += [(level, code, about, reason) for about in abouts]
            continue
        named = ", ".join(abouts[:_NAMED])
        rest = f" and {len(abouts) - _NAMED} more (-v lists them)"
        found.append((level, code, f"{len(abouts)} times", f"{reason}: {named}{rest}"))
    return found


def _advice(found: Sequence[CatalogueFinding], *, grouped: bool) -> list[tuple[str, str]]:
    """Return what to do about each code; of many commands for one code the first if `grouped`."""
    fixes: dict[str, list[str]] = {}
    for code, fix in sorted({(finding.code, finding.fix) for finding in found}):
        fixes.setdefault(code, []).append(fix)
    rows = []
    for code, every in fixes.items():
        many = grouped and len(every) >= _MANY
        rows += [(code, fix) for fix in (every[:1] if many else every)]
        if many:
            rows.append((code, f"and {len(every) - 1} more like it (-v lists them)"))
    return rows


def _listed(rows: Sequence[tuple[str, str, str, str]], width: int | None) -> None:
    """The findings as a table, or below each other on a terminal too narrow to hold an id whole."""
    if width is None or width >= WIDE:
        console.table(("level", "code", "tool or file", "reason"), rows)
        return
    from pulsus.cli.render.explain_table import wrapped

    for level, code, about, reason in rows:
        console.echo(strip_controls(f"{level} {code}  {about}"))
        text = strip_controls(reason).replace("\n", " ")
        console.echo("\n".join(wrapped(text, width, indent="    ")))


def _about(finding: CatalogueFinding, project: Path) -> str:
    return finding.tools[0] if finding.tools else _where(finding, project)


def _where(finding: CatalogueFinding, project: Path) -> str:
    return relative(finding.path, project) if finding.path else ""


def _annotation(finding: CatalogueFinding, project: Path) -> str:
    """Return a workflow command of GitHub Actions; `%`, line breaks and separators are escaped."""
    kind = "notice" if finding.level == "info" else finding.level
    where = f"file={_property(_where(finding, project))}," if finding.path else ""
    text = f"{finding.reason} — {finding.fix}"
    return f"::{kind} {where}title={_property(finding.code)}::{_escaped(text)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def _refused(findings: int) -> ValidationFailed:
    return ValidationFailed(
        f"{console.counted(findings, 'finding')} in the catalogue",
        hint="`findings` say what and why, and what to do; docs/guides/check-a-catalogue.md of "
        "Pulsus",
    )
