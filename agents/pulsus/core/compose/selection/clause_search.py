"""Search the candidates of a clause: a task of its own, or an operation on rows (spec §6).

The least p that a step of a plan needs stands here. `request_split.py` decides if the request is
cut into these clauses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache

from pulsus.core.contract import type_hints
from pulsus.core.types import Ranked, ToolSpec

Retrieve = Callable[[str], Sequence[Ranked]]
"""Return the candidates of a text, best first."""

_MIN_CLAUSE_P = 0.25
"""Below this p in its own clause a tool is no step, even if the whole request suits it."""


class ClauseSearch:
    """The searches of one request, each made once.

    `retrieve` searches the whole catalogue, `following` only tools that work on the output of
    another tool. `floor` is the least p of a step.
    """

    def __init__(self, retrieve: Retrieve, following: Retrieve | None, floor: float) -> None:
        self.floor = floor
        self._following = following
        self.candidates: Callable[[str], tuple[Ranked, ...]] = cache(lambda t: tuple(retrieve(t)))
        self.follow: Callable[[str, str], tuple[Ranked, ...]] = cache(self._follow)

    def find_tool(self, wording: str, operation: str | None) -> Ranked | None:
        """Return the best candidate for a clause if it may be a step, or None."""
        found = self.follow(wording, operation) if operation else self.candidates(wording)
        return found[0] if self.reaches_floor(found) else None

    def find_task(
        self, wording: str, longer: str | None, overall: Mapping[str, float]
    ) -> tuple[Ranked, ...]:
        """Return the candidates of a clause that is a task of its own.

        `overall` is the p of the tools for the whole request. `longer` is the clause with the
        operation on rows behind it. That often names what is listed: "processes | with sockets".
        """
        found = _raise_probability(self.candidates(wording), overall)
        if longer is None or self.reaches_floor(found):
            return found
        more = self.candidates(longer)
        return more if self.reaches_floor(more) and not needs_step_data(more[0].tool) else found

    def reaches_floor(self, found: Sequence[Ranked]) -> bool:
        """Return True if the first candidate is probable enough for a step."""
        return bool(found) and found[0].p >= self.floor

    def _follow(self, wording: str, operation: str) -> tuple[Ranked, ...]:
        if self._following is None:
            return ()
        found = tuple(self._following(f"{wording} {operation}"))
        if self.reaches_floor(found):
            return found
        # The grammar is sure of the operation: other words of the clause are values or remarks.
        return tuple(self._following(operation)) or found


def needs_step_data(tool: ToolSpec) -> bool:
    """Return True if the tool requires a list, table or document, which only a tool gives."""
    needed = (
        type_hints.parse_hint(arg.type_hint) for arg in tool.args if arg.required and arg.type_hint
    )
    return any(not hint.scalar for hint in needed)


def _raise_probability(
    found: tuple[Ranked, ...], overall: Mapping[str, float]
) -> tuple[Ranked, ...]:
    """Return the candidates, the first with at least its p for the whole request."""
    if not found or found[0].p < _MIN_CLAUSE_P:
        return found
    first = found[0]
    return (replace(first, p=max(first.p, overall.get(first.tool.id, 0.0))), *found[1:])
