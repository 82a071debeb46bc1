"""Streaming of a run: its events as lines of JSON, or as a live view for a person.

It limits how many rows and characters of arguments, messages and results are shown. Events
are made in `agent/agent_events.py`.

Effect: writes stdout and stderr. Text that a model streams is not shown before the answer is
final: until then it may be withdrawn.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pulsus.agent.agent_events import AgentEvent
from pulsus.agent.answers.run_facts import NOTE_MARK, told_in_short
from pulsus.cli import console
from pulsus.cli.results.result_lines import ResultView, result_lines
from pulsus.core.telemetry.sanitize import one_line, strip_controls
from pulsus.core.text.plurals import counted
from pulsus.core.types import JsonValue

_NAME_CHARS: Final = 80
_ARGS_CHARS: Final = 160
_MESSAGE_CHARS: Final = 400
_SHOWN_ROWS: Final = 8
_MOST_LINES: Final = 16
_REASONS: Final[Mapping[str, str]] = {
    "malformed_json": "its answer was no valid JSON object; asking again",
    "verification_required": "the change has to be verified before the answer",
    "phantom": "it claimed what no tool did; the answer is withheld",
    "nothing_read": "it answered without looking; asking again",
    "ungrounded": "it named what no one mentioned; asking again",
}


def event_json(event: AgentEvent) -> dict[str, JsonValue]:
    """Return the document of one event."""
    return {"schema_version": console.SCHEMA_VERSION, **event.to_json()}


def print_event(event: AgentEvent) -> None:
    """Print one event as a line of JSON on stdout."""
    console.result(json.dumps(event_json(event), ensure_ascii=False) + "\n")


@dataclass
class AgentRunSummary:
    """Collects what `--output json` and the last line of a text run say."""

    run_id: str = ""
    turns: int = 0
    calls: list[dict[str, JsonValue]] = field(default_factory=list)
    summary: str | None = None
    confidence: str | None = None
    suggested: list[JsonValue] = field(default_factory=list)
    changed: list[JsonValue] = field(default_factory=list)
    note: str = ""
    deeds: str = ""
    errors: list[str] = field(default_factory=list)
    waiting: dict[str, JsonValue] | None = None

    def __call__(self, event: AgentEvent) -> None:
        """Take one event."""
        fields: Mapping[str, Any] = event.fields
        match event.name:
            case "agent_start":
                self.run_id = fields["run_id"]
            case "agent_turn":
                self.turns = fields["turn"]
            case "agent_tool_result":
                error = fields.get("error") or {}
                self.calls.append(
                    {"tool": fields["tool"], "ok": fields["ok"], "code": error.get("code")}
                )
            case "approval_needed":
                self.waiting = dict(fields)
            case "agent_error":
                self.errors.append(fields["error"])
            case "agent_max_turns":
                self.errors.append(fields["message"])
            case "agent_final":
                self.summary, self.confidence = fields["summary"], fields["confidence"]
                self.suggested = list(fields.get("suggested", []))
                self.changed = list(fields.get("changed", []))
                self.note, self.deeds = fields.get("note", ""), told_in_short(fields)
            case _:
                pass


def answer_text(summary: str, note: str) -> str:
    """Return the answer as stdout has it: the words of the model, then those of the runtime."""
    lines = [strip_controls(summary)]
    if note:
        lines.append(f"{NOTE_MARK}{strip_controls(note)}")
    return "\n".join(lines) + "\n"


class LiveView:
    """Shows on stderr what a run does. `rows` of a result are shown; 0 shows results in a line."""

    def __init__(self, *, quiet: bool, rows: int = _SHOWN_ROWS) -> None:
        self._quiet, self._rows = quiet, rows
        self._lock = threading.Lock()

    def __call__(self, event: AgentEvent) -> None:
        """Show one event."""
        if self._quiet:
            return
        with self._lock:
            for line in event_lines(event, console.layout_width() or 100, self._rows):
                console.note(line)


def event_lines(event: AgentEvent, width: int, rows: int) -> Iterator[str]:
    """Yield the lines about one event; none for most of them.

    The events may come from a server, so no text of them reaches the terminal as it is.
    """
    fields: Mapping[str, Any] = event.fields
    match event.name:
        case "agent_tool_call":
            tool = one_line(str(fields["tool"]), _NAME_CHARS)
            yield f"→ {tool} {one_line(_arguments(fields['args']), _ARGS_CHARS)}".rstrip()
        case "agent_tool_result":
            yield from _result(fields, width, rows)
        case "agent_correction":
            yield f"  note: {one_line(_correction(fields), _MESSAGE_CHARS)}"
        case "agent_error":
            yield f"  {one_line(fields['error'], _MESSAGE_CHARS)}"
        case "agent_max_turns":
            yield f"  {one_line(str(fields['message']), _MESSAGE_CHARS)}"
        case _:
            return


def _correction(fields: Mapping[str, Any]) -> str:
    if figures := fields.get("figures"):
        what = "a figure" if len(figures) == 1 else "figures"
        listed = ", ".join(map(str, figures))
        return f"its answer has {what} that no result has: {listed}; asking again"
    return _REASONS.get(fields["reason"], str(fields["reason"]))


def _arguments(args: Mapping[str, JsonValue]) -> str:
    return " ".join(
        f"{name}={value if isinstance(value, str) else json.dumps(value)}"
        for name, value in args.items()
    )


def _result(fields: Mapping[str, Any], width: int, rows: int) -> Iterator[str]:
    if not fields["ok"]:
        error = fields.get("error") or {}
        message = one_line(str(error.get("message", "")), _MESSAGE_CHARS)
        verdict = console.colour("refused" if error.get("blocked") else "failed", "yellow")
        yield f"  {verdict} [{one_line(str(error.get('code')), _NAME_CHARS)}] {message}"
        return
    if not rows:
        yield "  ok"
        return
    view = ResultView(max(width - 2, 20), most_rows=rows, has_full=False)
    lines = [text for _, text in result_lines(fields.get("data"), view)]
    for line in lines[:_MOST_LINES]:
        yield console.dim(f"  {strip_controls(line)}".rstrip(), sys.stderr)
    if len(lines) > _MOST_LINES:
        yield console.dim(f"  … {counted(len(lines) - _MOST_LINES, 'more line')}", sys.stderr)
