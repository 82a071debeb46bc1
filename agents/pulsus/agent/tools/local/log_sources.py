"""The logs of a unit: the journal, a container's log, or log files.

`journalctl` and container logs (`docker logs`) have a timeout of 20 seconds, and a pattern is
searched in the last 20,000 lines. How many log lines are read by default is in
`agent/tools/read.py`.

Effects: reads files, asks clients.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pulsus.agent.tool_protocol import CallContext
from pulsus.agent.tools.local.local_system import LocalSystem
from pulsus.agent.tools.local.readable_files import FileRefused, read_end
from pulsus.agent.tools.local.tool_report import LINES_BEFORE
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass
from pulsus.gates.resources.resolved_resource import ResolvedResource
from pulsus.gates.tool_response import ToolResponse
from pulsus.infra.containers import EngineSilent
from pulsus.infra.inventory import CONTAINER
from pulsus.infra.local_command import failure_line, output_text

_FILES: Final = (
    "/var/log/{0}.log",
    "/var/log/{0}/{0}.log",
    "/var/log/{0}/current",
    "/var/log/{0}/error.log",
    "/var/log/{0}",
    "/var/log/supervisor/{0}.log",
)
_SYSTEM: Final = ("/var/log/syslog", "/var/log/messages", "/var/log/kern.log")
_JOURNALS: Final = ("/run/log/journal", "/var/log/journal")
_SCANNED: Final = 20_000
"""Lines that are searched for a pattern, from the end."""


@dataclass(frozen=True, slots=True)
class LogQuestion:
    """The wanted log lines: of `unit` (empty: of the system), the last `lines` that hold
    `pattern`, not before `since`."""

    unit: str
    pattern: str
    lines: int
    since: str


def read_logs(
    system: LocalSystem, target: ResolvedResource, asked: LogQuestion, context: CallContext
) -> ToolResponse:
    """Return the last log lines, with the source that they are from."""
    if target.kind == CONTAINER:
        return _read_container(system, target, asked, context)
    if _has_journal():
        return _read_journal(system, asked, context)
    return _read_file(system, asked)


def _has_journal() -> bool:
    def has_files(folder: str) -> bool:
        try:
            return next(Path(folder).glob("*/*.journal"), None) is not None
        except OSError:
            return False

    return any(has_files(each) for each in _JOURNALS)


def _read_container(
    system: LocalSystem, target: ResolvedResource, asked: LogQuestion, context: CallContext
) -> ToolResponse:
    scanned = _SCANNED if asked.pattern else asked.lines + LINES_BEFORE
    since = ("--since", asked.since) if asked.since else ()
    try:
        client = system.machine.engine.client()
    except EngineSilent as silent:
        return system.report.blocked("EXECUTION_CONTEXT_UNAVAILABLE", str(silent))
    argv = (client, "logs", "--tail", str(scanned), *since, target.uid)
    result = system.machine.commands.run(argv, seconds=20, cancellation=context.cancellation)
    if result is None or result.status != 0:
        why = failure_line(result) if result else "it cannot be started"
        return system.report.failed("EXECUTION_FAILED", f"{client} logs: {why}")
    # The engine keeps both streams of the container apart.
    text = output_text(result) + result.errors.decode("utf-8", "replace")
    return _answer(system, asked, text, f"{client} logs {target.name}")


def _read_journal(system: LocalSystem, asked: LogQuestion, context: CallContext) -> ToolResponse:
    unit = ("--unit", asked.unit) if asked.unit else ()
    since = ("--since", asked.since) if asked.since else ()
    scanned = _SCANNED if asked.pattern else asked.lines + LINES_BEFORE
    argv = ("journalctl", "--no-pager", "--quiet", "--lines", str(scanned), *unit, *since)
    result = system.machine.commands.run(argv, seconds=20, cancellation=context.cancellation)
    if result is None or result.status != 0:
        why = failure_line(result) if result else "it is not installed"
        return system.report.failed("EXECUTION_FAILED", f"journalctl: {why}")
    return _answer(system, asked, output_text(result), "journal")


def _read_file(system: LocalSystem, asked: LogQuestion) -> ToolResponse:
    if asked.since:
        return system.report.failed(
            "INVALID_INPUT",
            "logs of this machine are files, which `since` cannot select: leave it out, and use "
            "lines or pattern",
        )
    names = list(_file_names(asked.unit))
    for name in names:
        try:
            scanned = _SCANNED if asked.pattern else asked.lines + LINES_BEFORE
            found = read_end(name, scanned, system.protected)
        except FileRefused as refused:
            if refused.code in {"NOT_FOUND", "INVALID_INPUT"}:
                continue
            return system.file_refused(refused)
        if found.text is not None:
            return _answer(system, asked, found.text, found.real)
    looked: list[JsonValue] = list(names)
    what = f"unit {asked.unit!r}" if asked.unit else "the system"
    return system.report.failed(
        "NOT_FOUND",
        f"there is no log of {what} here: no journal, and none of the usual files",
        looked_at=looked,
    )


def _file_names(unit: str) -> Iterator[str]:
    if not unit:
        yield from _SYSTEM
    elif unit.startswith("/"):
        yield unit
    elif "/" not in unit and unit not in {".", ".."}:
        yield from (each.format(unit.removesuffix(".service")) for each in _FILES)


def _answer(system: LocalSystem, asked: LogQuestion, text: str, source: str) -> ToolResponse:
    lines = text.splitlines()
    if asked.pattern:
        lines = _matching(system, lines, asked.pattern.casefold())
    shown, meta = system.report.last_lines(lines, asked.lines)
    data: dict[str, JsonValue] = {
        "unit": asked.unit,
        "source": source,
        "entries": shown,
        "total": len(shown),
    }
    return system.report.success(data, meta)


def _matching(system: LocalSystem, lines: list[str], pattern: str) -> list[str]:
    """Return the lines with the pattern. They are redacted before: a line alone tells less."""
    if not any(pattern in line.casefold() for line in lines):
        return []
    known = system.report.redactor.redact_value(list(lines))
    clean = [str(line) for line in known] if isinstance(known, list) else []
    return [line for line in clean if pattern in line.casefold()]
