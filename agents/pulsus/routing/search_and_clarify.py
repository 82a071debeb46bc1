"""The search of a route, with the one question that may settle it (spec §3, §4).

If a question is needed is decided in `routing/clarify.py`, and `cli/prompts/approval_prompt.py`
asks it.
"""

from __future__ import annotations

from dataclasses import replace

from pulsus.core.telemetry.logging import Trace
from pulsus.core.types import Clarification, ParsedIntent
from pulsus.errors import LowConfidence
from pulsus.routing import clarify
from pulsus.routing.delivery.route_run import RouteRun
from pulsus.routing.prompt_parser import ParseResult
from pulsus.routing.search.search_result import SearchResult


def search_and_clarify(
    run: RouteRun, reading: ParseResult
) -> tuple[ParsedIntent, Clarification | None, SearchResult]:
    """Return the intent, the question with its answer, and what was found; write event `rank`.

    The question is asked if it is needed and a person can be asked. A question that no person can
    answer is returned without an answer.
    """
    intent, asked, found = _search(run, reading)
    _trace_search(run.trace, found)
    return intent, asked, found


def _search(
    run: RouteRun, reading: ParseResult
) -> tuple[ParsedIntent, Clarification | None, SearchResult]:
    searcher, intent, config = run.project.searcher(), reading.intent, run.project.settings.parser
    found = searcher.search(intent, hinted=reading.hinted)
    unclear = clarify.is_unclear(intent, config.confidence_threshold)
    doubtful = clarify.is_doubtful(found, tau=run.project.settings.ranker.threshold)
    sure = (
        clarify.intent_from_candidates(intent, found, least=config.settled_at) if unclear else None
    )
    if sure and not doubtful:
        run.trace.event("settle", decision="the tools found settle it", top_p=sure.confidence)
        intent = sure
        unclear = sure.confidence < config.confidence_threshold
    if not unclear and not doubtful:
        return intent, None, found
    question = clarify.clarifying_question(reading, found, max_options=config.max_options)
    if question is None or run.person is None:
        return intent, question, found

    def understands(answer: str) -> bool:
        return clarify.is_understood(reading, found, replace(question, answer=answer))

    try:
        asked = replace(question, answer=run.person.clarify(question, understands))
    except LowConfidence:
        run.trace.event("clarify", decision=None, question=question.in_one_line, understood=False)
        raise
    run.trace.event("clarify", decision=asked.answer, question=asked.in_one_line)
    answered, found = clarify.apply_answer(
        replace(reading, intent=intent), found, asked, searcher.search_inside
    )
    if asked.answer is not None and found.choice.policy == "select":
        found = searcher.with_omissions(replace(found, notes=()), intent.intent)
    return answered, asked, found


def _trace_search(trace: Trace, found: SearchResult) -> None:
    best = found.candidates[0] if found.candidates else None
    trace.event(
        "rank",
        candidates=len(found.candidates),
        features=list(best.features) if best else [],
        weights=dict(best.weights) if best else {},
        top_score=best.score if best else None,
        top_p=best.p if best else None,
        widened=found.widened,
        ranked=[[r.tool.id, r.score, r.p] for r in found.candidates],
        subintents=[s.text for s in found.subintents],
    )
