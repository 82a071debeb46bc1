"""`pulsus tools list|show|check|adopt|remove`.

Tools are found in `routing/tool_discovery.py`. The JSON of a tool is made in
`cli/render/outcome_json.py`, and its docstring is folded by `cli/line_folding.py`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from pulsus.cli import console
from pulsus.cli.catalogue import adopt_command, remove_command, tools_check_command
from pulsus.cli.command_session import CommandSession
from pulsus.cli.completed_words import complete_tools
from pulsus.cli.help_text import page_end
from pulsus.cli.line_folding import fold_docstring
from pulsus.cli.options import common
from pulsus.core.telemetry.sanitize import strip_controls

if TYPE_CHECKING:
    from pulsus.core.types import ToolSpec


GROUP = page_end(
    "pulsus tools list storage/",
    "pulsus tools show storage/usage/disk_usage",
)
LIST = page_end(
    "pulsus tools list",
    "pulsus tools list storage/",
    exits={0: "listed", 2: "usage or settings"},
)
SHOW = page_end(
    "pulsus tools show storage/usage/disk_usage",
    "pulsus tools show disk_usage --output json",
    exits={0: "shown", 2: "usage, settings, or no such tool"},
)


@click.group(epilog=GROUP)
def command() -> None:
    """List, show, check and change the catalogue. Files are read, never imported."""


@command.command("list", epilog=LIST)
@click.argument("prefix", default="", shell_complete=complete_tools)
@common()
def list_(session: CommandSession, prefix: str) -> None:
    """List tools whose id starts with PREFIX."""
    from pulsus.cli import command_warnings

    found = [t for t in session.app.catalogue.tools if t.id.startswith(prefix)]
    command_warnings.show_warnings(session)
    catalogue = session.app.catalogue
    if not catalogue.tools and not catalogue.broken and session.verbosity >= 0:
        console.note("the catalogue is empty: `pulsus init` copies the starter tools")
    elif prefix and not found:
        console.warn(f"no tool's id starts with {prefix!r}; {_suggest_prefix(session, prefix)}")
    if session.json:
        console.document({"tools": [_body(session, tool) for tool in found]})
        return
    rows = [(t.id, t.kind, _summary(session, t)) for t in found]
    columns = console.width()
    if columns:
        # One line for each tool: `tools show` has the rest.
        before = [
            max((len(text) for text in column), default=0) for column in zip(*rows, strict=True)
        ]
        room = max(columns - sum(before[:-1]) - 4, 12)
        rows = [(n, kind, _short(text, room)) for n, kind, text in rows]
    if rows:
        console.table(("tool", "kind", "summary"), rows)


def _suggest_prefix(session: CommandSession, prefix: str) -> str:
    """Return the hint with the ids, and the beginnings of ids, that are similar to a prefix."""
    from pulsus.core.text.similar_names import did_you_mean  # only on this error path

    ids = {tool.id for tool in session.app.catalogue.tools}
    places = {"/".join(own.split("/")[:count]) for own in ids for count in (1, 2)}
    otherwise = "`pulsus tools list` shows every id"
    return did_you_mean(prefix.rstrip("/"), sorted(ids | places), otherwise)


@command.command(epilog=SHOW)
@click.argument("tool_id", metavar="ID", shell_complete=complete_tools)
@common()
def show(session: CommandSession, tool_id: str) -> None:
    """Show a tool's contract: arguments, outputs, effects, examples."""
    tool = session.app.tool(tool_id)
    if session.json:
        console.document(_body(session, tool))
        return
    note = session.app.past.deprecations.note(tool.id)
    if note:
        console.warn(note)
    refusal = _refusal(session, tool)
    if refusal:
        console.warn(f"not routed to: {refusal}")
    console.echo(f"{tool.id}  ({tool.kind}{'' if tool.kind_declared else ', undeclared'})")
    columns = console.width()
    from pulsus.routing.maintenance.staleness import get_owner

    console.echo(f"  {_signature(tool)}", columns)
    for line in _describe_action(
        tool, get_owner(tool, session.app.past.shown_records.get(tool.id))
    ):
        console.echo(f"  {line}", columns)
    click.echo()
    doc = strip_controls(tool.doc.strip())
    for line in fold_docstring(doc, columns) if columns else doc.split("\n"):
        click.echo(line)


command.add_command(tools_check_command.check)
command.add_command(adopt_command.adopt)
command.add_command(remove_command.remove)


def _body(session: CommandSession, tool: ToolSpec) -> dict[str, Any]:
    """Return the tool, and what its last promotion record says of it."""
    from pulsus.cli.render import outcome_json
    from pulsus.routing.maintenance.staleness import get_owner

    record = session.app.past.shown_records.get(tool.id)
    deprecated = record is not None and record.deprecated
    return outcome_json.tool(tool, session.project) | {
        "version": record.version if record else None,
        "owner": get_owner(tool, record),
        "deprecated": {"replacement": record.replacement, "sunset": record.sunset}
        if record and deprecated
        else None,
    }


def _describe_action(tool: ToolSpec, owner: str | None) -> Iterator[str]:
    """Yield one line for each fact about a tool that acts: its target, check, reverse and owner."""
    if tool.target:
        yield f"acts on {', '.join(tool.target)}"
    if tool.verify:
        yield f"verified by {tool.verify.tool}"
    elif tool.kind == "write":
        yield "verified by no tool: it declares no `Verify:`"
    if tool.undo:
        yield f"undone by {tool.undo.tool}"
    if tool.approval:
        yield f"approval {tool.approval}"
    if owner:
        yield f"owner {owner}"


def _summary(session: CommandSession, tool: ToolSpec) -> str:
    record = session.app.past.shown_records.get(tool.id)
    denied = "[denied] " if _refusal(session, tool) else ""
    gone = f"[deprecated: use {record.replacement}] " if record and record.deprecated else ""
    return f"{denied}{gone}{tool.summary}"


def _short(text: str, room: int) -> str:
    return textwrap.shorten(text, room, placeholder="…", break_on_hyphens=False)


def _refusal(session: CommandSession, tool: ToolSpec) -> str | None:
    """Return why the settings exclude the tool from routing; None if they do not."""
    from pulsus.routing.search.access_filter import access_filter

    limits = access_filter(session.app.settings.access)
    return limits.refusal(tool) if limits else None


def _signature(tool: ToolSpec) -> str:
    parts = []
    for arg in tool.args:
        hint = f": {arg.type_hint}" if arg.type_hint else ""
        parts.append(f"{arg.name}{hint}" + (f" = {arg.default}" if arg.default is not None else ""))
    return f"{tool.entry}({', '.join(parts)}) -> {tool.return_hint or 'unknown'}"
