"""Findings that are no read, as every part of the gate makes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from pulsus.commands.context import JudgeContext
from pulsus.commands.verdict import Category, Finding, Phase, Reason

BLOCKS: Final[Mapping[Category, str]] = {
    "tty_flag": "asks for a terminal",
    "pager": "waits for keys",
    "unbounded_stream": "does not end by itself",
    "interactive_repl": "waits for somebody to type",
}
"""What a program does that nobody is there for."""

_OPENED: Final = ("it opens a prompt", BLOCKS["interactive_repl"])
"""What a program does that nothing feeds."""

CHANGES: Final = "every call of it is known to change something"

ASSIGNED: Final = "a variable set before a program may change what it does"


def ended(context: JudgeContext) -> bool:
    """Whether something outside ends the call in time; the time is then counted."""
    took = context.within * context.repeated
    if took > context.high_seconds:
        return False
    if context.measures is not None:
        context.measures.cut = max(context.measures.cut, took)
    return True


def refusal(phase: Phase, word: str, rule: str, instead: str = "") -> Finding:
    """A finding that is no read."""
    return Finding("write_or_unknown", Reason(phase, word, rule, instead))


def blocked(
    category: Category, word: str, rule: str, context: JudgeContext, *, ends: bool = True
) -> Iterator[Finding]:
    """What blocks a command; nothing where it only does not end and something outside ends it.

    `ends`: whether it would be a read then.
    """
    if category == "unbounded_stream" and context.bounded and ended(context):
        return
    fed = context.fed and not context.silent
    if category == "interactive_repl" and fed and rule.endswith(_OPENED):
        rule = "it runs or takes as commands what another program feeds it"
    way = ends and category == "unbounded_stream"
    instead = "timeout N before it would end it" if way else ""
    if way and context.bounded:
        instead = f"a timeout of at most {context.high_seconds:g} seconds would end it"
    reason = Reason("non_interactive", word, rule, instead)
    yield Finding("write_or_unknown", reason, category)
