"""`pulsus tools list|show|check`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from pulsus.cli import output
from pulsus.cli.common import Session, common
from pulsus.core.telemetry.printable import strip_controls
from pulsus.errors import ValidationFailed

if TYPE_CHECKING:
    from pulsus.core.types import ToolSpec


@click.group()
def command() -> None:
    """List, show and check the catalogue. Files are read, never imported."""


@command.command("list")
@click.argument("prefix", default="")
@common()
def list_(session: Session, prefix: str) -> None:
    """List tools whose id starts with PREFIX."""
    from pulsus.cli import jsonout, warnings

    found = [t for t in session.app.catalogue.tools if t.id.startswith(prefix)]
    warnings.show(session)
    if prefix and not found:
        output.warn(f"no tool's id starts with {prefix!r}")
    if session.json:
        output.document({"tools": [jsonout.tool(t, session.project) for t in found]})
        return
    output.table(("tool", "kind", "summary"), [(t.id, t.kind, t.summary) for t in found])


@command.command()
@click.argument("tool_id", metavar="ID")
@common()
def show(session: Session, tool_id: str) -> None:
    """Show the contract of one tool: arguments, outputs, effects, examples."""
    from pulsus.cli import jsonout

    tool = session.app.tool(tool_id)
    if session.json:
        output.document(jsonout.tool(tool, session.project))
        return
    click.echo(f"{tool.id}  ({tool.kind}{'' if tool.kind_declared else ', undeclared'})")
    click.echo(f"  {_signature(tool)}\n")
    click.echo(strip_controls(tool.doc.strip()))


@command.command()
@common()
def check(session: Session) -> None:
    """Say which files are no tools and why, what is shadowed, and which contracts are incomplete.

    Exit 3 when a file under workflows/ cannot be routed to or a contract has an error.
    """
    from pulsus.cli.render import relative

    app, project = session.app, session.project
    catalogue = app.catalogue
    rows = [(relative(b.path, project), b.code, b.reason) for b in catalogue.broken]
    rows += [
        (relative(t.path, project), "CONTRACT_ERROR", error)
        for t in catalogue.tools
        for error in t.contract_errors
    ]
    failing = len(rows)
    rows += [
        (relative(s.shared, project), "SHADOWED", f"by {relative(s.domain, project)}")
        for s in catalogue.shadowed
    ]
    rows += [
        (relative(t.path, project), "INCOMPLETE", f"no section {', '.join(t.missing_sections)}")
        for t in catalogue.tools
        if t.missing_sections
    ]
    rows += [(relative(t.path, project), code, why) for t, code, why in _unpromoted(session)]
    rows += [("", "WARNING", text) for text in catalogue.warnings]
    if session.json:
        keys = ("path", "code", "reason")
        findings = [dict(zip(keys, row, strict=True)) for row in rows]
        body = {"ok": not failing, "tools": len(catalogue.tools), "findings": findings}
        output.document(body | (output.error_body(_refused(failing)) if failing else {}))
    else:
        if rows:
            output.table(("file", "code", "reason"), rows)
        click.echo(f"{len(catalogue.tools)} tools, {failing} files refused")
    raise SystemExit(3 if failing else 0)


def _unpromoted(session: Session) -> Iterator[tuple[ToolSpec, str, str]]:
    """Tools that routing finds and nothing runs: never promoted, or changed since."""
    from pulsus.core.storage import metadata

    for tool in session.app.catalogue.tools:
        record = metadata.latest(metadata.read(tool.path.parent / "metadata.jsonl"), tool.name)
        if record is None:
            yield tool, "NOT_PROMOTED", "found, but never promoted: it will not be run"
        elif record.tool_hash != f"sha256:{tool.sha256}":
            yield tool, "CHANGED", f"changed since {record.version}: promote it to run it"


def _refused(files: int) -> ValidationFailed:
    return ValidationFailed(
        f"{files} files are no tools or have a contract that cannot be read",
        hint="`findings` say which and why; docs/tool-contract.md explains the codes",
    )


def _signature(tool: ToolSpec) -> str:
    parts = []
    for arg in tool.args:
        hint = f": {arg.type_hint}" if arg.type_hint else ""
        parts.append(f"{arg.name}{hint}" + (f" = {arg.default}" if arg.default is not None else ""))
    return f"{tool.entry}({', '.join(parts)}) -> {tool.return_hint or 'unknown'}"
