"""Find tools that no route used: `pulsus tools check --unused-days`. Pure.

Tools that did not run are found in `routing/maintenance/staleness.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta

from pulsus.core.memory.past_routes import PastRoute, latest_per_run
from pulsus.core.storage.records.promotion_records import PromotionRecord
from pulsus.core.types import ToolSpec
from pulsus.routing.maintenance.catalogue_check import CatalogueFinding


def last_used(
    past: Iterable[PastRoute], latest: Mapping[str, PromotionRecord]
) -> dict[str, datetime]:
    """Return each tool's last use by id: accepted routes, and promotions a route led to.

    Feedback that was replaced or taken back is no use.
    """
    used = [r for r in latest_per_run(past) if r.outcome in ("accepted", "ran")]
    uses = [(tool, r.ts) for r in used for tool in r.tools]
    uses += [(tool, record.created) for tool, record in latest.items() if record.route_id]
    found: dict[str, datetime] = {}
    for tool, at in uses:
        found[tool] = max(found.get(tool, at), at)
    return found


def find_unused(
    tools: Iterable[ToolSpec],
    used: Mapping[str, datetime],
    made: Mapping[str, datetime],
    *,
    now: datetime,
    days: int | None,
) -> Iterator[CatalogueFinding]:
    """Yield tools that were never used, or not in the last `days`.

    Without `days`, never used tools are reported only if at least half of all tools are on record:
    a short history proves nothing. `used` maps an id to its last use, `made` to its last promotion.
    A tool younger than `days` may still find its users.
    """
    tools = list(tools)
    if days is None and 2 * sum(tool.id in used for tool in tools) < len(tools):
        return
    since = None if days is None else now - timedelta(days=days)
    for tool in tools:
        last = used.get(tool.id)
        young = since is not None and made.get(tool.id, since) > since
        if young or (last is not None and (since is None or last >= since)):
            continue
        reason = f"last used on {last:%Y-%m-%d}" if last else "no route on record used it"
        yield CatalogueFinding(
            "UNUSED",
            "info" if days is None else "warning",
            tool.path,
            (tool.id,),
            reason,
            "remove it, or give it the words people use (intents in its manifest)",
        )
