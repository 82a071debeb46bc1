"""The context in which a command is judged, and the findings that refuse one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from math import inf
from typing import Final

from pulsus.commands.content import ContentInspector
from pulsus.commands.program_tables.loader import Tables
from pulsus.commands.shell.words import Word
from pulsus.commands.verdict import CallFinding, Category, Destination, Phase, Reason
from pulsus.fast_dataclass import dataclass

DEEPEST = 3
"""Wrappers within wrappers that are followed (`timeout 5 nice env ls`)."""


LOW_SECONDS = 30.0
HIGH_SECONDS = 600.0
"""The limits of `policy.low_seconds` and `policy.high_seconds`, if no settings give others."""


class Measures:
    """The time and the destinations that the calls of one command add up to.

    `cut` is the time after which `timeout` ends what does not end by itself.
    """

    __slots__ = ("cut", "destinations", "high", "seconds", "word")

    def __init__(self) -> None:
        self.seconds, self.cut, self.high, self.word = 0.0, 0.0, False, ""
        self.destinations: list[Destination] = []


@dataclass(frozen=True, slots=True)
class JudgeContext:
    """`bounded`: something outside ends it (timeout N), after `within` seconds.

    `fed`: another program writes its input. `silent`: nothing can be typed, and nothing is fed but
    the end of a line.

    `depth`: wrappers around it. `inspectors`: kinds that plugins add to those that ship. `calls`
    judges a program call within another, `texts` a text that another shell reads (`classify.py`
    sets both; without them neither is a read). `seen` is given the words of each such call.
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
    calls: Callable[[Sequence[Word], JudgeContext], Iterable[CallFinding]] | None = None
    texts: Callable[[str, JudgeContext], Iterable[CallFinding]] | None = None
    seen: list[Sequence[Word]] | None = None
    measures: Measures | None = None


BLOCKS: Final[Mapping[Category, str]] = {
    "tty_flag": "asks for a terminal",
    "pager": "waits for keys",
    "unbounded_stream": "does not end by itself",
    "interactive_repl": "waits for typed input",
}
"""Reasons by category: in a non-interactive run no person can act on them."""

_OPENED: Final = ("it opens a prompt", BLOCKS["interactive_repl"])
"""What a program does if nothing feeds it."""

CHANGES: Final = "every call of it is known to change something"

ASSIGNED: Final = "a variable set before a program may change what it does"


def ends_in_time(context: JudgeContext) -> bool:
    """Return True if something outside ends the call in time; the time is then counted."""
    took = context.within * context.repeated
    if took > context.high_seconds:
        return False
    if context.measures is not None:
        context.measures.cut = max(context.measures.cut, took)
    return True


def refusal(
    phase: Phase, word: str, rule: str, instead: str = "", category: Category | None = None
) -> CallFinding:
    """Return a finding that refuses the command."""
    return CallFinding("write_or_unknown", Reason(phase, word, rule, instead), category)


def refuse_if_noninteractive(
    category: Category, word: str, rule: str, context: JudgeContext, *, ends: bool = True
) -> Iterator[CallFinding]:
    """Yield a refusal, unless the command only does not end and something outside ends it.

    `ends`: whether it would be a read then.
    """
    if category == "unbounded_stream" and context.bounded and ends_in_time(context):
        return
    fed = context.fed and not context.silent
    if category == "interactive_repl" and fed and rule.endswith(_OPENED):
        rule = "it runs or takes as commands what another program feeds it"
    way = ends and category == "unbounded_stream"
    instead = "timeout N in front of it ends it" if way else ""
    if way and context.bounded:
        instead = f"a timeout of at most {context.high_seconds:g} seconds would end it"
    yield refusal("non_interactive", word, rule, instead, category)
