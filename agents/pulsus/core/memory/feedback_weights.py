"""Change by a user's feedback the weight of other runs of the same request (ADR 16). Pure.

The newest feedback on a request outweighs runs of it that a person accepted. A run that says
otherwise counts nothing until the feedback has faded to half, and from then on ever more.
`routing/record_feedback.py` records the feedback (`pulsus feedback`). How fast it fades (decay) is
`ranker.history_half_life_days`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pulsus.core.memory.past_routes import PastRoute, latest_per_run
from pulsus.core.memory.request_index import PastRequest
from pulsus.core.text.phrases import phrases

TOLD = 2.0
"""Weight of a user's feedback on a tool beside a successful run."""

_DAY = 86_400.0


def request_key(request: str) -> frozenset[int]:
    """Return the key that requests of the same words in the same order share."""
    return frozenset(phrase.key for phrase in phrases(request))


def weighted_past_requests(
    routes: Iterable[PastRoute], half_life_days: float, before: Sequence[PastRoute] = ()
) -> Iterator[PastRequest]:
    """Yield what past routes, oldest first, say; the words among those `before` them hold as well.

    A run that failed, or that only gave an answer, does not say whether its tool was the right one.
    A run without a request says nothing of any tool.
    """
    routes = tuple(routes)
    new = latest_per_run(routes)
    words = latest_feedback((*before, *routes))
    for route in new:
        if not route.request:
            continue
        right, wrong = _right_and_wrong_tools(route)
        feedback = words.get(request_key(route.request)) if words else None
        if feedback is None or feedback is route:
            yield from _build_past_requests(route, right, wrong, TOLD if route.is_feedback else 1.0)
            continue
        confirmed = (
            frozenset(feedback.tools) if feedback.outcome == "accepted" else frozenset[str]()
        )
        agreed = [t for t in right if t in confirmed], [t for t in wrong if t not in confirmed]
        denied = [t for t in right if t not in confirmed], [t for t in wrong if t in confirmed]
        count = TOLD if route.is_feedback else 1.0
        yield from _build_past_requests(route, *agreed, count)
        yield from _build_past_requests(
            route, *denied, count * _contradiction_weight(feedback, route, half_life_days)
        )


def latest_feedback(routes: Iterable[PastRoute]) -> Mapping[frozenset[int], PastRoute]:
    """Return the latest feedback on each request."""
    return {
        request_key(route.request): route for route in latest_per_run(routes) if route.is_feedback
    }


def _right_and_wrong_tools(route: PastRoute) -> tuple[Sequence[str], Sequence[str]]:
    right = route.tools if route.outcome == "accepted" else ()
    wrong = (*route.wrong, *(route.tools if route.outcome == "rejected" else ()))
    return tuple(dict.fromkeys(right)), tuple(dict.fromkeys(wrong))


def _build_past_requests(
    route: PastRoute, right: Sequence[str], wrong: Sequence[str], count: float
) -> Iterator[PastRequest]:
    if count and (right or wrong):
        yield PastRequest(route.request, tuple(right), tuple(wrong), count, route.ts.timestamp())


def _contradiction_weight(feedback: PastRoute, route: PastRoute, half_life_days: float) -> float:
    """Return the weight in [0, 1) of a run that contradicts feedback: 0 for the first half-life."""
    if route.is_feedback:
        return 0.0  # the newest word stands in place of an earlier one
    days = max(0.0, (route.ts - feedback.ts).total_seconds() / _DAY)
    return float(max(0.0, 1 - 2 * 0.5 ** (days / half_life_days)))
