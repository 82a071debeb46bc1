"""The parts of Pulsus that the engine calls to run the steps of a plan.

`routing/plans/plan_host.py` implements it: there the consent for a step, its timeout and its
idempotency are decided.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from pulsus.core.types import JsonValue, PlanStep, Verification
from pulsus.execution.cancellation import Cancellation


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """The result of one call, with secrets masked. `duration_ms` is wall time.

    `verification` is set by a host that verifies a write in `run`; the engine then does not call
    `verify`. `confinement` records what was enforced.
    """

    result: JsonValue
    duration_ms: int
    verification: Verification | None = None
    confinement: Mapping[str, JsonValue] = field(default_factory=dict)


class StepHost(Protocol):
    """Runs single steps. `run` and `verify` are called in other threads, several at once."""

    def is_write(self, step: PlanStep) -> bool:
        """Return True if the step may change anything in this run."""
        ...

    def is_idempotent(self, step: PlanStep) -> bool:
        """Return True if a write may be tried again after it failed."""
        ...

    def consent(self, step: PlanStep, inputs: Mapping[str, JsonValue]) -> None:
        """Return if this write may run. Called in the engine's thread, so it may ask a person.

        Raises ApprovalNeeded if a person has to decide and cannot be asked now: the run then waits.
        Its details may hold `approval_id`, `until` (ISO time) and `who`. Raises any other
        PulsusError to refuse: the step then failed.
        """
        ...

    def run(
        self,
        step: PlanStep,
        item: int | None,
        inputs: Mapping[str, JsonValue],
        timeout_s: float | None,
        cancellation: Cancellation,
    ) -> StepOutcome:
        """Run the step's tool. `timeout_s` None stands for the setting's limit.

        Raises PulsusError, and Aborted once `cancellation` is readable and the tool has ended.
        """
        ...

    def verify(
        self,
        step: PlanStep,
        inputs: Mapping[str, JsonValue],
        result: JsonValue,
        cancellation: Cancellation,
    ) -> Verification:
        """Run the `Verify:` of a write that ran. Its `tool` is None if none could run.

        `result` is null if it is unknown after a fault: a verification that needs it then fails.
        Raises Aborted once `cancellation` is readable.
        """
        ...
