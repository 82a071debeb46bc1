"""Verdicts, explanations and tables of the command gate as JSON values (docs/schemas).

If a command is allowed or blocked is decided in `commands/classify.py` and
`gates/command_policy.py`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pulsus.cli import console
from pulsus.commands.shell.refused_characters import escape_invalid
from pulsus.core.telemetry.sanitize import escape_controls
from pulsus.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from pulsus.cli.command_session import CommandSession
    from pulsus.commands.command_verdict import CallFinding, CommandVerdict, Destination
    from pulsus.commands.explain_verdict import ExplainedCall, VerdictExplanation
    from pulsus.gates.gate_answer import GateAnswer


def explained(
    session: CommandSession, command: str, target: str | None, known: Sequence[str] = ()
) -> VerdictExplanation:
    """Return the verdict on `command` by this project's tables, and why. What is offered in its
    place may run on `target`. `known` are hosts that the request named."""
    from pulsus.commands.explain_verdict import explain

    found = explain(command, session.app.commands.context)
    answer = session.app.commands.answer
    allowed = tuple(other for other in found.allowed if answer(other, target, known).allow)
    return replace(found, allowed=allowed)


def answered(
    session: CommandSession, found: CommandVerdict, target: str | None, known: Sequence[str] = ()
) -> GateAnswer:
    """Return the answer of gate and policy to a command that was judged and is to run on
    `target`."""
    from pulsus.gates.gate_answer import answer_command

    return answer_command(session.app.commands.policy, found, target, known)


def verdict(found: GateAnswer) -> dict[str, Any]:
    """Return the JSON value of the answer to one command."""
    judged = found.verdict
    return {
        "command": escape_invalid(judged.command),
        "allow": found.allow,
        **console.json_fields(judged, "intent category risk cost"),
        "destinations": list(map(destination, judged.destinations)),
        "sensitive": judged.sensitive,
        **console.json_fields(
            found,
            "policy=ruling.decision policy_rule=ruling.rule policy_setting=ruling.setting? "
            "policy_version=ruling.version decided_by",
        ),
        "reason": escape_invalid(found.reason),
        **console.json_fields(judged, "phase=reason.phase word=reason.word"),
        "rewrite": found.rewrite,
    }


def destination(found: Destination) -> dict[str, Any]:
    """Return the JSON value of a place that a command connects to."""
    return {
        "host": escape_invalid(found.host),
        **console.json_fields(found, "port program dynamic"),
        "sends": [escape_invalid(word) for word in found.sends],
    }


def details(found: GateAnswer) -> dict[str, Any]:
    """Return what an error says beside its message: who refused it, by which rule, and the code of
    a tool's envelope.
    """
    from pulsus.gates.gate_answer import describe_ruling

    reason, ruling = found.verdict.reason, found.ruling
    by_policy = found.decided_by == "policy"
    return {
        "phase": reason.phase,
        "word": ruling.rule if by_policy else reason.word,
        "rule": describe_ruling(ruling) if by_policy else reason.rule,
        **console.json_fields(
            found,
            "decided_by policy=ruling.decision policy_rule=ruling.rule "
            "policy_setting=ruling.setting? code",
        ),
    }


def format_line(body: Mapping[str, Any]) -> str:
    """Return one line of ndjson, in ASCII."""
    text = json.dumps({"schema_version": 1, **body}, separators=(", ", ": "))
    return f"{escape_controls(text)}\n"


def explanation(
    session: CommandSession, found: VerdictExplanation, said: GateAnswer
) -> dict[str, Any]:
    """Return the JSON value of the explanation."""
    from pulsus.gates.gate_answer import describe_ruling

    script = found.examined.script
    return {
        "phases": [
            {
                **console.json_fields(each, "phase answer"),
                "findings": list(map(_finding_json, each.findings)),
            }
            for each in found.phases
        ],
        "policy": {
            "answer": said.policy_answer,
            "why": describe_ruling(said.ruling),
        },
        "stages": [_call_json(session, part) for part in found.parts],
        "redirects": [
            console.json_fields(each, "fd operator target=target.text")
            for each in (script.redirects if script else ())
        ],
        "would_be_allowed": list(found.allowed),
    }


def _finding_json(finding: CallFinding) -> dict[str, Any]:
    names = "reads=is_read word=reason.word rule=reason.rule instead=reason.instead? category"
    return console.json_fields(finding, names)


def _call_json(session: CommandSession, part: ExplainedCall) -> dict[str, Any]:
    where = None if part.table is None else path(session, part.table)
    return {
        "program": part.program,
        "words": [word.text for word in part.stage.words],
        "wild": [n for n, word in enumerate(part.stage.words) if word.wild],
        "assignments": [f"{name}={value}" for name, value in part.stage.assignments],
        "piped": part.stage.fed,
        "table": where,
        "reads": part.reads,
        "findings": list(map(_finding_json, part.findings)),
    }


def path(session: CommandSession, file: Path) -> str:
    """Return the path of a table: relative to the project or the package, or absolute."""
    from pulsus.commands.program_tables.loader import SHIPPED

    for base, name in ((session.project, ""), (SHIPPED, "pulsus/commands/tables/")):
        if file.is_relative_to(base):
            return name + file.relative_to(base).as_posix()
    return file.as_posix()


def origin(session: CommandSession, file: Path) -> str:
    """Return where the table comes from: the project, a plugin or Pulsus."""
    from pulsus.commands.program_tables.loader import SHIPPED

    if file.is_relative_to(SHIPPED):
        return "shipped"
    return "project" if file.is_relative_to(session.project) else "plugin"


def origin_text(body: Mapping[str, Any]) -> str:
    """Return the origin as people read it. A table that is not approved judges nothing."""
    return f"{body['origin']}{'' if body['approved'] else ', not approved'}"


def names(session: CommandSession) -> list[str]:
    """Return every program that has a table. Raises ConfigError for a folder that cannot be
    read."""
    from pulsus.commands.program_tables.program_table import BadTable

    tables = session.app.commands.context.tables
    try:
        found = tables.names()
        for name in found[:1]:
            tables.path(name)  # a folder that can be listed may yet be closed
    except BadTable as error:
        raise ConfigError(
            str(error), hint="make it readable, or move it away: no command is a read until then"
        ) from None
    return found


def program(session: CommandSession, name: str) -> dict[str, Any]:
    """Return one program of the list. Raises ConfigError if its table cannot be read."""
    file, raw = _raw_table(session, name)
    other = str(raw["same_as"]) if "same_as" in raw else None
    return {
        "program": name,
        "origin": origin(session, file),
        "approved": not session.app.commands.context.tables.refusal(file),
        "path": path(session, file),
        "same_as": other,
        "summary": _table_summary(session, raw, other),
    }


def _table_summary(session: CommandSession, raw: Mapping[str, object], other: str | None) -> str:
    """Return what a table says of its program; that of the shared table for one that shares it."""
    shared = ""
    if other:
        shared = f" (same table as {other})"
        try:
            _, raw = _raw_table(session, other)
        except (ConfigError, UsageError):
            return f"its table is that of {other}, which cannot be read"
    shown = raw.get("examples")
    reads = isinstance(shown, Mapping) and shown.get("allowed")
    refused = "always refused: " if not reads and ("category" in raw or "never" in raw) else ""
    return f"{refused}{raw.get('summary', '')}{shared}"


def table(session: CommandSession, name: str) -> dict[str, Any]:
    """Return the table of one program. Raises UsageError, ConfigError."""
    body = program(session, name)
    shown = str(body["same_as"] or name)
    file, raw = _raw_table(session, shown)
    return body | {
        "same_as_path": path(session, file) if body["same_as"] else None,
        "source": str(raw.get("source", "")),
        "table": json.loads(json.dumps(raw, default=str)),
        "text": file.read_text(encoding="utf-8"),
    }


def _raw_table(session: CommandSession, name: str) -> tuple[Path, Mapping[str, object]]:
    from pulsus.commands.program_tables.loader import parsed
    from pulsus.commands.program_tables.program_table import BadTable

    tables = session.app.commands.context.tables
    try:
        file = tables.path(name)
        if file is None:
            from pulsus.core.text.similar_names import did_you_mean  # only on this error path

            otherwise = (
                "`pulsus commands list` has the programs that are known; one more is a table "
                "in config/commands/ of the project"
            )
            raise UsageError(
                f"no table says what {name!r} reads with: every call of it is refused",
                hint=did_you_mean(name, names(session), otherwise),
            )
        return file, parsed(file)
    except BadTable as error:
        raise ConfigError(str(error), hint="`pulsus commands check` says more") from None
