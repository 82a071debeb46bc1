"""A replayed run of a plan or of the agent, as lines for a person and as JSON. Pure.

The replay is made in `routing/plans/replay_run.py`, that of the agent in `agent/trace_replay.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, assert_never

from pulsus.cli.plan.run_lines import run_to_dict, state_words
from pulsus.cli.render.inputs_text import shown
from pulsus.cli.render.validation_text import printable
from pulsus.cli.results.result_lines import ResultView, result_lines
from pulsus.routing.plans.replay_run import RunReplay

if TYPE_CHECKING:
    from pulsus.agent.trace_replay import ReplayedVerdict

_MOST_ROWS = 10


@printable
def replay_lines(found: RunReplay, *, columns: int | None, full: bool) -> Iterator[str]:
    """Yield each call in the order in which it ended, then what moved since.

    `columns` are those of the reader, None for other programs.
    """
    yield f"replay of {found.record.run_id}, nothing runs: {found.record.request}"
    for call in found.calls:
        item = "" if call.record.item is None else f"[{call.record.item}]"
        yield f"{call.record.step}{item}  {state_words(call.record)}  {call.tool}"
        if call.inputs:
            given = ", ".join(f"{name}={shown(value)}" for name, value in call.inputs.items())
            yield f"    with {given}"
        if call.record.error:
            yield f"    {call.record.error.get('code')}: {call.record.error.get('message')}"
        if call.result is not None:
            # Other programs get exact values, as from `pulsus run`.
            wide = None if columns is None else 76
            view = ResultView(wide, most_rows=None if full else _MOST_ROWS, full=full)
            for _, line in result_lines(call.result, view):
                yield f"    {line}".rstrip()
    if found.moved:
        yield "the same plan would be refused today:"
        yield from (f"  {each}" for each in found.moved)
    else:
        yield "its tools, settings and inputs are as they were"


def replay_to_dict(found: RunReplay) -> dict[str, Any]:
    """Return the replay as JSON values."""
    calls = [
        {
            "step": call.record.step,
            "item": call.record.item,
            "tool": call.tool,
            "state": call.record.state,
            "inputs": None if call.inputs is None else dict(call.inputs),
            "result": call.result,
            "error": dict(call.record.error) if call.record.error else None,
        }
        for call in found.calls
    ]
    return {**run_to_dict(found.record, found.saved.plan), "calls": calls, "moved": [*found.moved]}


def has_changed(verdicts: Sequence[ReplayedVerdict]) -> bool:
    """Return True if a call of the agent is decided differently today."""
    return any(each.state == "changed" for each in verdicts)


@printable
def verdict_lines(run_id: str, verdicts: Sequence[ReplayedVerdict]) -> Iterator[str]:
    """Yield each call of an agent's run with its verdict then and now."""
    yield f"replay of {run_id}, nothing runs"
    if not verdicts:
        yield "this run of the agent has no recorded call"
    for each in verdicts:
        yield f"step {each.step}  {each.tool}  {_verdict_text(each)}"


def _verdict_text(found: ReplayedVerdict) -> str:
    match found.state:
        case "same":
            return f"{found.recorded}, as recorded"
        case "changed":
            return f"CHANGED: recorded {found.recorded}, now {found.now}"
        case "digest":
            return f"{found.recorded}, compared by digest only: {found.why}"
        case _:
            assert_never(found.state)


def verdicts_to_dict(run_id: str, verdicts: Sequence[ReplayedVerdict]) -> dict[str, Any]:
    """Return the verdicts of an agent's run as JSON values."""
    from pulsus.agent.trace_replay import verdicts_to_json  # slow to load, for the agent only

    return {
        "run_id": run_id,
        "ok": not has_changed(verdicts),
        "verdicts": verdicts_to_json(verdicts),
    }
