"""One proposed call while it is judged, and the verdicts on it.

They are made in `check_calls.py` and `agent/control/call_verdict.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Any, Protocol

from pulsus.agent.knowledge.knowledge_gate import KnownAnswer
from pulsus.agent.tool_protocol import AgentTool, CallNeeds, CallOutcome, ProposedCall
from pulsus.approvals.run_consent import RunConsent
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass
from pulsus.gates.resources.resolved_resource import ResolvedResource
from pulsus.gates.tool_descriptors import CallKind
from pulsus.gates.tool_response import ToolResponse


@dataclass(frozen=True, slots=True)
class RepairedCall:
    """The inputs that a second call leaves out, and why the first one failed."""

    dropped: tuple[str, ...]
    message: str


@dataclass(frozen=True, slots=True)
class CallDraft:
    """A call whose tool is known and whose arguments fit.

    `resources` are its resolved targets. `rewritten_from` is the command that a rewrite replaced,
    and `repaired` the call that failed before this one was made without some of its inputs.
    `warnings` go into `meta` of the result. `consent` says how a person confirmed the call.
    """

    call: ProposedCall
    tool: AgentTool
    kind: CallKind
    needs: CallNeeds
    resources: tuple[ResolvedResource, ...] = ()
    warnings: tuple[str, ...] = ()
    rewritten_from: str = ""
    repaired: RepairedCall | None = None
    consent: RunConsent | None = None


@dataclass(frozen=True, slots=True)
class RunCall:
    """The call may run as it stands. `grant` names what allowed a write without a question."""

    draft: CallDraft
    grant: str = ""


@dataclass(frozen=True, slots=True)
class AskPerson:
    """The call waits for a person. `request` is the approval request of the control package."""

    draft: CallDraft
    request: Any


@dataclass(frozen=True, slots=True)
class RefusedCall:
    """The call is refused. `kind` is that of the call; `suggestion` what it would have done.

    `by_control` is True if the control rules refuse it, and not the gates of the session.
    """

    call: ProposedCall
    kind: CallKind
    response: ToolResponse
    suggestion: dict[str, JsonValue] = field(default_factory=dict)
    by_control: bool = False


@dataclass(frozen=True, slots=True)
class AnsweredCall:
    """The call is answered from known facts. It verifies nothing."""

    call: ProposedCall
    answer: KnownAnswer


CheckedCall = RunCall | AskPerson | RefusedCall | AnsweredCall


class ControlRules(Protocol):
    """The answers of control level, policy and self-protection to a call."""

    def refuse(self, draft: CallDraft) -> ToolResponse | None:
        """Return why the call may not run at any level, or None.

        Covers Pulsus itself as a target, secrets, commands that are no reads, ungrounded targets.
        """
        ...

    def rewrite(self, draft: CallDraft) -> str | None:
        """Return a command to run in place of the refused one of a read, or None."""
        ...

    def invented(self, draft: CallDraft) -> Sequence[str]:
        """Return the inputs that a failed read may be called again without, once; mostly none."""
        ...

    def decide(self, draft: CallDraft) -> RunCall | AskPerson | RefusedCall:
        """Return what is done with a call that no rule refused."""
        ...

    def hear(self, texts: Iterable[str]) -> None:
        """Take note of what the user said: its names may be acted on."""
        ...

    def learn(self, outcome: CallOutcome) -> None:
        """Take note of a result: names in it may be acted on."""
        ...
