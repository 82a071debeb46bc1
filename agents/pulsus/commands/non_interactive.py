"""Refuse what is interactive: a terminal, a pager, a prompt, or no end of its own.

Commands that would wait for a password, open an editor or a pager, or follow a log without end get
their refusal here.

Options that keep a program from asking (ssh: `BatchMode`, `StrictHostKeyChecking`) are added by
`safe_options.py`.

That a call does not end by itself (`tail -f`) is the key `streams` of a program's table.

That a call runs too long is decided in `commands/cost/cost_limits.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from pulsus.commands.command_verdict import CallFinding, Category, refusal
from pulsus.commands.judge_context import JudgeContext

BLOCKS: Final[Mapping[Category, str]] = {
    "tty_flag": "asks for a terminal",
    "pager": "waits for keys",
    "unbounded_stream": "does not end by itself",
    "interactive_repl": "waits for typed input",
}
"""Reasons by category: in a non-interactive run no person can act on them."""

_OPENED: Final = ("it opens a prompt", BLOCKS["interactive_repl"])
"""The rule of a program that opens a prompt if nothing feeds it."""


def ends_in_time(context: JudgeContext) -> bool:
    """Return True if something outside ends the call in time; the time is then counted."""
    took = context.within * context.repeated
    if took > context.high_seconds:
        return False
    if context.measures is not None:
        context.measures.cut = max(context.measures.cut, took)
    return True


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
    instead = "put `timeout N` in front of the command to end it" if way else ""
    if way and context.bounded:
        instead = f"a timeout of at most {context.high_seconds:g} seconds would end it"
    yield refusal("non_interactive", word, rule, instead, category)
