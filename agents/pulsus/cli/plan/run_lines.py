"""A run of a plan as lines for a person, and as JSON. Pure.

The states are written in `execution/journal/journal.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pulsus.cli.console import in_given_places
from pulsus.cli.render.validation_text import TAG, printable
from pulsus.cli.results.value_text import local_time
from pulsus.core.compose.saved_plans.saved_plan import SavedPlan
from pulsus.core.text.plurals import counted
from pulsus.core.types import Plan
from pulsus.execution.journal.run_records import PersonNeeded, RunRecord, StepRecord

_WORDS = {
    "pending": "not started",
    "started": "running",
    "in_doubt": "in doubt",
    "unverified": "unverified",
}


@printable
def run_lines(record: RunRecord, saved: SavedPlan, *, why: bool = True) -> Iterator[str]:
    """Yield one line on the run, one a step, and what a person has to decide.

    `why` also gives the reason why it waits, and the way on.
    """
    tools = {step.id: step.tool for step in saved.plan.steps}
    # A failed run says why below its step.
    ended = record.error if why and record.state == "cancelled" else None
    because = f", {ended.get('message')}" if ended else ""
    yield f"{TAG} {record.run_id}: {record.state}{because}"
    whole = [each for each in record.steps if each.item is None]
    wide = max((len(each.step) for each in whole), default=0)
    is_killed = record.state == "interrupted"
    states = {each.step: state_words(each, is_killed=is_killed) for each in whole}
    broad = max(map(len, states.values()), default=0)
    for each in whole:
        took = f"  {each.duration_ms} ms" if each.duration_ms is not None else ""
        line = f"  {each.step:<{wide}}  {states[each.step]:<{broad}}  {tools[each.step]}{took}"
        yield line.rstrip()
        if each.error:
            yield f"      {each.error.get('code')}: {each.error.get('message')}"
        elif each.reason and each.state in ("in_doubt", "skipped", "waiting"):
            yield f"      {_reason(each)}"
        if each.verification and not each.verification.ok:
            checker = each.verification.tool or "not verified"
            yield f"      {checker}: {each.verification.reason}"
    if is_killed:
        yield f"  go on: {in_given_places(f'pulsus runs resume {record.run_id}')}"
    elif ended and ended.get("hint"):
        yield f"  {in_given_places(str(ended['hint']))}"
    if record.needs:
        doubt = any(each.state == "in_doubt" for each in record.steps)
        ways = settle_ways(record.run_id, record.needs.step, saved) if doubt else ()
        yield from needs_lines(record.run_id, record.needs, in_doubt=doubt, why=why, ways=ways)


def needs_lines(
    run_id: str,
    needs: PersonNeeded,
    *,
    in_doubt: bool,
    why: bool = True,
    ways: Sequence[str] = (),
) -> Iterator[str]:
    """Yield whom a waiting run waits for, and with `why` the reason and the way on.

    `in_doubt` says that one of its writes is, and `ways` how to settle it, if the plan is known.
    Times are local. The id of the approval is not shown: no command takes it, and the ids of
    `pulsus approvals` look like it.
    """
    resume = f"pulsus runs resume {run_id}"
    show = in_given_places(f"pulsus runs show {run_id}")
    if in_doubt:
        # A confirmation settles nothing: it is unknown what the write did.
        who = "a person, who settles it"
        ways = ways or (f"see how to settle it: {show}",)
    elif needs.who == "approver":
        who = "an approver, who types the target of the write"
        ways = (f"on a terminal: {in_given_places(resume)}",)
    else:
        who = "a person, who confirms it"
        ways = (f"confirm it: {in_given_places(f'{resume} --yes')}",)
    yield f"  waits for {who}"
    yield f"      since {local_time(needs.since)}, until {local_time(needs.until)}"
    if why:
        yield f"      {needs.step}: {needs.why}"
        yield from (f"      {way}" for way in ways)


def settle_ways(run_id: str, step: str, saved: SavedPlan) -> tuple[str, str]:
    """Return the commands that settle a write in doubt, each with what a person has found.

    A write that runs again is confirmed again, and `--yes` does not stand for an approver.
    """
    settle = f"pulsus runs resume {run_id} --settle {step}="
    is_strict = any(each.step == step and each.approval == "approver" for each in saved.review)
    again = in_given_places(f"{settle}again" if is_strict else f"{settle}again --yes")
    otherwise = (
        f"if not, an approver runs it again at a terminal, and types the target: {again}"
        if is_strict
        else f"if not, confirm it and run it again: {again}"
    )
    return f"if it took effect: {in_given_places(f'{settle}done')}", otherwise


def run_to_dict(record: RunRecord, plan: Plan) -> dict[str, Any]:
    """Return the run as JSON values."""
    tools = {step.id: step.tool for step in plan.steps}
    whole = [each for each in record.steps if each.item is None]
    return {
        "run_id": record.run_id,
        "state": record.state,
        "request": record.request,
        "started_at": record.started_at,
        "ended_at": record.ended_at,
        "facts": dict(record.facts),
        "steps": [_step_to_dict(each, tools[each.step], record) for each in whole],
        "waiting": needs_to_dict(record.needs),
    }


def needs_to_dict(needs: PersonNeeded | None) -> dict[str, Any] | None:
    """Return what a waiting run waits for as JSON values, or None."""
    if needs is None:
        return None
    return {
        "approval_id": needs.approval_id,
        "step": needs.step,
        "item": needs.item,
        "why": needs.why,
        "since": needs.since,
        "until": needs.until,
        "who": needs.who,
    }


def _step_to_dict(found: StepRecord, tool: str, record: RunRecord) -> dict[str, Any]:
    items = [each for each in record.steps if each.step == found.step and each.item is not None]
    counts: dict[str, int] = {}
    for each in items:
        counts[each.state] = counts.get(each.state, 0) + 1
    verification = found.verification
    return {
        "id": found.step,
        "tool": tool,
        "state": found.state,
        "write": found.is_write,
        "attempt": found.attempt,
        "duration_ms": found.duration_ms,
        "items": counts if found.items is not None else None,
        "verified": verification.ok if verification else (False if found.is_write else None),
        "verification": None
        if verification is None
        else {"tool": verification.tool, "ok": verification.ok, "reason": verification.reason},
        "reason": found.reason,
        "error": dict(found.error) if found.error else None,
        "result_file": found.result_file,
    }


def state_words(found: StepRecord, *, is_killed: bool = False) -> str:
    """Return the state of a step for a person; of a write also if it is verified.

    `is_killed` says that the process of the run was killed: a write that it started is in doubt.
    """
    word = _WORDS.get(found.state, found.state)
    if is_killed and found.state == "started":
        doubt = "in doubt" if found.is_write and found.items is None else "not ended"
        word = f"{doubt} (the process was killed)"
    if found.state == "done" and found.is_write:
        word = (
            "done, verified"
            if found.verification and found.verification.ok
            else ("done, not verified")
        )
    return f"{word} ({counted(found.items, 'item')})" if found.items is not None else word


def _reason(found: StepRecord) -> str:
    if found.reason == "condition":
        return "its `when` is false"
    if found.reason == "dependency":
        return "a step that it needs did not pass"
    return str(found.reason)
