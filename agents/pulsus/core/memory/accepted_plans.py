"""Plans of several steps that a person accepted, by request (spec §6, ADR 16). Pure.

The newest `MOST_PLANS` are remembered. `core/compose/selection/accepted_plan.py` composes one again
for the same request; a composition that was promoted is found in
`core/compose/selection/promoted_plan.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from pulsus.core.memory.content_stems import list_content_stems
from pulsus.core.memory.feedback_weights import request_key
from pulsus.core.memory.past_routes import PastRoute, latest_per_run
from pulsus.fast_dataclass import dataclass

MOST_PLANS = 200
"""The latest so many: each costs the search some microseconds."""


@dataclass(frozen=True, slots=True)
class AcceptedPlan:
    """The request of a plan, and the ids of its tools in order.

    `has_own_terms`: the plan that `run_id` applied has conditions or values that its tools alone do
    not give.
    """

    request: str
    tools: tuple[str, ...]
    run_id: str = ""
    has_own_terms: bool = False


def list_accepted_plans(routes: Sequence[PastRoute]) -> tuple[AcceptedPlan, ...]:
    """Return the plans that hold for their requests, the latest first; `routes` oldest first.

    What a person said last of a request counts. A rejection, or an accepted single tool, ends an
    earlier plan for the same words. A run that only gave an answer, or failed, says nothing.
    Feedback also ends plans for the same words with other values, because those lead to it.
    """
    found: dict[frozenset[int], AcceptedPlan] = {}
    stems = cache(list_content_stems)  # they cost a quarter of a millisecond for each request
    for route in latest_per_run(routes):
        if not route.request or route.outcome not in ("accepted", "rejected"):
            continue
        key = request_key(route.request)
        found.pop(key, None)
        if route.is_feedback and found:
            same = stems(route.request)
            found = {k: plan for k, plan in found.items() if stems(plan.request) != same}
        if route.outcome == "accepted" and len(route.tools) > 1:
            found[key] = AcceptedPlan(route.request, route.tools, route.run_id, route.has_own_terms)
    return tuple(reversed(found.values()))[:MOST_PLANS]
