"""The result of a check of the decision log: its damages, one for each cause (spec §10). Pure.

`verify_log.py` finds the damages, and `routing/maintenance/audit_log.py` compares with the
catalogue's records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from pulsus.core.storage.decision_log.accept_break import AcceptedBreak
from pulsus.core.storage.decision_log.log_record import Head


@dataclass(frozen=True, slots=True)
class Damage:
    """One thing that is not as it was written. `code` is stable; `line` counts from 1.

    `line` None is about the whole file.
    """

    code: str
    path: Path
    line: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class LogCheck:
    """The result of a check. `head` is that of the head file; `sealed` counts segments.

    `unread` are records not looked at one by one, because the seal of their segment held. `notes`
    are what a crash may leave and the next append puts right. `accepted` damages no longer count.
    `more` damages are not listed. `set_back` are records that are earlier than the one before them:
    no damage, since a clock can be set.
    """

    head: Head | None
    records: int
    segments: int
    sealed: int
    unread: int
    damages: tuple[Damage, ...]
    notes: tuple[str, ...]
    accepted: tuple[AcceptedBreak, ...] = ()
    more: int = 0
    set_back: tuple[Damage, ...] = ()


def join_damages(damages: Sequence[Damage]) -> list[Damage]:
    """Return the damages with one for each cause, where a cause shows more than once.

    Lines that follow each other and are unreadable for the same reason are one; records cannot
    be missing at the end of a file that cannot be read at all.
    """
    shut = {d.path for d in damages if d.code == "UNREADABLE" and d.line is None}
    kept = [d for d in damages if d.code != "TRUNCATED" or d.path not in shut]
    runs = groupby(enumerate(kept), key=lambda pair: _run_key(*pair))
    return [_merge_run([damage for _, damage in run]) for _, run in runs]


def _run_key(at: int, damage: Damage) -> tuple[Path, str, int]:
    """Return a key that only consecutive lines with the same reason share."""
    if damage.code == "UNREADABLE" and damage.line is not None:
        return damage.path, damage.reason, damage.line - at
    return damage.path, damage.code, at


def _merge_run(run: Sequence[Damage]) -> Damage:
    first, more = run[0], len(run) - 1
    if not more:
        return first
    lines = "line" if more == 1 else f"{more} lines"
    return replace(first, reason=f"{first.reason} (so with the {lines} after it)")
