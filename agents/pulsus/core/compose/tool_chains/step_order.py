"""Put the tools of a plan in order: as the request names them, producers first. Pure.

Only `pulsus compose-eval` uses it. The steps of a route are ordered as its clauses are, by
`core/compose/selection/time_order.py`, and those of a running plan by
`execution/engine/schedule.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from pulsus.core.compose.tool_chains.past_plans import PairCounts
from pulsus.core.compose.tool_chains.tool_evidence import ToolEvidence
from pulsus.core.compose.tool_chains.tool_signature import CLEAR, SignatureTable

_MOVES = 30
"""Limit on moves, because two tools may feed each other."""


def order_steps(
    tools: Collection[int],
    found: ToolEvidence,
    table: SignatureTable,
    pairs: PairCounts | None = None,
) -> list[int]:
    """Return the steps in order. A tool occurs once for each value that a later step needs.

    So an airport is looked up twice for a flight with an origin and a destination.
    """
    clause = dict(zip(found.tools, found.clause, strict=True))
    position = dict(zip(found.tools, found.position, strict=True))
    steps = sorted(tools, key=lambda tool: (clause[tool], position[tool], tool))

    def is_fed_by(first: int, later: int) -> bool:
        link, back = table.link(first, later), table.link(later, first)
        if link.strength < CLEAR or link.strength <= back.strength:
            return False
        return link.family or clause[first] == clause[later]

    _move_producers_first(steps, is_fed_by)
    if pairs is not None:

        def was_fed_by(first: int, later: int) -> bool:
            return (later, first) in pairs.fed and (first, later) not in pairs.fed

        _move_producers_first(steps, was_fed_by)
    return _repeat_for_roles(steps, table)


def _move_producers_first(steps: list[int], is_fed_by: Callable[[int, int], bool]) -> None:
    for _ in range(_MOVES):
        found = next(
            (
                (at, later)
                for at, step in enumerate(steps)
                for later in range(at + 1, len(steps))
                if is_fed_by(step, steps[later])
            ),
            None,
        )
        if found is None:
            return
        at, later = found
        steps.insert(at, steps.pop(later))


def _repeat_for_roles(steps: Sequence[int], table: SignatureTable) -> list[int]:
    repeated = []
    for at, step in enumerate(steps):
        links = ((later, table.link(later, step)) for later in steps[at + 1 :])
        roles = [table.count_roles(c, step) for c, link in links if link.strength and link.family]
        repeated += [step] * max(roles, default=1)
    return repeated
