"""Past routes, in `.pulsus/accepted.jsonl`, and how each tool fared. Effect: reads and appends.

Past requests are kept here, redacted; the newest `_MAX_READ_BYTES` (4 MiB) are read, older ones are
forgotten. Success counts of a tool come from here; `core/rankers/history_feature.py` makes a score
of them, and `core/memory/recall.py` compares requests. `routing/search/past_request_store.py`
caches what was read. Chats of the agent are kept in `agent/sessions/session_file.py`.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, get_args

from pulsus.core.storage.records.promotion_records import PromotionRecord
from pulsus.core.system import jsonl
from pulsus.core.telemetry.redaction import Redactor
from pulsus.core.types import ToolHistory
from pulsus.errors import StateCorrupt
from pulsus.fast_dataclass import dataclass

FILE_NAME = "accepted.jsonl"

Outcome = Literal["accepted", "ran", "failed", "rejected"]
"""The end of a route. `accepted`: a person approved the tool, confirmed its run, chose it as the
answer to a question, or gave feedback. `ran`: the tool gave an answer, right or wrong.
"""

_MAX_READ_BYTES = 4 << 20
"""Some ten thousand routes; older ones no longer tell much and cost time on every request."""

_STEP_BYTES = 1 << 20
"""The oldest are forgotten so many bytes at a time: what was counted of the rest stays good."""


@dataclass(frozen=True, slots=True)
class PastRoute:
    """One route that came to an end. `ts` is aware; `tools` are ids, in order.

    `is_feedback`: a user gave feedback (`pulsus feedback`), also on which tools were `wrong` for
    the request. `has_own_terms`: an applied plan has conditions or values beyond its tools.
    """

    ts: datetime
    run_id: str
    route_id: str | None
    request: str
    tools: tuple[str, ...]
    outcome: Outcome
    wrong: tuple[str, ...] = ()
    is_feedback: bool = False
    has_own_terms: bool = False

    @property
    def is_undo(self) -> bool:
        """True for feedback that names no tool right or wrong: it takes back what the run had.

        "Nothing fits" is another row: its outcome is `rejected`.
        """
        return self.is_feedback and self.outcome == "accepted" and not self.tools


def record_route(state_dir: Path, route: PastRoute, redactor: Redactor) -> None:
    """Append one route, its request redacted. Raises DiskFull or StorageUnwritable.

    The folder must exist (`open_state`).
    """
    row: dict[str, object] = {
        "ts": route.ts.astimezone(UTC).isoformat(timespec="seconds"),
        "run_id": route.run_id,
        "route_id": route.route_id,
        "request": redactor.redact(route.request),
        "tools": list(route.tools),
        "outcome": route.outcome,
    }
    if route.is_feedback:
        row |= {"wrong": list(route.wrong), "told": True}
    if route.has_own_terms:
        row["own_terms"] = True
    jsonl.append(state_dir / FILE_NAME, jsonl.encode({k: jsonl.plain(v) for k, v in row.items()}))


def load_routes(state_dir: Path) -> tuple[PastRoute, ...]:
    """Return the latest past routes, oldest first; none where nothing was stored. Writes nothing.

    A last line that was cut short does not count. Raises StateCorrupt naming file and line.
    """
    path = state_dir / FILE_NAME
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            skipped = max(0, -(-(size - _MAX_READ_BYTES) // _STEP_BYTES) * _STEP_BYTES)
            file.seek(skipped)
            data = file.read()
    except FileNotFoundError:
        return ()
    except OSError as failure:
        raise _build_corrupt_error(path, str(failure.strerror)) from failure
    lines = data.split(b"\n")
    first = 1 if skipped else 0
    found = []
    for number, line in enumerate(lines[first:-1], start=1):
        try:
            found.append(_parse_route(line))
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as failure:
            where = f"line {number}" if not first else f"line {number} after byte {skipped}"
            raise _build_corrupt_error(path, f"{where}: {failure}") from failure
    return tuple(found)


def latest_per_run(past: Iterable[PastRoute]) -> tuple[PastRoute, ...]:
    """Return one route for each run: later feedback replaces earlier feedback, and an undo removes
    it.
    """
    routes = tuple(past)
    last = {route.run_id: route for route in routes if route.is_feedback}
    return tuple(r for r in routes if not r.is_feedback or (last[r.run_id] is r and not r.is_undo))


def history(
    records: Iterable[PromotionRecord], past: Iterable[PastRoute]
) -> dict[str, ToolHistory]:
    """Return the history of every tool that was promoted or routed to, by tool id.

    A record that only changes a tool's status is no promotion.
    """
    promotions: Counter[str] = Counter()
    accepted: Counter[str] = Counter()
    ran: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    last: dict[str, datetime] = {}
    for rev in records:
        if rev.event:
            continue
        promotions[rev.tool_id] += 1
        last[rev.tool_id] = _later_time(last.get(rev.tool_id), rev.created)
    for route in latest_per_run(past):
        for tool_id in set(route.tools):
            if route.outcome in ("accepted", "ran"):
                (accepted if route.outcome == "accepted" else ran)[tool_id] += 1
                last[tool_id] = _later_time(last.get(tool_id), route.ts)
            else:
                failed[tool_id] += 1
        failed.update(set(route.wrong))
    return {
        t: ToolHistory(t, promotions[t], accepted[t], failed[t], last.get(t), ran[t])
        for t in sorted({*promotions, *accepted, *ran, *failed})
    }


def _later_time(known: datetime | None, new: datetime) -> datetime:
    new = new.astimezone(UTC)
    return new if known is None else max(known, new)


def _parse_route(line: bytes) -> PastRoute:
    row = json.loads(line)
    if not isinstance(row, dict):
        raise TypeError(f"expected a JSON object, found {type(row).__name__}")
    ts = datetime.fromisoformat(row["ts"])
    if ts.tzinfo is None:
        raise ValueError(f"ts {row['ts']!r} has no offset")
    ts = ts.astimezone(UTC)
    if row["outcome"] not in get_args(Outcome):
        raise ValueError(f"outcome {row['outcome']!r} is none of {get_args(Outcome)}")
    return PastRoute(
        ts,
        str(row["run_id"]),
        row["route_id"],
        str(row["request"]),
        _parse_ids(row["tools"], "tools"),
        row["outcome"],
        _parse_ids(row.get("wrong", []), "wrong"),
        row.get("told", False) is True,
        row.get("own_terms", False) is True,
    )


def _parse_ids(found: object, name: str) -> tuple[str, ...]:
    if not isinstance(found, list) or not all(isinstance(t, str) for t in found):
        raise TypeError(f"{name} must be a list of ids, found {found!r:.80}")
    return tuple(found)


def _build_corrupt_error(path: Path, why: str) -> StateCorrupt:
    return StateCorrupt(
        f"cannot read past routes in {path}: {why}",
        hint="delete that line, or the file: only ranking history is lost",
        path=str(path),
    )
