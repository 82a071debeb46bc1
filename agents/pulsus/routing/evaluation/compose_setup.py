"""Answer the requests of `pulsus compose-eval` with bare rows, or with typed tools. Pure.

The plans are compared in `routing/evaluation/compose_metrics.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pulsus.core.compose.plans.build_plan import compose_plan
from pulsus.core.compose.tool_chains.chain_composer import ChainComposer
from pulsus.core.compose.tool_chains.past_plans import Edge
from pulsus.core.compose.tool_chains.tool_evidence import RankText
from pulsus.core.rankers.ranking_protocol import RankingEngine
from pulsus.core.types import OutputRef, ToolSpec
from pulsus.errors import PulsusError
from pulsus.routing.evaluation.compose_cases import ComposeCase
from pulsus.routing.evaluation.compose_metrics import Answer
from pulsus.routing.evaluation.search_setup import SearchSetup

_RANKED = 400
"""Tools ranked for one text. A tool further down is no candidate for a step."""

AnswerCase = Callable[[ComposeCase], Answer]


def rank_texts(engine: RankingEngine) -> RankText:
    """Return the function that ranks the tools of `engine` for a text."""

    def rank(text: str) -> Mapping[str, tuple[float, float]]:
        return {r.tool.id: (r.score, r.p) for r in engine.rank(text, limit=_RANKED)}

    return rank


def remember_cases(composer: ChainComposer, cases: Sequence[ComposeCase]) -> ChainComposer:
    """Return the composer with the plans of these rows. Rows with unknown tools are left out."""
    known = composer.table.place
    return composer.remembering(
        [(c.query, c.tools, c.edges) for c in cases if all(tool in known for tool in c.tools)]
    )


def answer_by_names(composer: ChainComposer, *, gold_tools: bool) -> AnswerCase:
    """Return what composes the request of a row, or only wires the tools of its plan."""

    def answer(case: ComposeCase) -> Answer:
        if not gold_tools:
            found = composer.compose(case.query)
            return found.tools, found.edges
        # A tool that the catalogue lacks cannot be wired. It stays in the plan, without edges.
        known = [n for n, tool in enumerate(case.tools) if tool in composer.table.place]
        edges = composer.wire(case.query, [case.tools[n] for n in known])
        return case.tools, frozenset((known[a], known[b]) for a, b in edges)

    return answer


def answer_by_types(
    bench: SearchSetup, tools: Mapping[str, ToolSpec], *, max_steps: int, gold_tools: bool
) -> AnswerCase:
    """Return what decides a row as `pulsus route` does, and plans the steps as it does."""

    def answer(case: ComposeCase) -> Answer:
        if gold_tools:
            steps = [tools[tool] for tool in case.tools if tool in tools]
            if len(steps) < len(case.tools):
                return case.tools, frozenset()
        else:
            steps = [ranked.tool for ranked in bench.search(case.query).choice.chosen]
        return tuple(step.id for step in steps), _plan_edges(case.query, steps, max_steps)

    return answer


def _plan_edges(query: str, steps: Sequence[ToolSpec], max_steps: int) -> frozenset[Edge]:
    """Return the edges of the plan; none for one step, and none if no plan is possible."""
    if len(steps) < 2:
        return frozenset()
    try:
        plan = compose_plan(query, steps, max_steps=max_steps)
    except PulsusError:
        return frozenset()
    places = {step.id: number for number, step in enumerate(plan.steps)}
    return frozenset(
        (places[value.step], number)
        for number, step in enumerate(plan.steps)
        for value in step.inputs.values()
        if isinstance(value, OutputRef)
    )
