"""Carry out a decision (spec §1, §8, §10, §12): validate, ask, promote, run, remember."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from pulsus.approvals import unattended
from pulsus.approvals.unattended import RouteApproval
from pulsus.core.types import RouteOutcome
from pulsus.errors import ApprovalNeeded
from pulsus.routing import plan_preview
from pulsus.routing.delivery import candidate_module
from pulsus.routing.delivery.deliver import CandidateModule, DeliveryPipeline, DeliveryResult
from pulsus.routing.delivery.delivery_metrics import count_delivery
from pulsus.routing.delivery.delivery_outcome import (
    delivered,
    keep_promotion_in_error,
    trace_delivery,
)
from pulsus.routing.delivery.route_run import RouteRun
from pulsus.routing.run_promoted import collect_inputs, run_outcome


@dataclass(frozen=True, slots=True)
class DecisionApplier:
    """Ends one run of a route that selected tools."""

    run: RouteRun

    def finish(self, outcome: RouteOutcome) -> RouteOutcome:
        """Return the outcome once the module was proven, promoted and run. Raises PulsusError."""
        project, settings = self.run.project, self.run.project.settings
        person, options = self.run.person, self.run.options
        inputs = collect_inputs(project, outcome, options.inputs, person) if options.run else {}
        module = candidate_module.module_of_decision(self.run, outcome)
        deliverer = candidate_module.delivery_pipeline(
            project, project.pipeline(), self.run.promoter(), person
        )
        least = settings.parser.confidence_threshold
        approval = RouteApproval(outcome, allowed=settings.non_interactive, least=least)
        steps = _PlanStepDelivery(self.run, module, deliverer, approval)
        ended = steps.deliver() if options.run and person else None
        delivery = ended or deliverer.deliver(
            module,
            dry_run=options.dry_run,
            approval=approval,
            first=steps.deliver if options.run and not person else None,
        )
        outcome = replace(outcome, notes=(*outcome.notes, *steps.notes))
        if steps.ended:
            return replace(outcome, validation=steps.ended.report, failure=steps.ended.failure)
        with keep_promotion_in_error(delivery.promotion):
            trace_delivery(self.run.trace, delivery, project.project)
        count_delivery(project.metrics(), delivery)
        outcome = delivered(outcome, module, delivery)
        if options.dry_run:
            return plan_preview.with_plan(outcome, settings.compose.max_steps)
        unsure = unattended.low_confidence(outcome, least)
        if person is None and unsure and not outcome.failure:
            outcome = replace(outcome, failure=unsure)
        elif options.run and outcome.promotion and not outcome.failure:
            outcome = run_outcome(project, outcome, inputs, person, self.run.trace)
            unused = plan_preview.unused_inputs_note(self.run.text, options.inputs)
            outcome = replace(outcome, notes=(*outcome.notes, *unused))
        with keep_promotion_in_error(delivery.promotion):
            candidate_module.remember_route(self.run, outcome, delivery)
        return outcome


@dataclass(slots=True)
class _PlanStepDelivery:
    """Promotes every step that `module` calls, because only promoted tools run."""

    run: RouteRun
    module: CandidateModule
    deliverer: DeliveryPipeline
    approval: RouteApproval
    notes: list[str] = field(default_factory=list)
    ended: DeliveryResult | None = None

    def deliver(self) -> DeliveryResult | None:
        """Promote the steps in order. Return the delivery of the first that was not promoted."""
        project = self.run.project
        for tool, source in self.module.steps.values():
            step = candidate_module.step_module(project, tool, source)
            if project.promoter().current(step.target, tool.sha256):
                continue
            found = self.deliverer.deliver(step, dry_run=False, approval=self.approval, step=True)
            trace_delivery(self.run.trace, found, project.project)
            count_delivery(project.metrics(), found)
            if found.promotion is None:
                failure = found.failure or ApprovalNeeded(
                    f"the step {tool.id} was not approved, and only promoted tools are run",
                    hint="approve each step, or leave out --run",
                )
                self.ended = replace(found, failure=failure)
                return self.ended
            self.notes.append(f"promoted the step {tool.id} ({found.promotion.revision})")
        return None
