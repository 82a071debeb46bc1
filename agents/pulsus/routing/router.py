"""One request, from words to a promoted file (spec §1): the stages in order, no logic of its own.

After each stage one event goes to the trace; where none can be kept, only looking goes on.
`--plan`, `--explain` alone and `--dry-run` end here and nowhere else.
"""

from __future__ import annotations

import logging
import time
from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from pulsus.core.telemetry import ids
from pulsus.core.telemetry.logging import Trace, open_trace
from pulsus.core.types import (
    Clarification,
    ParsedIntent,
    PendingCandidate,
    RouteDecision,
    RouteOutcome,
)
from pulsus.errors import DiskFull, PlanUnwirable, PulsusError, StorageUnwritable
from pulsus.fast_dataclass import dataclass
from pulsus.routing import clarify, no_tool, plan_preview
from pulsus.routing.delivery.delivery_outcome import keep_promotion_in_error
from pulsus.routing.generation.request import GenerationRequest
from pulsus.routing.prompt_parser import ParseResult, validate_request
from pulsus.routing.search.searcher import SearchResult

if TYPE_CHECKING:
    from pulsus.approvals.protocol import Approver
    from pulsus.routing.delivery.project import Project

_LOG = logging.getLogger("pulsus")


@dataclass(frozen=True, slots=True)
class RouteOptions:
    """The flags of spec §12. `inputs` are `k=v` texts for `run`; `wanted` is for the generator."""

    plan: bool = False
    explain: bool = False
    dry_run: bool = False
    run: bool = False
    inputs: tuple[str, ...] = ()
    wanted: GenerationRequest = GenerationRequest()


