"""A catalogue made ready to be measured, and how a request is searched for in it. Pure.

The figures are computed in `routing/evaluation/eval_metrics.py`.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from pulsus.core.types import InputValue, ParsedIntent, Ranked
from pulsus.routing.evaluation.dataset import GoldenRow
from pulsus.routing.evaluation.diagnosis import DiagnosisContext
from pulsus.routing.evaluation.eval_metrics import EvalReport, evaluate
from pulsus.routing.prompt_parser import PromptParser
from pulsus.routing.search.search_result import SearchResult
from pulsus.routing.search.searcher import Searcher

Fill = Callable[[ParsedIntent, SearchResult], Mapping[str, InputValue]]
"""A request and its search result → the inputs that a route fills, by name."""


@dataclass(frozen=True)
class SearchSetup:
    """A catalogue made ready, and how a request is searched for in it.

    `fill` is None for bare rows: their parameters have no types, so no value can be judged.
    """

    searcher: Searcher
    parser: PromptParser | None
    known: frozenset[str]
    index_seconds: float
    tau: float
    fill: Fill | None = None

    def search(self, query: str, include: Collection[str] = ()) -> SearchResult:
        """As `pulsus route` does it."""
        if self.parser is None:
            return self.searcher.search(self.intent(query), include=include)
        reading = self.parser.read(query)
        return self.searcher.search(reading.intent, include=include, hinted=reading.hinted)

    def intent(self, query: str) -> ParsedIntent:
        """Bare rows have no folders to parse a request into: all of them are searched."""
        return self.parser.parse(query) if self.parser else ParsedIntent(None, None, query, 0.0)

    def refused(self) -> Mapping[str, str]:
        """Return the tools that the settings take out before ranking, and why, by id."""
        access = self.searcher.ranking.access
        if access is None:
            return {}
        told = ((tool.id, access.refusal(tool)) for tool in self.searcher.ranking.catalogue.tools)
        return {tool: why for tool, why in told if why}

    def measure(
        self, rows: Sequence[GoldenRow], told: Callable[[int, int], None] | None = None
    ) -> EvalReport:
        """Return the report on these rows; `told` is called with how many were asked, and of how
        many.
        """
        found: dict[str, SearchResult] = {}
        asked = itertools.count(1)

        def rank(query: str) -> Sequence[Ranked]:
            found[query] = self.search(query)
            if told:
                told(next(asked), len(rows))
            return found[query].candidates

        def filled(query: str) -> Mapping[str, InputValue]:
            assert self.fill is not None
            return self.fill(self.intent(query), found[query])

        return evaluate(
            rows,
            rank,
            lambda query, _: found[query].choice,
            tau=self.tau,
            tools=len(self.known),
            index_seconds=self.index_seconds,
            seconds=time.perf_counter,
            fill=filled if self.fill else None,
            context=DiagnosisContext(
                look=lambda query, include: self.search(query, include).candidates,
                known=self.known,
                calibration=self.searcher.ranking.index.calibration,
                tau=self.tau,
                refused=self.refused(),
            ),
        )
