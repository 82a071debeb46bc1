"""The questions to a person before a promotion or a run, and the answers (spec §12).

Types only: `cli/prompts/approval_prompt.py` asks them at the terminal (yes or no:
`cli/prompts/questions.py`). If a person can be asked at all (TTY, `--non-interactive`) is decided
in `cli/command_session.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Protocol

from pulsus.core.storage.records.promotion_target import Target
from pulsus.core.types import (
    ArgSpec,
    Clarification,
    InputValue,
    JsonValue,
    ToolSpec,
    ValidationReport,
)
from pulsus.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proven module that waits for a decision. `source` are the bytes to promote.

    `notes` are lines for the person who decides. `is_candidate` says that the module is in `_tmp/`
    and stays there if it is discarded. `restores` says that a rollback chose bytes and place.
    """

    tool: ToolSpec
    source: bytes
    target: Target
    report: ValidationReport
    notes: tuple[str, ...] = ()
    is_candidate: bool = False
    restores: bool = False


@dataclass(frozen=True, slots=True)
class WriteRun:
    """A run that may change things, as a person is asked about it.

    `writers` are the tools that may write: the called tool itself, or steps of it. `inputs` are the
    values of the call by name, with secrets masked; for the other arguments of `tool` its defaults
    apply. `origins` says where values of a request came from, and `unfollowed` are its words that
    nothing in the answer follows.
    """

    tool: ToolSpec
    writers: tuple[ToolSpec, ...]
    inputs: Mapping[str, JsonValue]
    origins: Mapping[str, InputValue] = field(default_factory=dict)
    unfollowed: tuple[str, ...] = ()

    @property
    def target(self) -> str:
        """Return the words that an approver types: the values of `Target:`, or the tool's name."""
        values = [self.inputs[name] for name in self.tool.target if name in self.inputs]
        return " ".join(" ".join(str(each).split()) for each in values) or self.tool.name


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

    def clarify(self, question: Clarification, understands: Callable[[str], bool]) -> str | None:
        """Return the answer to the one question; None for no answer, "" for the default.

        `understands` tells whether an answer names a choice. A person is asked again otherwise.
        Raises LowConfidence if no answer is understood.
        """
        ...

    def decide(self, proposal: Proposal) -> ApprovalAnswer:
        """Return the decision on a proven module."""
        ...

    def value(self, arg: ArgSpec, proposed: str = "", tool: str = "") -> str | None:
        """Return the text of an argument, as `--input` takes it; None or "" for none.

        `proposed` is what the request seems to say: the person may accept it as it is. `tool` is
        the name of the tool that needs the value.
        """
        ...

    def optional_value(self, arg: ArgSpec, proposed: str, words: str) -> str | None:
        """Return the text of an optional argument that `words` of the request may be meant for.

        "" leaves the argument at its default, None is no answer. `proposed` is their value.
        """
        ...

    def confirm_incomplete(self, words: tuple[str, ...]) -> bool:
        """Return True if a run is to go ahead although its answer does not follow these words."""
        ...

    def explain_rejection(self, message: str) -> None:
        """Say why a tool rejects its inputs, before other values are asked for."""
        ...

    def confirm_run(self, run: WriteRun) -> bool:
        """Return True if a run that may change things is to go ahead."""
        ...

    def confirm_target(self, run: WriteRun) -> bool:
        """Return True if a person at a terminal types the target of the run, as an approver."""
        ...

    def example(self, problem: str) -> str | None:
        """Return an example for a new tool, as `--example` takes it; None or "" for no more.

        `problem` is the error of the example before, or empty.
        """
        ...

    def reuse(self, module: str, status: str, reasons: tuple[str, ...]) -> bool:
        """Return True if the candidate of an earlier run is used again, False to make it anew."""
        ...
