"""The stages of a route in order (spec §1), from words to a promoted file: no logic of its own.

The choice of select, compose or generate is made in `core/compose/selection/choose_policy.py`, the
search in `routing/search/searcher.py`, the ranking in `core/rankers/lexical_ranker.py` (scores:
`core/rankers/scorer.py`) and the outcome in `routing/route_outcome.py`; `routing/apply_decision.py`
carries it out.

After each stage one event goes to the trace. If the trace cannot be written, only a route that
changes nothing goes on. `--plan`, `--explain` alone and `--dry-run` end here and nowhere else.
"""

from __future__ import annotations

import logging
import time
from contextlib import nullcontext, suppress
from dataclasses import asdict, replace
from datetime import datetime
from typing import TYPE_CHECKING

from pulsus.core.telemetry import ids
from pulsus.core.telemetry.logging import Trace, open_trace
from pulsus.core.telemetry.stage_times import StageTimes
from pulsus.core.types import PendingCandidate, RouteOutcome
from pulsus.errors import DiskFull, PulsusError, StorageUnwritable
from pulsus.fast_dataclass import dataclass
from pulsus.routing import plan_preview
from pulsus.routing.delivery import route_metrics
from pulsus.routing.delivery.delivery_outcome import keep_promotion_in_error
from pulsus.routing.delivery.route_run import RouteOptions, RouteRun
from pulsus.routing.prompt_parser import ParseResult, validate_request
from pulsus.routing.route_outcome import decide_route, refuse_lost_change, refuse_lost_exclusion
from pulsus.routing.search_and_clarify import search_and_clarify

if TYPE_CHECKING:
    from pulsus.approvals.approver_protocol import Approver
    from pulsus.routing.delivery.project_protocol import Project

_LOG = logging.getLogger("pulsus")


@dataclass(frozen=True, slots=True)
class Router:
    """Routes requests of one project. `person` is None if no person can be asked."""

    project: Project
    person: Approver | None

    def route(self, request: str, options: RouteOptions) -> RouteOutcome:
        """Return the outcome of the request. Raises PulsusError if there is no outcome to show."""
        project = self.project
        text = validate_request(request, project.settings.parser.max_request_chars)
        times = StageTimes()
        with times.stage("discover"):
            digest = project.catalogue.digest
        route_id = ids.route_id(text, digest)
        inspects = options.inspects(non_interactive=project.settings.non_interactive)
        trace = self._trace(route_id, inspects=inspects)
        began = time.monotonic()
        try:
            outcome = _stages(RouteRun(project, self.person, trace, options, text, route_id), times)
        except PulsusError as failure:
            # A write error is reported itself, and not the write error that follows from it.
            unwritten = isinstance(failure, DiskFull | StorageUnwritable)
            with suppress(DiskFull, StorageUnwritable) if unwritten else nullcontext():
                trace.event("failed", decision=failure.code, error=failure.message)
                self._count(trace, began, times, failure.code, failure.exit_status)
            raise
        ended = outcome.failure.code if outcome.failure else "done"
        policy, status = outcome.decision.policy, outcome.exit_status
        with keep_promotion_in_error(outcome.promotion):
            trace.event("end", policy=policy, decision=ended, exit_code=status)
            self._count(trace, began, times, ended, status, policy=policy)
            if trace.is_written:
                project.metrics().count("candidates", len(outcome.candidates), policy=policy)
        return outcome

    def _trace(self, route_id: str, *, inspects: bool) -> Trace:
        """Open the trace of this run. A route that only `inspects` goes on without one.

        Raises StorageUnwritable, DiskFull.
        """
        project = self.project
        run_id, redactor = project.new_run_id(), project.redactor
        try:
            return open_trace(
                project.log_dir, run_id, clock=ids.utc_now, redactor=redactor, route_id=route_id
            )
        except StorageUnwritable as failure:
            if inspects:
                _LOG.warning("this run is not logged: %s", failure.message)
                return Trace(
                    project.log_dir, run_id, ids.utc_now, redactor, route_id, is_written=False
                )
            raise StorageUnwritable(
                failure.message,
                hint=f"{failure.hint} (log_dir); `--plan` and `pulsus explain` work without a "
                "writable log folder",
                **failure.details,
            ) from None

    def _count(
        self,
        trace: Trace,
        began: float,
        times: StageTimes,
        ended: str,
        status: int,
        **labels: str,
    ) -> None:
        """Add the end of a run to the app's log and the metrics (spec §11)."""
        if not trace.is_written:
            return
        run = {"decision": ended, "exit_code": status, **labels}
        where = {"run_id": trace.run_id, "route_id": trace.route_id}
        self.project.app_log().event("route", **where, **run)
        took = (time.monotonic() - began) * 1000
        route_metrics.count_route(self.project.metrics(), took, times, run)


