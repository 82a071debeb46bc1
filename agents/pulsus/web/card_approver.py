"""Let an agent run of the web server wait until its approval card is decided (architecture §6).

The thread of the run waits here; the time does not count as run time. What the person approves is
one call, whose hash is part of the card. If the run is stopped, the card is withdrawn. How long a
card waits is decided by `agent.approval_minutes`.
"""

from __future__ import annotations

import threading
from typing import Final

from pulsus.agent.agent_events import AgentEvent
from pulsus.agent.control.call_question import CallQuestion
from pulsus.agent.control.person_asker import CallDecision
from pulsus.approvals.cards.approval_card import ApprovalCard, ApprovalSubject
from pulsus.approvals.cards.waiting_approvals import WaitingApprovals
from pulsus.core.types import JsonValue
from pulsus.errors import PulsusError
from pulsus.execution.cancellation import Cancellation

_POLL_SECONDS: Final = 0.1


class CardApprover:
    """Asks by a card. `requester` is the user who started the run."""

    def __init__(
        self, approvals: WaitingApprovals, requester: str, cancellation: Cancellation
    ) -> None:
        self._approvals, self._requester, self._cancellation = approvals, requester, cancellation
        self._started: list[str] = []
        self._pause = threading.Event()

    def decide_call(self, request: CallQuestion) -> CallDecision:
        """Return the decision on a card. Blocks until there is one, or its time is over."""
        try:
            card = self._approvals.propose(
                _subject(request, self._requester),
                risk=request.risk_level,
                reason=request.description,
                seconds=float(request.expires_in),
                card_id=request.approval_id,
            )
        except PulsusError as full:
            return CallDecision("no", full.message)
        card = self._wait(card)
        if card.status != "approved":
            return CallDecision("no", card.note or f"the request {card.id} is {card.status}")
        try:
            self._approvals.start(card.id)
        except PulsusError as error:
            return CallDecision("no", error.message)
        self._started.append(card.id)
        return CallDecision("yes")

    def hear(self, event: AgentEvent) -> None:
        """End the card of a call with the call's result."""
        if event.name == "agent_tool_result":
            self._end(ok=event.fields.get("ok") is True)

    def close(self) -> None:
        """End what was started and had no result: the run broke off."""
        self._end(ok=False)

    def _end(self, *, ok: bool) -> None:
        while self._started:
            card_id = self._started.pop()
            card = self._approvals.get(card_id)
            word = "OK" if ok else "FAILED"
            self._approvals.finish(card_id, (f"{word} {_command(card)}",), ok=ok)

    def _wait(self, card: ApprovalCard) -> ApprovalCard:
        while card.status == "pending":
            if self._cancellation.is_cancelled:
                return self._approvals.withdraw(card.id, self._requester, "the run was stopped")
            self._pause.wait(_POLL_SECONDS)
            card = self._approvals.get(card.id)
        return card


def _subject(request: CallQuestion, requester: str) -> ApprovalSubject:
    plan: dict[str, JsonValue] = {
        "tool": request.tool,
        "command": request.command,
        "call_hash": request.plan_hash,
        "typed": request.typed,
    }
    return ApprovalSubject("command", plan, requester, request.targets)


def _command(card: ApprovalCard) -> str:
    plan = card.subject.plan
    return str(plan.get("command", "")) if isinstance(plan, dict) else ""
