"""From a decision to an end (spec §1, §8, §10, §12): prove, ask, promote, run, remember."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from pulsus.core.telemetry.logging import Trace
from pulsus.core.types import RouteOutcome
from pulsus.errors import ApprovalNeeded
from pulsus.routing import left, left_out, modules, planned, unattended
from pulsus.routing.approval import Person
from pulsus.routing.delivery import Deliverer, Delivery, Module
from pulsus.routing.project import Project
from pulsus.routing.running import inputs_for, run_outcome


class Options(Protocol):
    """What the caller wants done; `router.RouteOptions` satisfies it."""

    @property
    def dry_run(self) -> bool: ...
    @property
    def run(self) -> bool: ...
    @property
    def inputs(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class Finisher:
    """Ends one route. `person` is None where nobody can be asked."""

    project: Project
    person: Person | None
    trace: Trace
    options: Options

    def finish(self, outcome: RouteOutcome, text: str) -> RouteOutcome:
        """What came of it in the end; `text` is the request. Raises PulsusError."""
        project, settings = self.project, self.project.settings
        trace, options = self.trace, self.options
        inputs = inputs_for(project, outcome, options.inputs, self.person) if options.run else {}
        module = modules.module(project, outcome, trace.run_id, self.person)
        deliverer = Deliverer(
            prover=project.pipeline(),
            promoter=project.promoter(trace.run_id, outcome.decision.route_id),
            read=project.define,
            person=self.person,
            redactor=project.redactor,
        )
        least = settings.parser.confidence_threshold
        refusal = unattended.refusal(outcome, allowed=settings.non_interactive, least=least)
        refusal = refusal or left.refusal(module)
        if options.run and (self.person or refusal is None):
            outcome = self._steps(outcome, module, deliverer, trace)
            if outcome.failure:
                return outcome
        delivery = deliverer.deliver(module, dry_run=options.dry_run, unattended=refusal)
        trace_delivery(trace, delivery, project.project)
        outcome = delivered(outcome, module, delivery)
        if options.dry_run:
            return planned.with_plan(outcome, settings.compose.max_steps)
        unsure = unattended.low_confidence(outcome, least)
        if self.person is None and unsure and not outcome.failure:
            outcome = replace(outcome, failure=unsure, exit_code=unsure.exit_status)
        elif options.run and outcome.promotion and not outcome.failure:
            outcome = run_outcome(project, outcome, inputs, self.person, trace)
            outcome = replace(
                outcome, notes=(*outcome.notes, *left_out.unused(text, options.inputs))
            )
        modules.remember(project, outcome, delivery, text)
        return outcome

    def _steps(
        self, outcome: RouteOutcome, module: Module, deliverer: Deliverer, trace: Trace
    ) -> RouteOutcome:
        """The outcome once every step that `module` calls is promoted too: only those run."""
        for tool, source in module.steps.values():
            step = modules.step_module(self.project, tool, source)
            if self.project.promoter().current(step.target, tool.sha256):
                continue
            delivery = deliverer.deliver(step, dry_run=False, unattended=None)
            trace_delivery(trace, delivery, self.project.project)
            if delivery.promotion is None:
                failure = delivery.failure or ApprovalNeeded(
                    f"the step {tool.id} was not approved, and only promoted tools are run",
                    hint="approve each step, or leave out --run",
                )
                status = failure.exit_status
                return replace(
                    outcome, validation=delivery.report, failure=failure, exit_code=status
                )
            note = f"promoted the step {tool.id} ({delivery.promotion.revision})"
            outcome = replace(outcome, notes=(*outcome.notes, note))
        return outcome


def delivered(outcome: RouteOutcome, module: Module, delivery: Delivery) -> RouteOutcome:
    """The outcome once its module was proven, and promoted or not."""
    notes = outcome.notes
    if delivery.discarded:
        kept = f"kept as {module.path.name}; the next run offers it again"
        notes = (*notes, kept if module.candidate else "discarded; nothing was promoted")
    return replace(
        outcome,
        module=module.path,
        validation=delivery.report,
        promotion=delivery.promotion,
        failure=delivery.failure,
        exit_code=delivery.failure.exit_status if delivery.failure else 0,
        notes=notes,
    )


def trace_delivery(trace: Trace, delivery: Delivery, root: Path) -> None:
    """Note in the trace how proving and promoting ended; paths are relative to `root`."""
    report = delivery.report
    trace.event(
        "validate",
        decision=report.verdict,
        artifacts=[
            str(a.relative_to(root) if a.is_relative_to(root) else a) for a in report.artifacts
        ],
        sha256=report.sha256,
        proof=report.proof,
        **({"network": list(report.network)} if report.network else {}),
    )
    if delivery.promotion and delivery.promotion.created:
        made = delivery.promotion
        trace.event("promote", decision=made.tool_id, revision=made.revision, version=made.version)
