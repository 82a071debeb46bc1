"""What somebody is asked before a promotion, and what is approved with nobody there (spec §12)."""

from __future__ import annotations

from typing import Protocol

from pulsus.core.storage.records.target import Target
from pulsus.core.types import ArgSpec, Clarification, ToolSpec, ValidationReport
from pulsus.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proven module waiting for a decision. `source` is what would be promoted.

    `notes` are what to know before deciding.
    """

    tool: ToolSpec
    source: bytes
    target: Target
    report: ValidationReport
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Approve:
    """Promote as proposed."""


@dataclass(frozen=True, slots=True)
class EditModule:
    """The module was changed to these bytes: prove it again, then ask again."""

    source: bytes


@dataclass(frozen=True, slots=True)
class ChangeTarget:
    """Promote to another place."""

    target: Target


@dataclass(frozen=True, slots=True)
class Discard:
    """Do not promote; the candidate stays in `_tmp/`."""

    reason: str = "rejected"


ApprovalAnswer = Approve | EditModule | ChangeTarget | Discard


class Approver(Protocol):
    """Somebody at a terminal. With `--non-interactive` there is none."""

    def clarify(self, question: Clarification) -> str | None:
        """The answer to the one question; None or "" for no answer."""
        ...

    def decide(self, proposal: Proposal) -> ApprovalAnswer:
        """What to do with a proven module."""
        ...

    def value(self, arg: ArgSpec) -> str | None:
        """Text for a required argument, as `--input` takes it; None or "" for none."""
        ...

    def confirm_run(self, tool: ToolSpec) -> bool:
        """Whether to run a tool that may write."""
        ...

    def example(self, problem: str) -> str | None:
        """An example of what a new tool must do, as `--example` takes it; None or "" for no more.

        `problem` says what was wrong with the last one, or is empty.
        """
        ...

    def reuse(self, module: str, status: str, reasons: tuple[str, ...]) -> bool:
        """Whether to go on with the candidate an earlier run left, rather than make it again."""
        ...
