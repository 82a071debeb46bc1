"""YAML as JSON values: one document, YAML 1.2 scalars, no tags, no aliases. Pure.

Duplicate keys, anchors, tags, too much nesting and numbers that are too long are refused here.
`yaml_position.py` finds the line of a later error. Read from the event stream, because composing a
node graph recurses in C without a limit, follows aliases, and lets a repeated key win in silence.
"""

from __future__ import annotations

import math
from typing import cast

import yaml

from pulsus.core.types import JsonValue
from pulsus.late_pattern import late_pattern

# Deeper than any example a person writes; libyaml is quadratic in the nesting of flow brackets.
MAX_DEPTH = 64
_TOO_DEEP = f"nested deeper than {MAX_DEPTH} levels"

# Python refuses to write numbers of more than 4300 digits, hexadecimal ones included.
MAX_DIGITS = 1000

# https://yaml.org/spec/1.2.2/#103-core-schema
_NULL = late_pattern(r"null|Null|NULL|~|")
_BOOL = late_pattern(r"true|True|TRUE|false|False|FALSE")
_INT = late_pattern(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = late_pattern(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = late_pattern(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")

_NOT_TEXT = frozenset(("", *"nN~tTfF.+-0123456789"))
"""The beginnings of all values that are not text."""

_Container = list[JsonValue] | dict[str, JsonValue]
_LOADER = cast("type[yaml.SafeLoader]", getattr(yaml, "CSafeLoader", yaml.SafeLoader))


class YamlError(ValueError):
    """Not a document Pulsus accepts; the message is one line and names the line where known.

    `problem` is the message without the line. `position` is line and column, from 1. It is never
    past the last line: an open bracket is noticed only where the text ends.
    """

    def __init__(self, problem: str, position: tuple[int, int] | None = None) -> None:
        self.problem, self.position = " ".join(problem.split()), position
        super().__init__(f"line {position[0]}: {self.problem}" if position else self.problem)


def load_yaml(text: str) -> JsonValue:
    """Return the one value the text holds; None for an empty text.

    Dates, `yes`, `on` and `12:30` are strings. Raises YamlError.
    """
    builder = _Builder()
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        problem = str(error.problem or error.context or "not YAML")
        if "maximum nesting depth" in problem:  # libyaml stops at its own, larger limit
            problem = _TOO_DEEP
        mark = error.problem_mark or error.context_mark
        raise _locate(text, problem, mark) from None
    except (yaml.YAMLError, UnicodeError) as error:
        raise YamlError(str(error)) from None
    return builder.value


def _locate(text: str, problem: str, mark: yaml.Mark | None) -> YamlError:
    """Return the error at that mark, or at the last line of text if the mark is past it."""
    if mark is None:
        return YamlError(problem)
    lines = text.splitlines() or [""]
    if mark.line < len(lines):
        return YamlError(problem, (mark.line + 1, mark.column + 1))
    return YamlError(f"{problem}, near the end of the text", (len(lines), len(lines[-1]) + 1))


class _Builder:
    """Turns events into one value, without recursion."""

    def __init__(self) -> None:
        self.value: JsonValue = None
        self._documents = 0
        self._open: list[_Container] = []
        self._keys: list[str | None] = []

    def take(self, event: yaml.Event) -> None:
        match event:
            case yaml.ScalarEvent():
                self._add_scalar(event)
            case yaml.DocumentStartEvent():
                self._documents += 1
                if self._documents > 1:
                    raise _build_error(event, "more than one document")
            case yaml.AliasEvent():
                raise _build_error(event, "aliases (*) are not allowed")
            case yaml.SequenceStartEvent():
                self._start_container(event, [])
            case yaml.MappingStartEvent():
                self._start_container(event, {})
            case yaml.CollectionEndEvent():
                self._open.pop()
                self._keys.pop()
            case _:
                pass

    def _start_container(self, event: yaml.CollectionStartEvent, container: _Container) -> None:
        _require_plain(event)
        if len(self._open) >= MAX_DEPTH:
            raise _build_error(event, _TOO_DEEP)
        self._put_value(event, container)
        self._open.append(container)
        self._keys.append(None)

    def _add_scalar(self, event: yaml.ScalarEvent) -> None:
        _require_plain(event)
        if self._open and isinstance(self._open[-1], dict) and self._keys[-1] is None:
            self._set_key(event, self._open[-1])
        else:
            self._put_value(event, _resolve_scalar(event))

    def _set_key(self, event: yaml.ScalarEvent, into: dict[str, JsonValue]) -> None:
        if not isinstance(_resolve_scalar(event), str):
            raise _build_error(event, f"the key {event.value} is not text; put it in quotes")
        if event.value in into:
            raise _build_error(event, f"the key {event.value!r} occurs twice")
        self._keys[-1] = event.value

    def _put_value(self, event: yaml.NodeEvent, value: JsonValue) -> None:
        if not self._open:
            self.value = value
            return
        parent, key = self._open[-1], self._keys[-1]
        if isinstance(parent, list):
            parent.append(value)
        elif key is None:
            raise _build_error(event, "a key must be text")
        else:
            parent[key] = value
            self._keys[-1] = None


def _require_plain(event: yaml.ScalarEvent | yaml.CollectionStartEvent) -> None:
    if event.anchor is not None:
        raise _build_error(event, "anchors (&) are not allowed")
    if event.tag is not None:
        raise _build_error(event, f"tags ({event.tag}) are not allowed")


def _resolve_scalar(event: yaml.ScalarEvent) -> JsonValue:
    text: str = event.value
    if not event.implicit[0] or text[:1] not in _NOT_TEXT:
        return text
    if _NULL.fullmatch(text):
        return None
    if _BOOL.fullmatch(text):
        return text.lower() == "true"
    if _NOT_FINITE.fullmatch(text):
        raise _build_error(event, f"{text} is not a finite number")
    return _parse_number(event, text)


def _parse_number(event: yaml.ScalarEvent, text: str) -> int | float | str:
    whole = _INT.fullmatch(text)
    if not whole and not _FLOAT.fullmatch(text):
        return text
    if len(text) > MAX_DIGITS:
        raise _build_error(event, f"a number of {len(text)} digits is too long")
    if whole:
        return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))
    if not math.isfinite(number := float(text)):
        raise _build_error(event, f"{text} is not a finite number")
    return number


def _build_error(event: yaml.Event, problem: str) -> YamlError:
    mark = event.start_mark
    return YamlError(problem, (mark.line + 1, mark.column + 1) if mark else None)
