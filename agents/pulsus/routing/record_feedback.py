"""Record feedback on a run: which tool was right for its request. Effect: reads a trace.

The row is appended by `core/memory/past_routes.py`. `last` is resolved to a run id here. The effect
is predicted in `routing/feedback_effect.py`. An unknown run is refused (RUN_NOT_FOUND).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pulsus.core.memory import feedback_weights
from pulsus.core.memory.past_routes import PastRoute, latest_per_run
from pulsus.errors import RunNotFound
from pulsus.late_pattern import late_pattern

_ROUTE_ID = late_pattern(r"route-[0-9a-f]{8}")
_RUN_ID = late_pattern(r"run-\d{8}-\d{6}-[0-9a-f]{6}")


@dataclass(frozen=True, slots=True)
class PastRun:
    """The request of a run and the ids of the tools it chose; no id if nothing fitted."""

    run_id: str
    route_id: str | None
    request: str
    chosen: tuple[str, ...]


def find_run(run_id: str, routes: Sequence[PastRoute], log_dir: Path) -> PastRun:
    """Return the run of that id, from past routes or from its trace. Raises RunNotFound.

    A `route_id` means the newest run of that route, `last` the newest run that has a trace.
    """
    if run_id == "last" or _ROUTE_ID.fullmatch(run_id):
        run_id = _newest_run_id(run_id, routes, log_dir / "runs")
    known = next((r for r in routes if r.run_id == run_id and not r.is_feedback), None)
    if known:
        return PastRun(run_id, known.route_id, known.request, known.tools)
    if not _RUN_ID.fullmatch(run_id):
        raise RunNotFound(
            f"{run_id!r} is no run id",
            hint="it looks like run-20260301-120000-1a2b3c: the run_id that a route prints last, "
            "and the name of a folder in logs/runs; `last` means the newest run",
        )
    try:
        return _read_trace(run_id, log_dir / "runs" / run_id / "steps.log")
    except RunNotFound:
        told = next((r for r in reversed(routes) if r.run_id == run_id and not r.is_undo), None)
        if told is None:
            raise
        # `pulsus gc` removed the trace. The feedback has the request and the tools chosen wrongly.
        wrong = told.wrong if told.outcome == "accepted" else told.tools
        return PastRun(run_id, told.route_id, told.request, wrong)


def feedback_row(
    run: PastRun, right: Sequence[str], routes: Sequence[PastRoute], now: datetime
) -> PastRoute | None:
    """Return the row that keeps this feedback; None if the last feedback says the same.

    `right` are the tools that were right; it is empty if nothing fits. A chosen tool that is not
    among them was wrong. The row replaces earlier feedback on the same request.
    """
    last = feedback_weights.latest_feedback(routes).get(feedback_weights.request_key(run.request))
    before = last.tools if last and last.outcome == "accepted" else ()
    if last and last.run_id == run.run_id and before == tuple(right):
        return None
    wrong = tuple(tool for tool in dict.fromkeys(run.chosen) if tool not in right)
    return PastRoute(
        ts=now,
        run_id=run.run_id,
        route_id=run.route_id,
        request=run.request,
        tools=tuple(right) or wrong,
        outcome="accepted" if right else "rejected",
        wrong=wrong if right else (),
        is_feedback=True,
    )


def undo_row(run: PastRun, routes: Sequence[PastRoute], now: datetime) -> PastRoute | None:
    """Return the row that takes back the feedback on this run; None for a run without feedback.

    Nothing is removed from the log: the row supersedes the feedback. Earlier feedback on the same
    request, given on another run, counts again.
    """
    if not any(r.is_feedback and r.run_id == run.run_id for r in latest_per_run(routes)):
        return None
    return PastRoute(now, run.run_id, run.route_id, run.request, (), "accepted", is_feedback=True)


def run_with_feedback(run: PastRun, routes: Sequence[PastRoute]) -> str | None:
    """Return the id of the run of the same request that feedback was given on, or None."""
    last = feedback_weights.latest_feedback(routes).get(feedback_weights.request_key(run.request))
    return last.run_id if last else None


def _newest_run_id(said: str, routes: Sequence[PastRoute], runs: Path) -> str:
    """Return the id of the newest run that `said` means.

    Run ids begin with date and time. Within one second, the trace written last is the newest.
    """
    found: list[str] = []
    traces = [(p.parent.name, p.stat().st_mtime_ns) for p in runs.glob("run-*/steps.log")]
    for name, _ in sorted(traces, key=lambda t: (_second_of_run(t[0]), t[1]), reverse=True):
        try:
            run = _read_trace(name, runs / name / "steps.log")
        except RunNotFound:
            continue  # a run of another command, which was asked nothing
        if said in ("last", run.route_id):
            found.append(name)
            break
    found += [r.run_id for r in reversed(routes) if r.route_id == said and not r.is_feedback]
    if not found and said == "last" and not routes and not traces:
        raise RunNotFound(
            "no request was routed in this project yet, so `last` names no run",
            hint='route a request first: pulsus "REQUEST"',
        )
    if not found:
        what = f"no run of {said} is known here"
        what = "no trace of a routed request is here" if said == "last" else what
        raise RunNotFound(
            what, hint="its trace may have been removed by `pulsus gc`; route the request again"
        )
    return max(found, key=_second_of_run)


def _second_of_run(run_id: str) -> str:
    return run_id[: len("run-20260301-120000")]


def _read_trace(run_id: str, path: Path) -> PastRun:
    try:
        lines = path.read_bytes().splitlines()
    except OSError:
        raise RunNotFound(
            f"no run {run_id} is known here",
            hint="its trace may have been removed by `pulsus gc`; route the request again",
        ) from None
    events = [event for line in lines if (event := _parse_event(line))]
    asked = next((e for e in events if isinstance(e.get("request"), str)), None)
    if asked is None:
        raise RunNotFound(
            f"the trace of {run_id} does not say what was asked",
            hint="route the request again, then tell of that run",
        )
    decided = next((e for e in events if isinstance(e.get("selected"), list)), {})
    route_id = asked.get("route_id")
    return PastRun(
        run_id,
        route_id if isinstance(route_id, str) else None,
        asked["request"],
        tuple(str(tool) for tool in decided.get("selected", ())),
    )


def _parse_event(line: bytes) -> dict[str, Any]:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return event if isinstance(event, dict) else {}
