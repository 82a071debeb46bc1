"""Run the steps of a plan as `pulsus run` runs tools (docs/plans.md, ADR 41, 42).

Refused here: a tool that is not in the catalogue or whose hash changed (HASH_MOVED), and a write of
a masked secret. `execution/engine/retry.py` decides how often a step is tried, and its time limit
comes from the plan.

Every tool is checked before the first step runs. Effects: those of `routing/runs/run_promoted.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from pulsus.approvals.run_consent import Consent, RunConsent
from pulsus.core.compose.plans.dsl.control_checks import refuse_retried_write
from pulsus.core.contract.type_compatibility import accepts
from pulsus.core.contract.type_hints import parse_hint, write_annotation
from pulsus.core.telemetry.redaction import MARK
from pulsus.core.types import Constant, JsonValue, PlanStep, Verification
from pulsus.core.validators.effects.observed_against_declared import DRY_RUN, has_dry_run
from pulsus.errors import ApprovalNeeded, HashMoved, PlanInvalid, PlanValueFailed
from pulsus.execution.cancellation import Cancellation
from pulsus.execution.engine.step_host import StepOutcome
from pulsus.execution.workers.warm_process import WarmProcess
from pulsus.routing.delivery.candidate_module import read_module
from pulsus.routing.delivery.deliver import digest
from pulsus.routing.delivery.project_protocol import Project
from pulsus.routing.plans.verify_write import verify_write
from pulsus.routing.runs.run_promoted import (
    PreparedTool,
    ToolCall,
    call_tool,
    prepare_tool,
    remember_run,
)


class PlanHost:
    """The tools of one plan, checked and ready to be called (`StepHost` of the engine).

    With `check` every write gets `dry_run: true`, and a tool without `dry_run` is not called.
    """

    def __init__(
        self,
        project: Project,
        steps: Iterable[PlanStep],
        approval: Consent,
        warm: WarmProcess,
        *,
        check: bool = False,
    ) -> None:
        """Check the tool of every step.

        Raises what `prepare_tool` raises, HashMoved for other bytes than the plan is pinned to, and
        PlanInvalid for `retry` on a write.
        """
        self._project, self._approval, self._warm = project, approval, warm
        self._check = check
        self.tried: dict[str, Mapping[str, JsonValue]] = {}
        """With `check`: the inputs that each write would get. A step with `for_each` has none."""
        self._consents: dict[str, RunConsent] = {}
        self._tools: dict[str, PreparedTool] = {}
        for number, step in enumerate(steps):
            if step.tool not in self._tools:
                self._tools[step.tool] = self._prepare(step)
            refuse_retried_write(step, number, self._tools[step.tool].used)
        remember_run(project, [tool.used[0] for tool in self._tools.values()])

    def is_write(self, step: PlanStep) -> bool:
        """Return True if the step may change anything in this run."""
        prepared = self._tools[step.tool]
        tries = step.inputs.get(DRY_RUN) == Constant(True)
        return prepared.may_write and not self._check and not (tries and self._has_dry_run(step))

    def is_idempotent(self, step: PlanStep) -> bool:
        """Return False: no contract says that a write may simply be run again."""
        return False

    def can_try(self, step: PlanStep) -> bool:
        """Return True if the step reads, or can say what it would change."""
        return not self._tools[step.tool].may_write or self._has_dry_run(step)

    def consent(self, step: PlanStep, inputs: Mapping[str, JsonValue]) -> None:
        """Obtain the confirmation of one write. Raises ApprovalNeeded."""
        prepared = self._tools[step.tool]
        self._check_inputs(step, inputs)
        self._refuse_masked(step, inputs)
        try:
            wanted = prepared.wanted_consent(inputs)
            self._consents[step.id] = self._approval.obtain(wanted, dry=False)
        except ApprovalNeeded as error:
            error.details["who"] = prepared.tool.approval or "operator"
            raise

    def run(
        self,
        step: PlanStep,
        item: int | None,
        inputs: Mapping[str, JsonValue],
        timeout_s: float | None,
        cancellation: Cancellation,
    ) -> StepOutcome:
        """Run the step's tool once. Raises PulsusError."""
        prepared = self._tools[step.tool]
        if self._check and prepared.may_write and item is None:
            masked = self._project.redactor.redact_value(dict(inputs))
            self.tried[step.id] = masked if isinstance(masked, dict) else {}
        values = self._call_inputs(step, inputs)
        if values is None:
            return StepOutcome(None, 0)
        self._check_inputs(step, values)
        dry = prepared.is_dry_run(values)
        how: RunConsent | None = "dry_run" if dry else self._consents.get(step.id)
        call = ToolCall(
            values,
            how,
            timeout_s=timeout_s,
            launcher=self._warm,
            cancellation=cancellation,
        )
        done = call_tool(self._project, prepared, call)
        if done.failure:
            raise done.failure
        return StepOutcome(done.result, done.duration_ms, confinement=done.confinement)

    def verify(
        self,
        step: PlanStep,
        inputs: Mapping[str, JsonValue],
        result: JsonValue,
        cancellation: Cancellation,
    ) -> Verification:
        """Run the `Verify:` of a write."""
        return verify_write(self._project, self._tools[step.tool].tool, inputs, result)

    def _prepare(self, step: PlanStep) -> PreparedTool:
        tool = self._project.catalogue.get(step.tool)
        if tool is None:
            raise PlanInvalid(
                f"step {step.id}: {step.tool} is not in the catalogue",
                hint="make the plan again",
                step=step.id,
            )
        source = read_module(tool.path)
        if not digest(source) == tool.sha256 == step.sha256:
            raise HashMoved(
                f"step {step.id}: {step.tool} is {digest(source)[:12]}… now, the plan is pinned "
                f"to {(step.sha256 or 'no hash')[:12]}…",
                hint="make and review the plan again",
                step=step.id,
                tool=step.tool,
            )
        return prepare_tool(self._project, tool, source)

    def _has_dry_run(self, step: PlanStep) -> bool:
        return has_dry_run(self._tools[step.tool].tool)

    def _call_inputs(
        self, step: PlanStep, inputs: Mapping[str, JsonValue]
    ) -> Mapping[str, JsonValue] | None:
        """Return the inputs of the call; None if a check cannot call the tool."""
        if not self._check or not self._tools[step.tool].may_write:
            return inputs
        return {**inputs, DRY_RUN: True} if self._has_dry_run(step) else None

    def _refuse_masked(self, step: PlanStep, inputs: Mapping[str, JsonValue]) -> None:
        """Raise PlanValueFailed for a value that was masked: a write would store the mask."""
        for name, value in inputs.items():
            if step.inputs.get(name) != Constant(value) and MARK in json.dumps(value):
                raise PlanValueFailed(
                    f"step {step.id}: {name} holds a secret that was masked as {MARK}",
                    hint="let the tool that writes name the secret under Secrets: itself",
                    step=step.id,
                )

    def _check_inputs(self, step: PlanStep, inputs: Mapping[str, JsonValue]) -> None:
        """Raise PlanValueFailed for a computed value that the tool's type hint does not take."""
        hints = {arg.name: parse_hint(arg.type_hint) for arg in self._tools[step.tool].tool.args}
        for name, value in inputs.items():
            if name in hints and not accepts(hints[name], value):
                raise PlanValueFailed(
                    f"step {step.id}: {name} is {ascii(value)[:60]}, "
                    f"which is no {write_annotation(hints[name])}",
                    hint="correct the expression, or the step that gives the value",
                    step=step.id,
                )
