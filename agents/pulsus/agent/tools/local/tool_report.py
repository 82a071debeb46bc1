"""Make envelopes from results: redacted, cut to a size, and with their provenance.

The output of a command has a limit of its own (`command_runs.py`). Long output is truncated to
16,000 characters and 200 rows here, and secrets are masked by the redactor.

Every result of a tool passes here, so no tool can forget one of the three.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final

from pulsus.core.telemetry.redaction import Redactor
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass
from pulsus.gates.tool_response import (
    ToolErrorCode,
    ToolResponse,
    tool_blocked,
    tool_failed,
    tool_success,
)
from pulsus.infra.local_machine import LOCAL

MOST_TEXT_CHARS: Final = 16_000
"""Of one text in a result: some 4,000 tokens, half the context of a small model."""

MOST_ROWS: Final = 200

LINES_BEFORE: Final = 120
"""Lines before the shown ones that are read for the redactor: a long key has that many."""

_HEAD: Final = 3 * MOST_TEXT_CHARS // 4
_TAIL: Final = MOST_TEXT_CHARS - _HEAD


@dataclass(frozen=True, slots=True)
class ToolReport:
    """Makes the envelopes of one machine. `now` gives aware times."""

    host: str
    redactor: Redactor
    now: Callable[[], datetime]

    def success(
        self, data: JsonValue, meta: Mapping[str, JsonValue] | None = None, context: str = LOCAL
    ) -> ToolResponse:
        """Return the answer of a call that worked. `context` is where it was executed."""
        notes: list[str] = []
        told = dict(meta or {})
        shown = _cut(self.redactor.redact_value(data), "result", notes)
        if notes:
            told["cut"] = list(notes)
        return tool_success(shown, **(self._provenance(context) | self._redacted(told)))

    def failed(
        self,
        code: ToolErrorCode,
        message: str,
        *,
        data: JsonValue = None,
        retryable: bool = False,
        **details: JsonValue,
    ) -> ToolResponse:
        """Return the answer of a call that ran and failed. `data` is what it still gave."""
        answer = tool_failed(
            code, self.redactor.redact(message), retryable=retryable, **self._redacted(details)
        )
        shown = _cut(self.redactor.redact_value(data), "result", [])
        return ToolResponse(False, shown, answer.error, self._provenance(LOCAL))

    def blocked(self, code: ToolErrorCode, message: str, **details: JsonValue) -> ToolResponse:
        """Return the answer to a call that was refused without any effect."""
        answer = tool_blocked(code, self.redactor.redact(message), **self._redacted(details))
        return ToolResponse(False, None, answer.error, self._provenance(LOCAL))

    def last_lines(
        self, lines: Sequence[str], wanted: int
    ) -> tuple[list[JsonValue], dict[str, JsonValue]]:
        """Return the last lines that a result can show, and a note if these are fewer than wanted.

        They are redacted together with the lines before them, as a key may begin there.
        """
        shown: list[JsonValue] = []
        room = MOST_TEXT_CHARS
        known = self.redactor.redact_value(list(lines[-min(wanted, MOST_ROWS) - LINES_BEFORE :]))
        clean = [str(line) for line in known] if isinstance(known, list) else []
        for line in reversed(clean[-min(wanted, MOST_ROWS) :]):
            room -= len(line)
            if room < 0:
                break
            shown.insert(0, line)
        fewer = len(shown) < min(len(clean), wanted)
        return shown, {"cut": [f"only the last {len(shown)} lines are shown"]} if fewer else {}

    def _provenance(self, context: str) -> dict[str, JsonValue]:
        observed = self.now().isoformat(timespec="seconds")
        return {"host": self.host, "execution_context": context, "observed_at": observed}

    def _redacted(self, details: dict[str, JsonValue]) -> dict[str, JsonValue]:
        shown = self.redactor.redact_value(details)
        return shown if isinstance(shown, dict) else {}


def _cut(value: JsonValue, name: str, notes: list[str]) -> JsonValue:
    """Return the value with long texts and lists cut; `notes` get a line for each cut."""
    match value:
        case str() if len(value) > MOST_TEXT_CHARS:
            left_out = len(value) - MOST_TEXT_CHARS
            notes.append(f"{name}: {left_out} of {len(value)} characters are left out")
            return f"{value[:_HEAD]}\n[… {left_out} characters left out …]\n{value[-_TAIL:]}"
        case list():
            if len(value) > MOST_ROWS:
                notes.append(f"{name}: the first {MOST_ROWS} of {len(value)} rows")
            return [_cut(each, name, notes) for each in value[:MOST_ROWS]]
        case dict():
            return {key: _cut(each, key, notes) for key, each in value.items()}
        case _:
            return value
