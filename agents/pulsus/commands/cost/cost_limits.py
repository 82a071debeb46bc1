"""The cost of a command: low, high, or unbounded if it runs or reads more than the limits here.

A call that runs longer than `policy.high_seconds` (600 s) is refused here as unbounded; above
`policy.low_seconds` (30 s) its cost is high. The settings are in `config/settings.py`, the numbers
without settings in `commands/judge_context.py`.

What is done with a high cost is decided by `gates/command_policy.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from pulsus.commands.command_verdict import CallFinding, Cost, refusal
from pulsus.commands.cost.cost_estimate import estimate
from pulsus.commands.judge_context import JudgeContext
from pulsus.commands.program_tables.option_parser import Parsed
from pulsus.commands.program_tables.program_table import Node


def check_duration(
    node: Node, levels: Sequence[Parsed], context: JudgeContext, *, fits: bool
) -> Iterator[CallFinding]:
    """Yield a refusal of a call that runs longer than the limits allow. Else its time is
    counted."""
    if node.lasts is None:
        return
    found = estimate(node.lasts, levels, context.folders)
    each = found.seconds
    # A quick program that runs for each word it is fed ends when the words do.
    duration = min(each * context.repeated if each >= 1 else each, context.within)
    if duration == inf and not fits:
        return
    if duration > context.high_seconds:
        yield _refuse_duration(found.word or node.name, duration, context)
    elif context.measures is not None:
        context.measures.seconds += duration
        context.measures.high = context.measures.high or found.high
        context.measures.word = found.word or context.measures.word


def _refuse_duration(word: str, duration: float, context: JudgeContext) -> CallFinding:
    most = describe_duration(context.high_seconds)
    rule = f"it runs for {describe_duration(duration)}, and the limit is {most}"
    instead = "put `timeout N` in front of the command to end it"
    return refusal("non_interactive", word, rule, instead, "unbounded_stream")


def describe_duration(time: float) -> str:
    """Return a time in words."""
    if time == inf:
        return "an unknown time"
    for name, length in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if time >= 2 * length:
            return f"{time / length:,.0f} {name}"
    return f"{time:,.0f} seconds"


def check_total_duration(context: JudgeContext) -> Iterator[CallFinding]:
    """Yield a refusal if the calls of one command run too long one after another."""
    measures = context.measures
    if measures is not None and measures.seconds > context.high_seconds:
        yield _refuse_duration(measures.word, measures.seconds, context)


def cost_of(context: JudgeContext, *, endless: bool) -> Cost:
    """Return the cost of a command whose calls were measured."""
    measures = context.measures
    if endless:
        return "unbounded"
    if measures is not None and (measures.high or measures.seconds > context.low_seconds):
        return "high"
    return "low"
