"""`pulsus commands classify --jsonl`: one answer a row, in order, as the rows come in."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn

from pulsus.cli import commands_json, output

if TYPE_CHECKING:
    from pulsus.cli.session import Session

LONGEST = 1 << 20
"""Bytes of a row that are read; no command of that length is judged."""


class _BadRow(ValueError):
    """A row that is none; what is known of it."""

    def __init__(self, reason: str, key: str | int | None = None) -> None:
        super().__init__(reason)
        self.reason, self.key = reason, key


def answer(session: Session, rows: BinaryIO, target: str | None, *, explain: bool) -> None:
    """Print what is said of every row of `rows`. A bad row gets an answer too."""
    # Verdicts hold no cycles: looking for some after every 700 objects took a tenth of the time.
    before = gc.get_threshold()
    gc.set_threshold(100_000)
    try:
        for number, line in enumerate(_lines(rows), 1):
            if line.strip():
                output.result(commands_json.line(_answer(session, line, number, target, explain)))
    finally:
        gc.set_threshold(*before)


def _lines(rows: BinaryIO) -> Iterator[bytes]:
    while line := rows.readline(LONGEST):
        yield line
        while len(line) == LONGEST and not line.endswith(b"\n"):
            line = rows.readline(LONGEST)


def _answer(
    session: Session, line: bytes, number: int, target: str | None, explain: bool
) -> dict[str, Any]:
    try:
        key, command = _row(line)
    except _BadRow as bad:
        return _unanswered(f"row {number}: {bad.reason}", bad.key)
    if not explain:
        from pulsus.commands.classify import classify

        found = classify(command, session.app.commands.context)
        return {"id": key, **commands_json.verdict(session, found, target)}
    explained = commands_json.explained(session, command)
    said = commands_json.verdict(session, explained.verdict, target)
    return {"id": key, **said, "explanation": commands_json.explanation(session, explained)}


def _row(line: bytes) -> tuple[str | int | None, str]:
    if len(line) >= LONGEST:
        raise _BadRow(f"it is longer than {LONGEST} bytes")
    try:
        row = json.loads(line.decode("utf-8-sig"), parse_constant=_constant)
    except (ValueError, RecursionError) as error:
        raise _BadRow(f"it is no JSON: {error}") from None
    if not isinstance(row, dict):
        raise _BadRow("it is no object with a command")
    key = row.get("id")
    if key is not None and (isinstance(key, bool) or not isinstance(key, str | int)):
        raise _BadRow("its id is neither a text nor a whole number")
    command = row.get("command")
    if not isinstance(command, str):
        raise _BadRow("it has no command, or one that is no text", key)
    return key, command


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


def _unanswered(reason: str, key: str | int | None) -> dict[str, Any]:
    return {
        "id": key,
        "command": None,
        "allow": False,
        "intent": "write_or_unknown",
        "category": None,
        "risk": 2,
        "sensitive": False,
        "policy": "block",
        "policy_rule": None,
        "policy_version": None,
        "reason": reason,
        "phase": None,
        "word": None,
        "rewrite": None,
        "error": {
            "code": "USAGE",
            "message": reason,
            "hint": 'give {"id": "a", "command": "ls -l"}',
            "details": {},
        },
    }
