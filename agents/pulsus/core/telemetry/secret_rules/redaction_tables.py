"""Secrets in columns: tables of databases, CSV, Markdown and of blanks, by the name of a column.

A line is the head of a table if each of its cells may name a column and one names a secret. The
lines below it with the same cells are its rows. Linear in the text: each line is split once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from pulsus.late_pattern import late_pattern

MARK: Final = "[redacted]"
"""The same as in redaction.py."""

_MARKS: Final = late_pattern(r"(?i)pass|secret|token|key|pwd|kennwort")
_PASSWORD: Final = late_pattern(
    r"(?i)[\w .-]{0,40}?(?:password|passwd|passphrase|passwort|kennwort|passcode|pwd)"
    r"(?:[_ ]?hash|[_ ]?\d)?"
)
_OTHER: Final = late_pattern(
    r"(?i)[\w .-]{0,40}?(?:secret|token|api[ _-]?key|(?:access|secret|private)[ _-]?key)"
)
_COLUMN: Final = late_pattern(r"[A-Za-z_][\w .()-]{0,60}")
_RULE: Final = late_pattern(r"[\s|+:─┼=-]*[-─=][\s|+:─┼=-]*")
"""A line between the head and the rows."""
_CSV_CELL: Final = late_pattern(r"\"(?:[^\"]|\"\")*\"|[^,;\t]*")
_NO_VALUE: Final = late_pattern(
    r"(?i)(?:null|none|nil|n/a|yes|no|true|false|[tfyn]|x|\*+|-+|\d{1,3}|\\n"
    r"|(?:var)?char(?:\(\d+\))?|text|string|\[redacted\]|[~/.$<{(`].*)?"
)
_HEAD: Final = late_pattern(r"[\w\s|,;\"'`().+-]{1,1000}")
"""Other signs do not occur in names of columns."""
_TELLING: Final = late_pattern(
    r"(?=.*[A-Z])(?=.*[a-z])(?=.*\d)[^=]{12,}={0,2}|[\da-f]{32,}|(?=.*\d)[\w+/.-]{24,}={0,2}"
)
"""A value of a column that may also have words and numbers."""
_MOST_CELLS: Final = 64
_QUOTES: Final = " \t\r\"'`"

Split = Callable[[str], list[str]]


def hide_columns(text: str) -> str:
    """Return the text without the cells below the name of a secret."""
    if not _MARKS.search(text) or "\n" not in text:
        return text
    lines = text.split("\n")
    number = 0
    while number < len(lines) - 1:
        found = _read_head(lines, number) if _MARKS.search(lines[number]) else None
        number = number + 1 if found is None else _hide_rows(lines, number + 1, *found)
    return "\n".join(lines)


def _read_head(lines: Sequence[str], number: int) -> tuple[str, list[str]] | None:
    """Return the sign between cells and the names of the columns, if a line is a head."""
    line = lines[number]
    if not _HEAD.fullmatch(line):
        return None
    if _RULE.fullmatch(lines[number + 1]) and _is_secret(line.strip(_QUOTES)):
        return "", [line]
    for sign in ("|", ",", ";", "\t", " "):
        if sign in line.strip():
            cells = _split(line, sign)
            if 1 < len(cells) <= _MOST_CELLS or sign == "|":
                named = [each.strip(_QUOTES) for each in cells]
                is_head = all(_COLUMN.fullmatch(each) for each in named if each or sign != "|")
                if is_head and any(map(_is_secret, named)):
                    return sign, named
                if sign == "|":
                    return None
    return None


def _hide_rows(lines: list[str], number: int, sign: str, columns: Sequence[str]) -> int:
    """Hide the secrets of the rows from a line on. Returns the number of the next other line."""
    wanted = [at for at, column in enumerate(columns) if _is_secret(column.strip(_QUOTES))]
    while number < len(lines):
        line = lines[number]
        if not _RULE.fullmatch(line):
            cells = _split(line, sign)
            if not line.strip() or len(cells) != len(columns):
                break
            for at in wanted:
                cells[at] = _hide_cell(cells[at], columns[at], sign)
            lines[number] = _join(line, cells, sign)
        number += 1
    return number


def _split(line: str, sign: str) -> list[str]:
    """Return the cells of a line: those of blanks without what stands around them."""
    if not sign:
        return [line]
    if sign == " ":
        return line.split()
    if sign == "|" or '"' not in line:
        return line.split(sign)
    cells, position = [], 0
    while position <= len(line):
        end = position
        if found := _CSV_CELL.match(line, position):
            end = found.end()
        at = line.find(sign, end)
        at = len(line) if at < 0 else at
        cells.append(line[position:at])
        position = at + 1
    return cells


def _join(line: str, cells: Sequence[str], sign: str) -> str:
    """Return the line with these cells. One of blanks stays as it is without a secret in it."""
    if sign != " ":
        return sign.join(cells)
    return line if line.split() == list(cells) else " ".join(cells)


def _is_secret(column: str) -> bool:
    return bool(_PASSWORD.fullmatch(column) or _OTHER.fullmatch(column))


def _hide_cell(cell: str, column: str, sign: str) -> str:
    """Return the mark in place of a secret. A column of tokens may also have words and numbers."""
    value = cell.strip(_QUOTES)
    if _NO_VALUE.fullmatch(value):
        return cell
    password = sign != " " and _PASSWORD.fullmatch(column.strip(_QUOTES)) and " " not in value
    if not password and (" " in value or not _TELLING.fullmatch(value)):
        return cell
    return cell.replace(value, MARK)
