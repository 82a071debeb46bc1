"""Damages of the decision log, one for each cause (spec §10, §17). Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Damage:
    """One thing that is not as it was written. `code` is stable; `line` counts from 1.

    `line` None is about the whole file.
    """

    code: str
    path: Path
    line: int | None
    reason: str


def join_damages(damages: Sequence[Damage]) -> list[Damage]:
    """The damages with one for each cause, where a cause shows more than once.

    Lines that follow each other and are unreadable for the same reason are one; records cannot
    be missing at the end of a file that cannot be read at all.
    """
    shut = {d.path for d in damages if d.code == "UNREADABLE" and d.line is None}
    kept = [d for d in damages if d.code != "TRUNCATED" or d.path not in shut]
    runs = groupby(enumerate(kept), key=lambda pair: _run(*pair))
    return [_one([damage for _, damage in run]) for _, run in runs]


def _run(at: int, damage: Damage) -> tuple[Path, str, int]:
    """Return a key that only consecutive lines with the same reason share."""
    if damage.code == "UNREADABLE" and damage.line is not None:
        return damage.path, damage.reason, damage.line - at
    return damage.path, damage.code, at


def _one(run: Sequence[Damage]) -> Damage:
    first, more = run[0], len(run) - 1
    if not more:
        return first
    lines = "line" if more == 1 else f"{more} lines"
    return replace(first, reason=f"{first.reason} (so with the {lines} after it)")
