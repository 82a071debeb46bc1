"""The questions to a person before a promotion or a run, and the answers (spec §12)."""

from __future__ import annotations

from typing import Protocol

from pulsus.core.storage.records.promotion_target import Target
from pulsus.core.types import ArgSpec, Clarification, ToolSpec, ValidationReport
from pulsus.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proven module that waits for a decision. `source` are the bytes to promote.

    `notes` are lines for the person who decides.
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
    """Prove these changed bytes, then ask again."""

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
    """A person at a terminal. It does not exist with `--non-interactive`."""

    def clarify(self, question: Clarification) -> str | None:
        """Return the answer to the one question; None or "" for no answer."""
        ...

    def decide(self, proposal: Proposal) -> ApprovalAnswer:
        """Return the decision on a proven module."""
        ...

    def value(self, arg: ArgSpec, proposed: str = "") -> str | None:
        """Return the text of a required argument, as `--input` takes it; None or "" for none.

        `proposed` is what the request seems to say: the person may accept it as it is.
        """
        ...

    def confirm_run(self, tool: ToolSpec) -> bool:
        """Return True if a tool that may write is to run."""
        ...

    def example(self, problem: str) -> str | None:
        """Return an example for a new tool, as `--example` takes it; None or "" for no more.

        `problem` is the error of the example before, or empty.
        """
        ...

    def reuse(self, module: str, status: str, reasons: tuple[str, ...]) -> bool:
        """Return True if the candidate of an earlier run is used again, False to make it anew."""
        ...
