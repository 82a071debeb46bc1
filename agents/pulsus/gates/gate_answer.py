"""The answer of the gate to a command: its verdict and the ruling of the policy, combined.

The error code of a refused command (SENSITIVE_PATH, POLICY_BLOCKED, APPROVAL_REQUIRED,
ACTION_NOT_ALLOWED) is chosen here.

Both have to agree. A rewrite is offered only where both would let it run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from pulsus.commands import CommandVerdict
from pulsus.fast_dataclass import dataclass
from pulsus.gates.command_policy import (
    COMPOUND,
    COST,
    EGRESS,
    UNKNOWN,
    CommandPolicy,
    Decision,
    Ruling,
    may_read,
)

NOT_A_READ = "ACTION_NOT_ALLOWED"
SENSITIVE = "SENSITIVE_PATH"

PolicyAnswer = Literal["passed", "needs approval", "refused"]
_POLICY_ANSWERS: Final[Mapping[Decision, PolicyAnswer]] = {
    "allow": "passed",
    "require_approval": "needs approval",
    "block": "refused",
}


@dataclass(frozen=True, slots=True)
class GateAnswer:
    """The gate's `verdict` and the policy's `ruling`. `rewrite` is a command to offer in place of a
    refused one."""

    verdict: CommandVerdict
    ruling: Ruling
    rewrite: str | None = None

    @property
    def allow(self) -> bool:
        """Return True if it may run through the read tool as it is."""
        return may_read(self.verdict, self.ruling)

    @property
    def decided_by(self) -> Literal["gate", "policy"]:
        """Return who decides: the policy for proven reads, the gate for every other command."""
        return "policy" if self.verdict.allow and not self.allow else "gate"

    @property
    def reason(self) -> str:
        """Return in a sentence why it may run or may not."""
        if self.decided_by == "policy":
            return f"{self.verdict.command}: {describe_ruling(self.ruling)}"
        return str(self.verdict.reason)

    @property
    def policy_answer(self) -> PolicyAnswer:
        """Return the policy's own answer, apart from what the gate found.

        A command that the gate refused never passes as a read: a tool that may write asks.
        """
        if self.verdict.allow:
            return "passed" if self.ruling.lets_read else "refused"
        return _POLICY_ANSWERS[self.ruling.decision]

    @property
    def code(self) -> str | None:
        """Return the code with which a tool refuses it, or None."""
        if self.allow:
            return None
        return SENSITIVE if self.verdict.sensitive else self.ruling.code or NOT_A_READ


def answer_command(
    policy: CommandPolicy,
    verdict: CommandVerdict,
    target: str | None = None,
    known: Sequence[str] = (),
) -> GateAnswer:
    """Return the answer to a command that was judged, and is to run on `target`.

    `known` are hosts that the request named.
    """
    ruling = policy.evaluate(verdict.command, target, verdict, known)
    other = verdict.rewrite
    if other is not None:
        found = policy.judge(other)
        other = other if may_read(found, policy.evaluate(other, target, found, known)) else None
    return GateAnswer(verdict, ruling, other)


def describe_ruling(ruling: Ruling) -> str:
    """Return what the policy says, and the pattern and setting that say so."""
    if ruling.rule == COMPOUND:
        return "the policy asks for approval of several programs, unless all of them are reads"
    if ruling.rule == UNKNOWN:
        return "no pattern of policy.allow matches it, so the policy asks for approval"
    if ruling.rule in {EGRESS, COST}:
        does = "blocks it" if ruling.decision == "block" else "asks for approval"
        return f"{ruling.why}, and {ruling.setting} {does}"
    says = {"allow": "allows it", "require_approval": "asks for approval", "block": "blocks it"}
    return f"the policy {says[ruling.decision]}, by {ruling.rule} in {ruling.setting}"
