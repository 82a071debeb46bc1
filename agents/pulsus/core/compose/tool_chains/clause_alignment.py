"""Assign each step of a plan to a clause of the request, in order. Pure.

Only `pulsus compose-eval` uses it. Clauses of a route get their tools in
`core/compose/selection/step_candidates.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from pulsus.core.compose.tool_chains.tool_evidence import RequestScores

_SHARED = 0.05
"""Cost of a step in the clause of the step before."""


def align_steps(request: RequestScores, tools: Sequence[str]) -> list[int]:
    """Return the number of the clause of each step, never falling; the sum of scores is highest.

    A request without clauses gives 0 for each step.
    """
    count = len(request.clauses)
    if not count or not tools:
        return [0] * len(tools)
    scores = [[clause.values(tool)[1] for clause in request.clauses] for tool in tools]
    best = [list(scores[0])]
    came_from: list[list[int]] = [[0] * count]
    for row in scores[1:]:
        before = best[-1]
        origins = [
            max(range(n + 1), key=lambda k: (before[k] - _SHARED * (k == n), -k))
            for n in range(count)
        ]
        best.append([before[o] - _SHARED * (o == n) + row[n] for n, o in enumerate(origins)])
        came_from.append(origins)
    at = max(range(count), key=lambda n: (best[-1][n], -n))
    found = [at]
    for origins in reversed(came_from[1:]):
        at = origins[at]
        found.append(at)
    return found[::-1]
