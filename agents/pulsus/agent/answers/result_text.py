"""A tool's envelope as the short text that a model reads. Pure.

Rows beyond the first 40 are left out for the model. A result is cut before that in
`agent/tools/local/tool_report.py`, the output of a command in `agent/tools/local/command_runs.py`,
and later to the context window in `agent/loop/transcript.py`. That text in a result is data and no
instruction (prompt injection) is told the model by `agent/model/prompts/agent.j2` and `native.j2`.

A small model copies what it sees and does not convert units. So numbers get the unit that their
name announces, rows become a table with one heading, and the metadata of a call is left out unless
it changes the meaning of the result. Texts of several lines stay on one line, as JSON strings: a
result cannot look like another message. A nested value is named with its path, and a row begins
with a mark: neither can look like a line of the envelope.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pulsus.core.telemetry.sanitize import escape_controls, is_plain
from pulsus.core.text.plurals import counted
from pulsus.core.text.value_units import plain_number, short_heading, with_unit
from pulsus.core.types import JsonValue

_TOLD: Final = (
    *("warnings", "rewritten_from", "command", "dropped_inputs", "cut", "note", "verify_with"),
    "host",
)
"""Metadata that a model needs. The client's envelope has all of it."""
_MOST_ROWS: Final = 40
_LEAST_ROWS: Final = 3
"""From so many rows on a cell that never changes is told once."""


def result_text(envelope: Mapping[str, JsonValue]) -> str:
    """Return the envelope as text: how the call went, then one line for each value."""
    return "\n".join(_envelope_lines(envelope))


def _envelope_lines(envelope: Mapping[str, JsonValue]) -> Iterator[str]:
    yield "ok" if envelope.get("ok") else "failed"
    if "error" in envelope:
        yield f"error: {_exact(envelope['error'])}"
    if "data" in envelope:
        yield from _lines("", "data", envelope["data"])
    meta = envelope.get("meta")
    told = meta if isinstance(meta, dict) else {}
    for name in _TOLD:
        if name in told:
            yield f"{name}: {_value(name, told[name])}"


def _lines(path: str, name: str, value: JsonValue) -> Iterator[str]:
    """Yield the lines of a value. `path` names where it is, and `name` announces its unit."""
    match value:
        case dict() if value:
            for key, each in value.items():
                yield from _lines(f"{path}.{_name(key)}" if path else _name(key), key, each)
        case list() if value and all(isinstance(row, dict) for row in value):
            yield from _table(path or name, [row for row in value if isinstance(row, dict)])
        case _:
            yield f"{path or name}: {_value(name, value)}"


def _name(key: str) -> str:
    return key if key.isprintable() else _exact(key)


def _table(name: str, rows: Sequence[Mapping[str, JsonValue]]) -> Iterator[str]:
    """Yield rows of the same thing: their number, one heading, and the cells of each.

    A cell that is the same in every row is in the heading.
    """
    names = list(dict.fromkeys(key for row in rows for key in row))
    names = [key for key in names if any(row.get(key) not in (None, [], "") for row in rows)]
    same = [key for key in names if len(rows) >= _LEAST_ROWS and _is_same(key, rows)]
    names = [key for key in names if key not in same] or names
    same = [key for key in same if key not in names]
    each = "; ".join(f"{_name(short_heading(key))} {_cell(key, rows[0].get(key))}" for key in same)
    heading = " | ".join(_name(short_heading(key)) for key in names)
    yield f"{name} ({len(rows)}): {heading}" + (f" (all rows: {each})" if each else "")
    for row in rows[:_MOST_ROWS]:
        yield f"- {' | '.join(_cell(key, row.get(key)) for key in names)}"
    if len(rows) > _MOST_ROWS:
        rest = len(rows) - _MOST_ROWS
        yield f"… {counted(rest, 'more row')} {'is' if rest == 1 else 'are'} not shown"


def _is_same(name: str, rows: Sequence[Mapping[str, JsonValue]]) -> bool:
    first = rows[0].get(name)
    # It stops at the first difference: a result may have thousands of rows.
    return all(row.get(name) == first and type(row.get(name)) is type(first) for row in rows)


def _cell(name: str, value: JsonValue) -> str:
    text = _value(name, value)
    return _exact(text) if " | " in text else text


def _value(name: str, value: JsonValue) -> str:
    match value:
        case None | []:
            return "none"
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return with_unit(name, value)
        case str():
            printable = is_plain(value) or value.isprintable()
            return value if value and printable else _exact(value)
        case list() if all(isinstance(each, str | int | float) for each in value):
            return ", ".join(_value(name, each) for each in value)
        case _:
            return _exact(value)


def _exact(value: JsonValue) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return plain_number(value)
    return escape_controls(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