@dataclass(frozen=True, slots=True)
class Router:
    """Routes requests of one project. `person` is None where nobody can be asked."""

    project: Project
    person: Approver | None

    def route(self, request: str, options: RouteOptions) -> RouteOutcome:
        """What came of the request. Raises PulsusError where there is no outcome to show."""
        project = self.project
        settings = project.settings
        text = validate_request(request, settings.parser.max_request_chars)
        catalogue = project.catalogue
        route_id = ids.route_id(text, catalogue.digest)
        trace = self._trace(route_id, looks=options.plan or self._only_explains(options))
        began = time.monotonic()
        try:
            outcome = self._stages(text, route_id, trace, options)
        except PulsusError as failure:
            # A failure to write is told itself, and not the next one.
            unwritten = isinstance(failure, DiskFull | StorageUnwritable)
            with suppress(DiskFull, StorageUnwritable) if unwritten else nullcontext():
                trace.event("failed", decision=failure.code, error=failure.message)
                self._count(trace, began, failure.code, failure.exit_status)
            raise
        ended = outcome.failure.code if outcome.failure else "done"
        policy, status = outcome.decision.policy, outcome.exit_code
        with keep_promotion_in_error(outcome.promotion):
            trace.event("end", policy=policy, decision=ended, exit_code=status)
            self._count(trace, began, ended, status, policy=policy)
        return outcome

    def _trace(self, route_id: str, *, looks: bool) -> Trace:
        """Where this run is told of. What only `looks` does without where logs are read-only.

        Raises StorageUnwritable, DiskFull.
        """
        project = self.project
        run_id, redactor = project.new_run_id(), project.redactor
        try:
            return open_trace(
                project.log_dir, run_id, clock=ids.utc_now, redactor=redactor, route_id=route_id
            )
        except StorageUnwritable as failure:
            if looks:
                _LOG.warning("this run is not logged: %s", failure.message)
                return Trace(project.log_dir, run_id, ids.utc_now, redactor, route_id, kept=False)
            raise StorageUnwritable(
                failure.message,
                hint=f"{failure.hint} (log_dir); --plan and `pulsus explain` only look",
                **failure.details,
            ) from None

    def _count(self, trace: Trace, began: float, ended: str, status: int, **labels: str) -> None:
        """Note the end of a run in the app's log and the metrics (spec §11)."""
        if not trace.kept:
            return
        run = {"decision": ended, "exit_code": status, **labels}
        where = {"run_id": trace.run_id, "route_id": trace.route_id}
        self.project.app_log().event("route", **where, **run)
        took = (time.monotonic() - began) * 1000
        self.project.metrics().observe_ms("route", took, **run)

    def _stages(
        self, text: str, route_id: str, trace: Trace, options: RouteOptions
    ) -> RouteOutcome:
        reading, question = self._parse(text, trace)
        catalogue = self.project.catalogue
        trace.event(
            "discover",
            candidates=len(catalogue.tools),
            broken=len(catalogue.broken),
            shadowed=[s.warning(catalogue.root) for s in catalogue.shadowed],
        )
        forced = options.wanted.forced  # then nothing that could be asked would change a thing
        searching = replace(self, person=None) if forced else self
        intent, asked, found = searching._search(reading, question, trace)
        _trace_search(trace, found)
        outcome = self._decided(route_id, intent, asked, found, trace, options)
        left = self._left(text, route_id)
        outcome = replace(outcome, passages=reading.passages, left=left)
        if outcome.failure:
            return outcome
        if options.plan:
            return plan_preview.with_plan(outcome, self.project.settings.compose.max_steps)
        if self._only_explains(options):
            return outcome
        if outcome.decision.policy == "generate":
            return self._written(outcome, text, trace, options)
        from pulsus.routing.apply_decision import (
            DecisionApplier,  # checkers and child processes: not to look
        )

        outcome = DecisionApplier(self.project, self.person, trace, options).finish(outcome, text)
        return self._still(outcome) if left else outcome

    def _written(
        self, outcome: RouteOutcome, text: str, trace: Trace, options: RouteOptions
    ) -> RouteOutcome:
        from pulsus.routing.delivery import pending_candidates as left
        from pulsus.routing.generation.generation_run import (
            GenerationRun,  # the model, checkers and child processes
        )

        writer = GenerationRun(self.project, self.person, trace, options.wanted, options.dry_run)
        outcome = left.drop_resolved(writer.finish(outcome, text), asked=True)
        if options.run and outcome.promotion:
            note = f"not run: read it first, then `pulsus run {outcome.promotion.tool_id}`"
            outcome = replace(outcome, notes=(*outcome.notes, note))
        return outcome

    def _left(self, text: str, route_id: str) -> tuple[PendingCandidate, ...]:
        """What an earlier run of the request left."""
        tmp_dir = self.project.tmp_dir
        if not any(tmp_dir.glob("*.json")):
            return ()
        from pulsus.routing.delivery import (
            pending_candidates as left,  # only where something was left
        )

        return left.pending_for_request(tmp_dir, text, route_id, self.project.redactor)

    def _still(self, outcome: RouteOutcome) -> RouteOutcome:
        from pulsus.routing.delivery import pending_candidates as left

        return left.drop_resolved(outcome, asked=self.person is not None)

    def _only_explains(self, options: RouteOptions) -> bool:
        """Whether the caller only looks: `--explain` without a flag that goes on (ADR 9)."""
        goes_on = options.dry_run or options.run or self.project.settings.non_interactive
        return options.explain and not goes_on

    def _parse(self, text: str, trace: Trace) -> tuple[ParseResult, Clarification | None]:
        config = self.project.settings.parser
        reading = self.project.parser().read(text)
        intent = reading.intent
        trace.event(
            "parse",
            request=text,
            domain=intent.domain,
            action=intent.action,
            top_score=intent.confidence,
            hints=[[p.source, p.heading, p.score] for p in reading.passages],
        )
        return reading, clarify.clarifying_question(
            reading, threshold=config.confidence_threshold, max_options=config.max_options
        )

    def _search(
        self, reading: ParseResult, question: Clarification | None, trace: Trace
    ) -> tuple[ParsedIntent, Clarification | None, SearchResult]:
        """What the request leads to, after the one question where somebody can be asked.

        Which of two tools is meant settles more than which domain: it is asked instead. So does
        whether the plan found is meant: it is the question's first option.
        """
        searcher, intent = self.project.searcher(), reading.intent
        found = searcher.search(intent, hinted=reading.hinted)
        between = clarify.question_between_tools(found, tau=self.project.settings.ranker.threshold)
        config = self.project.settings.parser
        sure = (
            clarify.intent_from_candidates(intent, found, least=config.settled_at)
            if question
            else None
        )
        if sure and not between:
            trace.event("settle", decision="the tools found settle it", top_p=sure.confidence)
            intent = sure
            if sure.confidence >= config.confidence_threshold:
                return sure, None, found
        question = between or question
        if question and not between:
            question = clarify.with_plan_option(question, found, max_options=config.max_options)
        if question is None or self.person is None:
            return intent, question, found
        asked = replace(question, answer=self.person.clarify(question))
        trace.event("clarify", decision=asked.answer, question=asked.question)
        if between:
            return intent, asked, clarify.select_answered_tool(found, asked)
        agreed = clarify.intent_of_accepted_plan(intent, found, asked)
        if agreed:
            return agreed, asked, found
        intent = clarify.resolve_answer(reading, asked, asked.answer)
        if intent != reading.intent:
            found = searcher.search(intent, hinted=reading.hinted)
        return intent, asked, found

    def _decided(
        self,
        route_id: str,
        intent: ParsedIntent,
        asked: Clarification | None,
        found: SearchResult,
        trace: Trace,
        options: RouteOptions,
    ) -> RouteOutcome:
        choice = found.choice
        if options.wanted.forced:
            choice = replace(
                choice, policy="generate", chosen=(), reason="a new tool was asked for"
            )
        tools = tuple(ranked.tool for ranked in choice.chosen)
        plan = None
        if choice.policy == "compose":
            try:
                plan = plan_preview.compose_plan(
                    intent.intent, tools, self.project.settings.compose.max_steps
                )
            except PlanUnwirable as error:
                if not self.project.settings.model.base_url:
                    raise
                # More than glue is needed: the planner defers to the generator (spec §6).
                choice = replace(choice, policy="generate", reason=f"no plan: {error.message}")
                tools = ()
        looks = options.plan or self._only_explains(options)
        failure = (
            None
            if tools
            else no_tool.no_tool_failure(
                self.project, found, choice.reason, options.wanted, looks=looks
            )
        )
        trace.event(
            "decide",
            policy=choice.policy,
            decision=choice.reason,
            selected=[tool.id for tool in tools],
        )
        return RouteOutcome(
            run_id=trace.run_id,
            logged=trace.kept,
            intent=intent,
            decision=RouteDecision(route_id, choice.policy, tools, plan, choice.reason),
            candidates=found.candidates,
            tau=self.project.settings.ranker.threshold,
            widened=found.widened,
            clarification=asked,
            subintents=found.subintents,
            shadowed=self.project.catalogue.shadowed,
            failure=failure,
            weights=dict(self.project.settings.ranker.weights),
            notes=(
                *(f"no tool was found for the part {part!r}" for part in found.unplaced),
                *found.notes,
            ),
        )


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
