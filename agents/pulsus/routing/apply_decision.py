"""From a decision to an end (spec §1, §8, §10, §12): prove, ask, promote, run, remember."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Protocol

from pulsus.approvals import unattended
from pulsus.approvals.protocol import Approver
from pulsus.approvals.unattended import RouteApproval
from pulsus.core.telemetry.logging import Trace
from pulsus.core.types import RouteOutcome
from pulsus.errors import ApprovalNeeded
from pulsus.routing import plan_preview
from pulsus.routing.delivery import candidate_module
from pulsus.routing.delivery.deliver import CandidateModule, DeliveryPipeline, DeliveryResult
from pulsus.routing.delivery.delivery_outcome import (
    delivered,
    keep_promotion_in_error,
    trace_delivery,
)
from pulsus.routing.delivery.project import Project
from pulsus.routing.run_tool import collect_inputs, run_outcome


class Options(Protocol):
    """What the caller wants done; `router.RouteOptions` satisfies it."""

    @property
    def dry_run(self) -> bool: ...
    @property
    def run(self) -> bool: ...
    @property
    def inputs(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class DecisionApplier:
    """Ends one route. `person` is None where nobody can be asked."""

    project: Project
    person: Approver | None
    trace: Trace
    options: Options

    def finish(self, outcome: RouteOutcome, text: str) -> RouteOutcome:
        """What came of it in the end; `text` is the request. Raises PulsusError."""
        project, settings = self.project, self.project.settings
        trace, options = self.trace, self.options
        inputs = (
            collect_inputs(project, outcome, options.inputs, self.person) if options.run else {}
        )
        module = candidate_module.module_of_decision(project, outcome, trace.run_id, self.person)
        deliverer = DeliveryPipeline(
            prover=project.pipeline(),
            promoter=project.promoter(trace.run_id, outcome.decision.route_id),
            read=project.define,
            person=self.person,
            redactor=project.redactor,
            root=project.project,
        )
        least = settings.parser.confidence_threshold
        approval = RouteApproval(outcome, allowed=settings.non_interactive, least=least)
        steps = _PlanStepDelivery(project, module, deliverer, approval, trace)
        ended = steps.deliver() if options.run and self.person else None
        delivery = ended or deliverer.deliver(
            module,
            dry_run=options.dry_run,
            approval=approval,
            first=steps.deliver if options.run and not self.person else None,
        )
        outcome = replace(outcome, notes=(*outcome.notes, *steps.notes))
        if steps.ended:
            return _step_failure(outcome, steps.ended)
        with keep_promotion_in_error(delivery.promotion):
            trace_delivery(trace, delivery, project.project)
        outcome = delivered(outcome, module, delivery)
        if options.dry_run:
            return plan_preview.with_plan(outcome, settings.compose.max_steps)
        unsure = unattended.low_confidence(outcome, least)
        if self.person is None and unsure and not outcome.failure:
            outcome = replace(outcome, failure=unsure)
        elif options.run and outcome.promotion and not outcome.failure:
            outcome = run_outcome(project, outcome, inputs, self.person, trace)
            outcome = replace(
                outcome,
                notes=(*outcome.notes, *plan_preview.unused_inputs_note(text, options.inputs)),
            )
        with keep_promotion_in_error(delivery.promotion):
            candidate_module.remember_route(project, outcome, delivery, text)
        return outcome


@dataclass(slots=True)
class _PlanStepDelivery:
    """Promotes every step that `module` calls: only promoted tools run."""

    project: Project
    module: CandidateModule
    deliverer: DeliveryPipeline
    approval: RouteApproval
    trace: Trace
    notes: list[str] = field(default_factory=list)
    ended: DeliveryResult | None = None

    def deliver(self) -> DeliveryResult | None:
        """Promote the steps in order. Return the delivery of the first that was not promoted."""
        for tool, source in self.module.steps.values():
            step = candidate_module.step_module(self.project, tool, source)
            if self.project.promoter().current(step.target, tool.sha256):
                continue
            found = self.deliverer.deliver(step, dry_run=False, approval=self.approval, step=True)
            trace_delivery(self.trace, found, self.project.project)
            if found.promotion is None:
                failure = found.failure or ApprovalNeeded(
                    f"the step {tool.id} was not approved, and only promoted tools are run",
                    hint="approve each step, or leave out --run",
                )
                self.ended = replace(found, failure=failure)
                return self.ended
            self.notes.append(f"promoted the step {tool.id} ({found.promotion.revision})")
        return None


def _step_failure(outcome: RouteOutcome, step: DeliveryResult) -> RouteOutcome:
    """The outcome of a run that ends because a step was not promoted."""
    assert step.failure is not None
    return replace(
        outcome,
        validation=step.report,
        failure=step.failure,
    )
