"""A plan that is saved for review (contracts, "Plans"; docs/plans.md). Pure.

`saved_plan_file.py` reads and writes its file, and `routing/plans/save_plan.py` makes one. A plan
that is stale because tools, settings or inputs changed since its review is refused in
`routing/plans/changes_since_review.py`, and one with a secret in `routing/plans/refuse_secrets.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from pulsus.core.types import Effects, InputSource, JsonValue, Kind, Plan, ToolSpec
from pulsus.fast_dataclass import dataclass

FORMAT = 1
"""Version of the file format, the value of `pulsus_plan`."""


@dataclass(frozen=True, slots=True)
class SavedInput:
    """The value of one input of the plan, and where it came from.

    `text` are the words of the request, `p` how sure that is. `file` is the path that `k=@FILE`
    named, and `sha256` the hash of that file when the plan was made.
    """

    value: JsonValue
    source: InputSource
    type: str | None = None
    text: str = ""
    p: float = 1.0
    file: str | None = None
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class StepReview:
    """The effects, target and approval of a step, by contract and record of its tool.

    `verify` and `undo` are the ids of the tools that check and reverse it. `approval` says who
    must agree; None means the ordinary confirmation of a write.
    """

    step: str
    kind: Kind
    effects: Effects | None
    approval: str | None = None
    target: tuple[str, ...] = ()
    verify: str | None = None
    undo: str | None = None


@dataclass(frozen=True, slots=True)
class Alternative:
    """A tool that was not chosen for a step, with its probability and the reason."""

    step: str
    tool: str
    p: float
    why_not: str


@dataclass(frozen=True, slots=True)
class SavedPlan:
    """A pinned plan with its inputs, for review and `pulsus apply`.

    `catalogue` is the digest of the catalogue that the plan was made from. `settings` are the
    settings that decide what a run may do, by their keys.
    """

    plan: Plan
    inputs: Mapping[str, SavedInput]
    review: tuple[StepReview, ...]
    catalogue: str
    settings: Mapping[str, JsonValue]
    request: str = ""
    alternatives: tuple[Alternative, ...] = ()
    notes: tuple[str, ...] = field(default_factory=tuple)

    def reviewed(self, step_id: str) -> StepReview:
        """Return the review of one step. Raises KeyError."""
        return next(each for each in self.review if each.step == step_id)

    @property
    def missing(self) -> tuple[str, ...]:
        """Return the parameters of the plan that have no value yet."""
        return tuple(name for name in self.plan.params if name not in self.inputs)

    @property
    def writes(self) -> tuple[str, ...]:
        """Return the ids of the steps that may change something."""
        return tuple(each.step for each in self.review if each.kind == "write")


def review_step(step_id: str, tool: ToolSpec) -> StepReview:
    """Return what the step may do, from its tool with the kind on record."""
    return StepReview(
        step=step_id,
        kind=tool.kind,
        effects=tool.effects,
        approval=tool.approval,
        target=tool.target,
        verify=tool.verify.tool if tool.verify else None,
        undo=tool.undo.tool if tool.undo else None,
    )
