"""Carry out a decision (spec §1, §8, §10, §12): validate, ask, promote, run, remember.

The order: prove and promote (`routing/delivery/deliver.py`), ask for missing inputs
(`routing/inputs/missing_inputs.py`), run and verify (`routing/plans/verified_run.py`). A request
that no tool fits is refused in `routing/generation_refusal.py`. A plan whose steps are all promoted
runs without a promotion: that is decided here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from pulsus.approvals import unattended
from pulsus.approvals.unattended import RouteApproval
from pulsus.core.compose.plans import module_source
from pulsus.core.compose.plans.unconnected_steps import (
    find_pronoun,
    find_shared_inputs,
    find_unconnected_steps,
)
from pulsus.core.storage.records.promotion_target import Target
from pulsus.core.types import JsonValue, Promotion, RouteOutcome
from pulsus.errors import ApprovalNeeded
from pulsus.routing import plan_preview
from pulsus.routing.delivery import candidate_module
from pulsus.routing.delivery.deliver import (
    CandidateModule,
    DeliveryPipeline,
    DeliveryResult,
    digest,
)
from pulsus.routing.delivery.delivery_outcome import (
    delivered,
    keep_promotion_in_error,
    trace_delivery,
)
from pulsus.routing.delivery.route_metrics import count_delivery
from pulsus.routing.delivery.route_run import RouteRun
from pulsus.routing.inputs.missing_inputs import collect_inputs
from pulsus.routing.inputs.route_inputs import call_values
from pulsus.routing.plans.verified_run import run_module, run_outcome


@dataclass(frozen=True, slots=True)
class DecisionApplier:
    """Ends one run of a route that selected tools."""

    run: RouteRun

    def finish(self, outcome: RouteOutcome) -> RouteOutcome:
        """Return the outcome once the module was proven, promoted and run. Raises PulsusError."""
        project, settings = self.run.project, self.run.project.settings
        person, options = self.run.person, self.run.options
        if options.run:
            options.announce(outcome, options)
            outcome = collect_inputs(outcome, person)
        inputs = call_values(outcome)
        promoted = self._current_promotion(outcome) if options.run else None
        if promoted:
            return self._run_promoted(replace(outcome, promotion=promoted), inputs)
        rendered = self._render_promoted_plan(outcome) if options.run else None
        if rendered:
            return self._run_rendered(outcome, rendered, inputs)
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
        with keep_promotion_in_error(delivery.promotion):
            candidate_module.remember_route(self.run, outcome, delivery)
        return outcome

    def _current_promotion(self, outcome: RouteOutcome) -> Promotion | None:
        """Return the revision of a selected tool that is promoted as it is: it was proven then."""
        if outcome.decision.policy != "select":
            return None
        tool = outcome.decision.selected[0]
        source = candidate_module.read_module(tool.path)
        target = Target(tool.domain, tool.action, tool.name)
        return self.run.promoter().current(target, digest(source))

    def _run_promoted(self, outcome: RouteOutcome, inputs: Mapping[str, JsonValue]) -> RouteOutcome:
        """Run a promoted tool, without a second validation, and remember it."""
        run, settings = self.run, self.run.project.settings
        unsure = unattended.low_confidence(outcome, settings.parser.confidence_threshold)
        if run.person is None and unsure:
            return replace(outcome, failure=unsure)
        outcome = run_outcome(run.project, outcome, inputs, run.person, run.trace)
        if outcome.ran and not outcome.failure:
            run.remember_answer(outcome)
        return outcome

    def _render_promoted_plan(self, outcome: RouteOutcome) -> tuple[Path, bytes] | None:
        """Return the module of a plan that may run as it is: all its steps are promoted.

        None if a candidate of this request lies in `_tmp/`, because a person may have edited it.
        None without a person if a step shares an input, or stands alone and is no independent read:
        that may not be what the request means, so the rules for promotion decide.
        """
        decision, project = outcome.decision, self.run.project
        plan = decision.plan
        if plan is None or outcome.pending:
            return None
        loose = find_unconnected_steps(plan) and not _are_independent_reads(outcome)
        if self.run.person is None and (loose or find_shared_inputs(plan)):
            return None
        promoter = project.promoter()
        for tool in decision.selected:
            if not promoter.current(Target(tool.domain, tool.action, tool.name), tool.sha256):
                return None
        path = project.tmp_dir / module_source.name_module_file(decision.route_id)
        return path, module_source.render_module(plan, decision.selected).encode("utf-8")

    def _run_rendered(
        self,
        outcome: RouteOutcome,
        module: tuple[Path, bytes],
        inputs: Mapping[str, JsonValue],
    ) -> RouteOutcome:
        """Run a plan of promoted steps without promoting it."""
        run, settings = self.run, self.run.project.settings
        unsure = unattended.low_confidence(outcome, settings.parser.confidence_threshold)
        if run.person is None and unsure:
            return replace(outcome, failure=unsure)
        ended = run_module(
            run.project, outcome, module, inputs, run.person, run.trace, rendered=True
        )
        if ended.ran and not ended.failure:
            run.remember_answer(outcome)
        return ended


def _are_independent_reads(outcome: RouteOutcome) -> bool:
    """Return True if every step only reads, and no part means what an earlier part found.

    Then each step does what it would do if its part were the whole request.
    """
    if any(tool.kind != "read" for tool in outcome.decision.selected):
        return False
    return find_pronoun([clause.text for clause in outcome.subintents]) is None


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
