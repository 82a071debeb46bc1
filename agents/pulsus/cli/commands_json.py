"""Verdicts, explanations and tables of the command gate as JSON values (docs/schemas)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pulsus.core.telemetry.printable import escape_controls
from pulsus.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from pulsus.cli.session import Session
    from pulsus.commands.explain import Explanation, Part
    from pulsus.commands.verdict import CommandVerdict, Finding
    from pulsus.gates.command_policy import Ruling


def explained(session: Session, command: str) -> Explanation:
    """The verdict on `command` by this project's tables, and why."""
    from pulsus.commands.explain import explain

    return explain(command, session.app.commands.context)


def verdict(session: Session, found: CommandVerdict, target: str | None = None) -> dict[str, Any]:
    """What is said of one command that is to run on `target`: what it is, and the policy."""
    from pulsus.gates.command_policy import may_read

    ruling = session.app.commands.policy.evaluate(found.command, target, found)
    allow = may_read(found, ruling)
    against = f"{found.command}: {_held(ruling)}"
    return {
        "command": found.command,
        "allow": allow,
        "intent": found.intent,
        "category": found.category,
        "risk": found.risk,
        "sensitive": found.sensitive,
        "policy": ruling.decision,
        "policy_rule": ruling.rule,
        "policy_version": ruling.version,
        "reason": against if found.allow and not allow else str(found.reason),
        "phase": found.reason.phase,
        "word": found.reason.word,
        "rewrite": found.rewrite,
    }


def _held(ruling: Ruling) -> str:
    """Why the policy does not let a read run."""
    from pulsus.gates.command_policy import UNKNOWN

    if ruling.rule == UNKNOWN:
        return "no pattern that the policy allows is about it (`@read` allows reads)"
    return f"the policy's {ruling.rule} says {ruling.decision}"


def line(body: Mapping[str, Any]) -> str:
    """One line of ndjson, of ASCII alone."""
    text = json.dumps({"schema_version": 1, **body}, separators=(", ", ": "))
    return f"{escape_controls(text)}\n"


def explanation(session: Session, found: Explanation) -> dict[str, Any]:
    """How the verdict came about."""
    script = found.examined.script
    return {
        "phases": [
            {
                "phase": each.phase,
                "answer": each.answer,
                "findings": list(map(_found, each.findings)),
            }
            for each in found.phases
        ],
        "stages": [_part(session, part) for part in found.parts],
        "redirects": [
            {"fd": each.fd, "operator": each.operator, "target": each.target.text}
            for each in (script.redirects if script else ())
        ],
        "would_be_allowed": list(found.allowed),
    }


def _found(finding: Finding) -> dict[str, Any]:
    return {
        "reads": finding.is_read,
        "word": finding.reason.word,
        "rule": finding.reason.rule,
        "instead": finding.reason.instead or None,
        "category": finding.category,
    }


def _part(session: Session, part: Part) -> dict[str, Any]:
    where = None if part.table is None else path(session, part.table)
    return {
        "program": part.program,
        "words": [word.text for word in part.stage.words],
        "wild": [n for n, word in enumerate(part.stage.words) if word.wild],
        "assignments": [f"{name}={value}" for name, value in part.stage.assignments],
        "piped": part.stage.fed,
        "table": where,
        "reads": part.reads,
        "findings": list(map(_found, part.findings)),
    }


def path(session: Session, file: Path) -> str:
    """Where a table lies: in the project, in the package, or somewhere else."""
    from pulsus.commands.tables import SHIPPED

    for base, name in ((session.project, ""), (SHIPPED, "pulsus/commands/tables/")):
        if file.is_relative_to(base):
            return name + file.relative_to(base).as_posix()
    return file.as_posix()


def origin(session: Session, file: Path) -> str:
    """Who says what the table says."""
    from pulsus.commands.tables import SHIPPED

    if file.is_relative_to(SHIPPED):
        return "shipped"
    return "project" if file.is_relative_to(session.project) else "plugin"


def program(session: Session, name: str) -> dict[str, Any]:
    """One program of the list. Raises ConfigError where its table cannot be read."""
    file, raw = _raw(session, name)
    other = str(raw["same_as"]) if "same_as" in raw else None
    return {
        "program": name,
        "origin": origin(session, file),
        "path": path(session, file),
        "same_as": other,
        "summary": f"as {other}" if other else str(raw.get("summary", "")),
    }


def table(session: Session, name: str) -> dict[str, Any]:
    """Everything that is known of one program. Raises UsageError, ConfigError."""
    body = program(session, name)
    shown = str(body["same_as"] or name)
    file, raw = _raw(session, shown)
    return body | {
        "same_as_path": path(session, file) if body["same_as"] else None,
        "source": str(raw.get("source", "")),
        "table": json.loads(json.dumps(raw, default=str)),
        "text": file.read_text(encoding="utf-8"),
    }


def _raw(session: Session, name: str) -> tuple[Path, Mapping[str, object]]:
    from pulsus.commands.table import BadTable
    from pulsus.commands.tables import parsed

    tables = session.app.commands.context.tables
    try:
        file = tables.path(name)
        if file is None:
            raise UsageError(
                f"no table says what {name!r} reads with: every call of it is refused",
                hint="`pulsus commands list` has the programs that are known; docs/commands.md "
                "says how to add one",
            )
        return file, parsed(file)
    except BadTable as error:
        raise ConfigError(str(error), hint="`pulsus commands check` says more") from None
