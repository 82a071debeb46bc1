"""Ask a person to approve a call of the agent: once, for exactly the call that is shown.

An expired, denied or unattended question ends here, and an approval whose call has changed since is
refused.

The question is a `CallQuestion` (`call_question.py`); the answer waits in `call_approvals.py`. Who
answers: `cli/agent/terminal_approver.py` or `web/card_approver.py`. If a person can be asked at all
(a terminal) is decided in `cli/command_session.py`. Effect: asks a person.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol

from pulsus.agent.control.call_approvals import CallApprovals
from pulsus.agent.control.call_question import CallQuestion
from pulsus.agent.control.session_grants import SessionGrants
from pulsus.agent.loop.call_draft import AskPerson, CallDraft
from pulsus.agent.loop.run_ports import PersonAnswer
from pulsus.core.types import JsonValue
from pulsus.errors import PulsusError
from pulsus.fast_dataclass import dataclass
from pulsus.gates.tool_response import ToolResponse, tool_blocked


@dataclass(frozen=True, slots=True)
class CallDecision:
    """The choice of a person: "session" approves the call, and equal ones for a while."""

    choice: Literal["yes", "no", "session"]
    reason: str = ""


class CallApprover(Protocol):
    """A person who can be asked about one call."""

    def decide_call(self, request: CallQuestion) -> CallDecision:
        """Return the person's choice. Blocks until there is one."""
        ...


class PersonAsker:
    """Asks the questions of one session. Without `person` each of them is unattended.

    `hash_of` returns the hash of a call as it is now, with the tool's file as it is now.
    """

    def __init__(
        self,
        pending: CallApprovals,
        grants: SessionGrants,
        hash_of: Callable[[CallDraft], str],
        person: CallApprover | None,
    ) -> None:
        self._pending, self._grants, self._hash_of = pending, grants, hash_of
        self._person = person

    def describe(self, request: AskPerson) -> dict[str, JsonValue]:
        """Return the fields of the event `approval_needed`."""
        return _request_of(request).to_fields()

    def decide(self, request: AskPerson) -> PersonAnswer:
        """Return the person's answer. Blocks until there is one or the request expires."""
        asked = _request_of(request)
        if self._person is None:
            return PersonAnswer("unattended")
        name = asked.approval_id
        try:
            self._pending.create(name, asked.plan_hash, asked.command, seconds=asked.expires_in)
        except PulsusError as full:
            return PersonAnswer("denied", full.message)
        decision = self._person.decide_call(asked)
        if self._pending.get(name).status == "expired":
            return PersonAnswer("expired")
        if decision.choice == "no":
            self._pending.deny(name, decision.reason)
            return PersonAnswer("denied", decision.reason)
        self._pending.approve(name)
        if decision.choice == "session":
            self._grants.add(asked.grant_key, asked.command, asked.risk_level)
        return PersonAnswer("approved")

    def redeem(self, request: AskPerson, now_call: CallDraft) -> ToolResponse | None:
        """Use up the approval for the call as it is now. Returns a refusal if it is another."""
        asked = _request_of(request)
        try:
            self._pending.consume(asked.approval_id, self._hash_of(now_call))
        except PulsusError as error:
            return tool_blocked(
                "APPROVAL_REQUIRED",
                f"{error.message}: {error.hint}",
                **asked.to_fields(),
                recovery_hint="Resolve the target again, then repeat the call",
                auto_recoverable=False,
            )
        return None


def _request_of(asked: AskPerson) -> CallQuestion:
    """Return the request. Another value is a bug of the caller."""
    if not isinstance(asked.request, CallQuestion):
        raise TypeError(f"no approval request: {type(asked.request).__name__}")
    return asked.request
