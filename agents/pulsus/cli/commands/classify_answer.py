"""The answer of `pulsus commands classify` to one command.

If a command is allowed is decided in `commands/classify.py` and `gates/command_policy.py`.

`classify COMMAND` and nothing else, as agents and hooks ask for each command, does without the
command line's library, which takes longer to load than the gate to judge. Any other form, and
every mistake in this one, is for `cli/commands/commands_command.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pulsus.cli import console
from pulsus.cli.line_folding import fold_line
from pulsus.core.telemetry.sanitize import strip_controls
from pulsus.errors import Aborted, CommandRefused, PulsusError

if TYPE_CHECKING:
    from pulsus.cli.command_session import CommandSession
    from pulsus.commands.explain_verdict import VerdictExplanation
    from pulsus.gates.gate_answer import GateAnswer

_FORMS = {"text", "json", "ndjson"}


def run(args: Sequence[str]) -> int | None:
    """Answer `classify COMMAND`; None if the line takes more to understand.

    Raises PulsusError.
    """
    asked = _simple_question(args)
    if asked is None:
        return None
    from pulsus.cli.command_session import CommandSession, current_project, tell_project
    from pulsus.cli.command_warnings import listen
    from pulsus.config.enclosing_project import ignored_enclosing_project

    listen()
    project = current_project()
    session = CommandSession(project, asked[1], 0)
    if ignored_enclosing_project(project) is not None or _has_plugins(session):
        return None  # both may have something to say first
    tell_project(project)
    try:
        return answer(session, asked[0], None, (), explain=False, warnings=[])
    except KeyboardInterrupt:
        raise Aborted("aborted; nothing was changed") from None


def _has_plugins(session: CommandSession) -> bool:
    from pulsus.cli.command_session import tell_project

    try:
        return session.app.has_plugins
    except PulsusError:
        tell_project(session.project)  # whose settings are wrong
        raise


def _simple_question(args: Sequence[str]) -> tuple[str, str] | None:
    """Return the command and the form of the answer, if the line says nothing else."""
    import os

    rest, form = list(args), "text"
    if len(rest) > 2 and rest[0] == "--output" and rest[1] in _FORMS:
        form, rest = rest[1], rest[2:]
    elif len(rest) > 2 and rest[-2] == "--output" and rest[-1] in _FORMS and rest[0] != "--":
        form, rest = rest[-1], rest[:-2]
    if len(rest) == 2 and rest[0] == "--":
        return None if "_PULSUS_COMPLETE" in os.environ else (rest[1], form)
    if len(rest) != 1 or rest[0].startswith("-") or "_PULSUS_COMPLETE" in os.environ:
        return None
    return rest[0], form


def answer(
    session: CommandSession,
    text: str,
    target: str | None,
    known: tuple[str, ...],
    *,
    explain: bool,
    warnings: list[str],
) -> int:
    """Print the answer to one command, and return the exit status."""
    from pulsus.cli.commands import verdict_json, verdict_text

    found = verdict_json.explained(session, text, target, known)
    said = verdict_json.answered(session, found.verdict, target, known)
    body = verdict_json.verdict(said)
    if warnings:
        body["warnings"] = warnings
    if explain:
        body["explanation"] = verdict_json.explanation(session, found, said)
    refusal = None if said.allow else _refused_error(session, said, found)
    if session.output == "ndjson":
        console.result(verdict_json.format_line({"id": None, **body}))
    elif session.json:
        document = {"ok": refusal is None, "id": None, **body}
        console.document(document | (console.error_body(refusal) if refusal else {}))
    else:
        shown = verdict_text.explanation(found, said, session.project) if explain else ()
        hint = refusal.hint if refusal else ""
        for row in (*verdict_text.verdict(said, found.parts, hint, explain=explain), *shown):
            columns = console.width()
            line = strip_controls(row)
            console.result(f"{fold_line(line, columns) if columns else line}\n")
    return refusal.exit_status if refusal else 0


def _refused_error(
    session: CommandSession, said: GateAnswer, explained: VerdictExplanation
) -> CommandRefused:
    """Return the error of a command that may not run as a read."""
    from pulsus.cli.commands import verdict_json, verdict_text

    origin = session.app.origin(said.ruling.setting or "policy.allow")
    hint = verdict_text.way_out(said, origin, explained)
    return CommandRefused(said.reason, hint=hint, **verdict_json.details(said))
