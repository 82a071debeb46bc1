"""Find the line and column of a place in a YAML or JSON document, for error messages. Pure.

Duplicate keys and syntax errors are refused in `strict_yaml.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import yaml

from pulsus.late_pattern import late_pattern

_PART = late_pattern(r"[^.\[\]]+")
_NUMBER = late_pattern(r'"(?:[^"\\]|\\.)*"|-?Infinity|NaN|[0-9]{4301,}')
"""A string of JSON, or a number in it that Python does not read or that JSON does not have."""
_LOADER = cast("type[yaml.SafeLoader]", getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def find_position(text: str, place: str) -> tuple[int, int] | None:
    """Return line and column, from 1, of the node at `place`, such as `plan.steps[1].tool`.

    If the document has no such node, the position is that of the deepest part that it has. Returns
    None for text that is not YAML. Only the text before the place is read.
    """
    events = yaml.parse(text, Loader=_LOADER)
    try:
        return _find(events, _PART.findall(place))
    except (yaml.YAMLError, UnicodeError):
        return None


def find_unreadable_number(text: str) -> int:
    """Return the line, from 1, of the first number in JSON that no reader takes; 1 without one."""
    found = next((m for m in _NUMBER.finditer(text) if not m[0].startswith('"')), None)
    return 1 if found is None else text.count("\n", 0, found.start()) + 1


def _find(events: Iterator[yaml.Event], parts: list[str]) -> tuple[int, int] | None:
    node: yaml.Event | None = next((e for e in events if isinstance(e, yaml.NodeEvent)), None)
    if node is None:
        return None
    position = _position(node)
    for part in parts:
        found = _find_child(events, node, part)
        if found is None:
            break
        position, node = found
    return position


def _find_child(
    events: Iterator[yaml.Event], parent: yaml.Event, part: str
) -> tuple[tuple[int, int], yaml.Event] | None:
    """Return the position of the key or item, and the event that begins its value."""
    at = 0
    while isinstance(parent, yaml.MappingStartEvent | yaml.SequenceStartEvent):
        event = next(events)
        if isinstance(event, yaml.CollectionEndEvent):
            return None
        if isinstance(parent, yaml.SequenceStartEvent):
            value, matches = event, part == str(at)
        else:
            _skip(events, event)
            value, matches = next(events), getattr(event, "value", None) == part
        if matches:
            return _position(event), value
        _skip(events, value)
        at += 1
    return None


def _position(event: yaml.Event) -> tuple[int, int]:
    """Return line and column of the event. Only events that a program makes have none."""
    assert event.start_mark is not None
    return event.start_mark.line + 1, event.start_mark.column + 1


def _skip(events: Iterator[yaml.Event], event: yaml.Event) -> None:
    """Read the rest of the node that begins with `event`."""
    depth = int(isinstance(event, yaml.CollectionStartEvent))
    while depth:
        event = next(events)
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
