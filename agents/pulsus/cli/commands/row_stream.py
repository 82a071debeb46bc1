"""`pulsus commands classify --jsonl`: one answer a row, in order, as the rows come in.

A row above 1 MiB, and one that is invalid, gets an error and no allowance. A mistyped key costs a
warning.
"""

from __future__ import annotations

import gc
import os
import stat
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from pulsus.cli import console
from pulsus.cli.commands import verdict_json
from pulsus.core.system.fork_pool import map_in_processes
from pulsus.core.system.jsonl import InvalidRow, bounded_lines, parse_row
from pulsus.errors import UsageError
from pulsus.fast_dataclass import dataclass

if TYPE_CHECKING:
    from pulsus.cli.command_session import CommandSession

LONGEST = 1 << 20
"""Bytes of a row that are read; no command of that length is judged."""

_BLOCK = 4_000
"""Rows of a file that are answered at a time, by every core."""

_Key = str | int | None


_KEYS: Final = frozenset({"id", "command", "target", "known"})
_ALIKE: Final = 0.7
_VERDICT_KEYS: Final = (
    *("command", "allow", "intent", "category", "risk", "cost", "destinations", "sensitive"),
    *("policy", "policy_rule", "policy_setting", "policy_version", "decided_by", "reason"),
    *("phase", "word", "rewrite", "error"),
)


@dataclass(frozen=True, slots=True)
class RowClassifier:
    """Answer rows. `target` applies to rows that name no target, `known` hosts to every row."""

    session: CommandSession
    target: str | None
    explain: bool
    warnings: list[str]
    known: tuple[str, ...] = ()

    def run(self, rows: BinaryIO) -> int:
        """Print the answer to every row, also an invalid one, and return how many are not
        allowed."""
        refused = 0
        # Verdicts hold no cycles: looking for some after every 700 objects took a tenth of the
        # time.
        before = gc.get_threshold()
        gc.set_threshold(100_000)
        try:
            for block in _row_blocks(rows):
                for allowed, text, others in map_in_processes(self._answer_line, block):
                    if others:
                        _warn_of_mistyped_keys(others)
                    refused += not allowed
                    console.result(text)
        finally:
            gc.set_threshold(*before)
        return refused

    def _answer_line(self, row: tuple[int, bytes]) -> tuple[bool, str, frozenset[str]]:
        """Return (allowed, the line to print, keys of the row that do not count)."""
        number, line = row
        try:
            parsed = parse_row(line, LONGEST)
            said = self._answer_row(parsed)
        except InvalidRow as bad:
            parsed, said = None, _row_error(str(bad), number, bad.key)
        others = frozenset(parsed) - _KEYS if isinstance(parsed, dict) else frozenset()
        return said["allow"], verdict_json.format_line(said), others

    def _answer_row(self, row: Any) -> dict[str, Any]:
        key, command, target, known = _command_of(row)
        target = self.target if target is None else target
        known = (*self.known, *known)
        say = self._explanation_of if self.explain else self._verdict_of
        body = say(command, target, known)
        return {"id": key, **body, **({"warnings": self.warnings} if self.warnings else {})}

    def _verdict_of(
        self, command: str, target: str | None, known: tuple[str, ...]
    ) -> dict[str, Any]:
        return verdict_json.verdict(self.session.app.commands.answer(command, target, known))

    def _explanation_of(
        self, command: str, target: str | None, known: tuple[str, ...]
    ) -> dict[str, Any]:
        found = verdict_json.explained(self.session, command, target, known)
        said = verdict_json.answered(self.session, found.verdict, target, known)
        why = verdict_json.explanation(self.session, found, said)
        return verdict_json.verdict(said) | {"explanation": why}


def _row_blocks(rows: BinaryIO) -> Iterator[list[tuple[int, bytes]]]:
    """Yield numbered rows: many at a time from a file, one by one from a pipe."""
    whole = stat.S_ISREG(os.fstat(rows.fileno()).st_mode)
    numbered = enumerate(bounded_lines(rows, LONGEST), 1)
    while block := list(islice(numbered, _BLOCK if whole else 1)):
        yield block


def _command_of(row: Any) -> tuple[_Key, str, str | None, tuple[str, ...]]:
    """Return id, command, target and known hosts. Raises InvalidRow."""
    if not isinstance(row, dict):
        raise InvalidRow("it is no object with a command")
    key = row.get("id")
    if key is not None and (isinstance(key, bool) or not isinstance(key, str | int)):
        raise InvalidRow("its id is neither a text nor a whole number")
    command, target = row.get("command"), row.get("target")
    if not isinstance(command, str):
        raise InvalidRow("it has no command, or one that is no text", key)
    if target is not None and (not isinstance(target, str) or not target.strip()):
        raise InvalidRow("its target is no name", key)
    return key, command, target, _known_hosts(row.get("known"), key)


@lru_cache(maxsize=256)
def _warn_of_mistyped_keys(keys: frozenset[str]) -> None:
    """Warn once of keys that are nearly one of ours: without it a row's target would not count.

    Rows may have keys of their own, such as a label.
    """
    # Late: most rows have no other keys.
    from difflib import get_close_matches

    for key in sorted(keys):
        meant = get_close_matches(key, _KEYS, 1, _ALIKE)
        if meant:
            console.warn(
                f"rows have a key {key!r}, which does not count; did you mean {meant[0]!r}?"
            )


def _known_hosts(known: object, key: _Key) -> tuple[str, ...]:
    if known is None:
        return ()
    if not isinstance(known, list) or not all(isinstance(each, str) for each in known):
        raise InvalidRow("its known is no list of host names", key)
    return tuple(known)


def _row_error(why: str, number: int, key: _Key) -> dict[str, Any]:
    reason = f"row {number}: {why}"
    error = UsageError(reason, hint='give {"id": "a", "command": "ls -l"}', line=number)
    return dict.fromkeys(("id", *_VERDICT_KEYS)) | {
        "id": key,
        "allow": False,
        "intent": "write_or_unknown",
        "risk": 2,
        "cost": "low",
        "destinations": [],
        "sensitive": False,
        "policy": "block",
        "reason": reason,
        "error": console.error_body(error)["error"],
    }
