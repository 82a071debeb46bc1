"""The context in which a command is judged: tables, limits, and what surrounds the call.

The limit on nested wrappers and the default time limits (low 30 s, high 600 s) are constants here;
`commands/cost/cost_limits.py` compares with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from math import inf

from pulsus.commands.command_verdict import CallFinding, Destination
from pulsus.commands.content_inspector import ContentInspector
from pulsus.commands.program_tables.loader import Tables
from pulsus.commands.shell.words import Word
from pulsus.fast_dataclass import dataclass

DEEPEST = 3
"""Wrappers within wrappers that are followed (`timeout 5 nice env ls`)."""


LOW_SECONDS = 30.0
HIGH_SECONDS = 600.0
"""The limits of `policy.low_seconds` and `policy.high_seconds`, if no settings give others."""


class Measures:
    """The time and the destinations that the calls of one command add up to.

    `cut` is the time after which `timeout` ends what does not end by itself. `variables` are the
    assignments before programs: a program that connects may send their values.
    """

    __slots__ = ("cut", "destinations", "high", "seconds", "variables", "word")

    def __init__(self) -> None:
        self.seconds, self.cut, self.high, self.word = 0.0, 0.0, False, ""
        self.destinations: list[Destination] = []
        self.variables: list[tuple[str, str]] = []


@dataclass(frozen=True, slots=True)
class JudgeContext:
    """`bounded`: something outside ends it (timeout N), after `within` seconds.

    `fed`: another program writes its input. `silent`: nothing can be typed, and nothing is fed but
    the end of a line.

    `depth`: wrappers around it. `inspectors`: kinds that plugins add to those that ship. `calls`
    judges a program call within another, `texts` a text that another shell reads (`classify.py`
    sets both; without them neither is a read). `seen` is given the words of each such call.
    `folders` are those that the command went to before, each within the one before. `remote`: it
    runs on another machine, whose environment is not prepared.
    `repeated` is how often the program is taken to run (xargs). `measures` collects times and
    destinations. A call that runs for more than `high_seconds` is without end.
    """

    tables: Tables = field(default_factory=Tables)
    inspectors: Mapping[str, ContentInspector] = field(default_factory=dict)
    bounded: bool = False
    within: float = inf
    repeated: float = 1.0
    low_seconds: float = LOW_SECONDS
    high_seconds: float = HIGH_SECONDS
    fed: bool = False
    silent: bool = False
    depth: int = 0
    remote: bool = False
    folders: tuple[str, ...] = ()
    calls: Callable[[Sequence[Word], JudgeContext], Iterable[CallFinding]] | None = None
    texts: Callable[[str, JudgeContext], Iterable[CallFinding]] | None = None
    seen: list[Sequence[Word]] | None = None
    measures: Measures | None = None