def _stages(run: RouteRun, times: StageTimes) -> RouteOutcome:
    """Parse, discover, search and decide; then generate, or deliver what was decided."""
    project, options = run.project, run.options
    with times.stage("parse"):
        reading = _parse(run)
    catalogue = project.catalogue
    run.trace.event(
        "discover",
        candidates=len(catalogue.tools),
        broken=len(catalogue.broken),
        shadowed=[s.warning(catalogue.root) for s in catalogue.shadowed],
    )
    # If a new tool is wanted anyway, no answer to a question would change the decision.
    asking = replace(run, person=None) if options.wanted.forced else run
    with times.stage("search"):
        intent, asked, found = search_and_clarify(asking, reading)
    pending = _pending(run)
    with times.stage("decide"):
        outcome = decide_route(run, intent, found, pending)
    outcome = replace(outcome, clarification=asked, passages=reading.passages, pending=pending)
    if outcome.failure:
        return outcome
    if outcome.decision.selected:
        # Late: a request that no tool answers needs none.
        from pulsus.routing.inputs import promoted_steps, route_inputs

        model = route_inputs.input_model(project, options.wanted.report_progress)
        with times.stage("inputs"):
            outcome = route_inputs.with_inputs(
                outcome,
                options.inputs,
                fill=options.fill,
                now=datetime.now().astimezone(),
                promoted=promoted_steps.read_promoted_plan(outcome, catalogue),
                model=model,
            )
        _trace_inputs(run.trace, outcome)
        outcome = refuse_lost_change(outcome)
        if options.plan or (options.run and run.person is None):
            outcome = refuse_lost_exclusion(outcome)
    if options.plan:
        return plan_preview.with_plan(outcome, project.settings.compose.max_steps)
    if run.inspects or outcome.failure:
        return outcome
    if outcome.decision.policy == "generate":
        with times.stage("generate"):
            return _generate(run, outcome)
    # Late: checkers and child processes, which a route that only inspects does not need.
    from pulsus.routing.apply_decision import DecisionApplier

    with times.stage("deliver"):
        outcome = DecisionApplier(run).finish(outcome)
    return _drop_resolved(outcome, asked=run.person is not None) if pending else outcome


def _generate(run: RouteRun, outcome: RouteOutcome) -> RouteOutcome:
    # Late: the model, checkers and child processes.
    from pulsus.routing.generation.generation_run import GenerationRun

    outcome = _drop_resolved(GenerationRun(run).finish(outcome), asked=True)
    if run.options.run and outcome.promotion:
        note = f"not run: read it first, then `pulsus run {outcome.promotion.tool_id}`"
        outcome = replace(outcome, notes=(*outcome.notes, note))
    return outcome


def _pending(run: RouteRun) -> tuple[PendingCandidate, ...]:
    """Return the candidates that earlier runs of this request left in `_tmp/`."""
    tmp_dir = run.project.tmp_dir
    if not any(tmp_dir.glob("*.json")):
        return ()
    from pulsus.routing.delivery import pending_candidates  # late: only if there are candidates

    return pending_candidates.pending_for_request(
        tmp_dir, run.text, run.route_id, run.project.redactor
    )


def _drop_resolved(outcome: RouteOutcome, *, asked: bool) -> RouteOutcome:
    from pulsus.routing.delivery import pending_candidates

    return pending_candidates.drop_resolved(outcome, asked=asked)


def _parse(run: RouteRun) -> ParseResult:
    reading = run.project.parser().read(run.text)
    intent = reading.intent
    run.trace.event(
        "parse",
        request=run.text,
        domain=intent.domain,
        action=intent.action,
        top_score=intent.confidence,
        hints=[[p.source, p.heading, p.score] for p in reading.passages],
    )
    return reading


def _trace_inputs(trace: Trace, outcome: RouteOutcome) -> None:
    """Log where each value came from; the values themselves stay with the run."""
    use = outcome.input_model
    trace.event(
        "fill",
        sources={name: value.source for name, value in outcome.inputs.items()},
        missing=[arg.name for arg in outcome.missing],
        proposed=list(outcome.proposed),
        unused=len(outcome.unused),
        model=asdict(use) if use else None,
    )
