"""A fact of the agent session, and the categories of its key (assistant deep dive §2).

Line breaks and control characters, which could forge a fact, are removed here, and a long value is
truncated.

The limits of a session's facts are in `knowledge_accumulator.py`; facts of the knowledge base, and
when they are stale, are `kb/facts.py`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Final, Literal

from pulsus.fast_dataclass import dataclass

FactCategory = Literal[
    "resource", "storage", "alert", "discovery", "exec", "metrics", "finding"
]  # fmt: skip

_SCOPES: Final[dict[FactCategory, str]] = {
    "storage": (
        "storage storage_pools backups backup_server backup_tasks snapshots disk_health pbs_jobs "
        "raid ceph ceph_details replication resource_disks physical_disks"
    ),
    "alert": "alert alerts alert_rules alerts_resolved",
    "discovery": "discovery",
    "exec": "exec file find tail logs",
    "metrics": "metrics baselines temperatures network diskio",
    "finding": "finding findings patrol_findings",
}
_LONGEST_KEY: Final = 160
"""Longer keys end in a digest: a key holds a command, and commands have no such limit."""

_BREAKS: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_MOST_READ: Final = 12_000
"""Characters of a text that are looked at: more than the longest value that a session keeps."""
_READ_FOR_ONE: Final = 4
"""Characters of a text that are looked at first, for each character of its short line."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that a tool result said.

    `key` names what it is about ("lxc:pve1:106:status"), `value` is one short line. `observed_at`
    is in seconds of the session's clock; `turn` counts from 1. `call` is the digest of the call,
    `call_id` the id that the model gave it. `subjects` are the names of resources that the call
    named: none means that the fact is about several. `result_chars` is the length of the result.
    """

    key: str
    value: str
    observed_at: float
    turn: int
    call: str
    call_id: str
    subjects: tuple[str, ...] = ()
    result_chars: int = 0

    @property
    def category(self) -> FactCategory:
        """Return the category of the fact's key."""
        return category_of_key(self.key)

    @property
    def chars(self) -> int:
        """Return the characters that the fact counts against the limit of all facts."""
        return len(self.key) + len(self.value)


def category_of_key(key: str) -> FactCategory:
    """Return the category of a key by its first part; "resource" for any other."""
    scope = key.partition(":")[0]
    for category, scopes in _SCOPES.items():
        if scope in scopes.split():
            return category
    return "resource"


def fact_key(*parts: object) -> str:
    """Return the key of these parts, joined by colons, in one line of at most 160 characters."""
    key = one_line(":".join(str(part) for part in parts))
    if len(key) <= _LONGEST_KEY:
        return key
    digest = hashlib.sha256(key.encode()).hexdigest()[:12]
    return f"{key[: _LONGEST_KEY - 13]}~{digest}"


def one_line(text: str) -> str:
    """Return the text without line breaks and control characters, which could forge a fact.

    Of a long text only the beginning is returned.
    """
    text = text[:_MOST_READ]
    if text.isprintable():  # it has no breaks, and most texts are short and have none
        return text.strip()
    return " ".join(filter(None, map(str.strip, _BREAKS.split(text))))


def short_line(text: str, limit: int) -> str:
    """Return `cut(one_line(text), limit)`. Of a long text only the beginning is read for it."""
    beginning = one_line(text[: _READ_FOR_ONE * limit])
    return cut(beginning if len(beginning) > limit else one_line(text), limit)


def cut(text: str, limit: int) -> str:
    """Return at most `limit` characters of the text. A text that is cut ends in "…"."""
    return text if len(text) <= limit else text[: max(limit - 1, 0)] + "…"[:limit]


def subjects_of(names: Iterable[object]) -> tuple[str, ...]:
    """Return the names that are texts or numbers, in lower case, each once."""
    plain = (str(name).strip().lower() for name in names if isinstance(name, str | int))
    return tuple(dict.fromkeys(name for name in plain if name))
