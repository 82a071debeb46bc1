"""The CHANGELOG of a domain (spec §10): newest first, in the way of Keep a Changelog. Pure.

`change_set.py` adds the entry to the file, and `file_transaction.py` writes it. Records and
changelog are compared in `routing/maintenance/audit_changelog.py`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import Literal

from pulsus.late_pattern import late_pattern

FILE_NAME = "CHANGELOG.md"

Change = Literal["Added", "Changed", "Deprecated", "Removed"]


@dataclass(frozen=True, slots=True)
class ChangelogEntry:
    """One decision as people read it.

    `notes` are lines of their own; `approved_by` may be unknown.
    """

    tool: str
    version: str
    day: date
    change: Change
    description: str
    revision: str
    tool_hash: str
    proof: str | None = None
    approved_by: str | None = None
    notes: tuple[str, ...] = ()


_HEADING = late_pattern(r"^## (?!\[?Unreleased\]?)", re.M | re.I)


def empty_changelog(title: str) -> str:
    """Return the text of a changelog without entries."""
    return f"# Changelog: {title}\n\nTools promoted here, newest first.\n"


def add_entry(text: str, entry: ChangelogEntry) -> str:
    """Return `text` with the entry above all earlier ones, which stay as they are, byte for byte.

    A section called Unreleased, kept by hand, stays on top.
    """
    added = render_entry(entry)
    heading = _HEADING.search(text)
    if heading is None:
        return f"{text}{_blank_line_after(text)}{added}"
    return f"{text[: heading.start()]}{added}\n{text[heading.start() :]}"


def render_entry(entry: ChangelogEntry) -> str:
    """Return the entry's own lines."""
    facts = [entry.revision, f"sha256 {entry.tool_hash.removeprefix('sha256:')[:12]}"]
    if entry.proof:
        facts.append(f"proof: {entry.proof}")
    if entry.approved_by:
        facts.append(f"approved by {_join_lines(entry.approved_by)}")
    notes = "".join(f"- {_join_lines(note)}\n" for note in entry.notes)
    return (
        f"## {entry.tool} {entry.version} - {entry.day.isoformat()}\n\n"
        f"### {entry.change}\n\n"
        f"- {_join_lines(entry.description)} ({', '.join(facts)})\n{notes}"
    )


def _join_lines(text: str) -> str:
    # str.split and isprintable drop what could start a new line or hide from a reader.
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _blank_line_after(text: str) -> str:
    if not text or text.endswith("\n\n"):
        return ""
    return "\n" if text.endswith("\n") else "\n\n"
