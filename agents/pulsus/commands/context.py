"""What is known around a command that is judged: how deep it is wrapped, and whether it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field

from pulsus.commands.content import ContentInspector
from pulsus.commands.tables import Tables
from pulsus.commands.verdict import Finding
from pulsus.commands.words import Word
from pulsus.record import dataclass

DEEPEST = 3
"""Wrappers within wrappers that are followed (`timeout 5 nice env ls`)."""


@dataclass(frozen=True, slots=True)
class Context:
    """`bounded`: something outside ends it (timeout N). `fed`: another program writes its input.
    `silent`: nothing can be typed, and nothing is fed but the end of a line.

    `depth`: wrappers around it. `inspectors`: kinds that plugins add to those that ship. `calls`
    judges a program call within another, `texts` a text that another shell reads (`classify.py`
    sets both; without them neither is a read). `seen` is given the words of each such call.
    """

    tables: Tables = field(default_factory=Tables)
    inspectors: Mapping[str, ContentInspector] = field(default_factory=dict)
    bounded: bool = False
    fed: bool = False
    silent: bool = False
    depth: int = 0
    calls: Callable[[Sequence[Word], Context], Iterable[Finding]] | None = None
    texts: Callable[[str, Context], Iterable[Finding]] | None = None
    seen: list[Sequence[Word]] | None = None
