"""The messages of a session, as the model gets them: compacted and within its context."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from pulsus.agent.model.proposal import AgentMessage, TurnProposal

if TYPE_CHECKING:
    from pulsus.agent.loop.session_state import SessionState
    from pulsus.agent.loop.turn_calls import CallEnvelope

Compact = Callable[[Sequence[AgentMessage], "SessionState"], Sequence[AgentMessage]]
"""Shortens old tool results. Never makes a message longer."""


class Transcript:
    """All messages so far. `most_chars` is what fits into the model's context.

    `messages` gives what is sent: old results shortened, and the oldest turns left out where the
    rest is still too long. The system message and the request always stay.
    """

    def __init__(self, system: str, request: str, compact: Compact, most_chars: int) -> None:
        self._all = [AgentMessage("system", system), AgentMessage("user", request)]
        self._compact, self._most = compact, most_chars

    def add_request(self, request: str, turn: int) -> None:
        """Add a further request of the same session."""
        self._all.append(AgentMessage("user", request, turn=turn))

    def add_user(self, texts: Iterable[str], turn: int) -> None:
        """Add what the user or the runtime says to the model."""
        self._all += [AgentMessage("user", text, turn=turn) for text in texts if text]

    def add_proposal(self, proposal: TurnProposal, turn: int) -> None:
        """Add the model's own answer."""
        self._all.append(AgentMessage("assistant", proposal.raw, calls=proposal.calls, turn=turn))

    def add_results(self, results: Iterable[CallEnvelope], turn: int) -> None:
        """Add the envelope that answers each call."""
        for each in results:
            text = json.dumps(each.envelope, ensure_ascii=False, separators=(",", ":"))
            self._all.append(AgentMessage("tool", text, each.call.call_id, turn=turn))

    @property
    def all_messages(self) -> tuple[AgentMessage, ...]:
        """Return every message as it was."""
        return tuple(self._all)

    def messages(self, state: SessionState) -> tuple[AgentMessage, ...]:
        """Return the messages to send in this state."""
        kept = list(self._compact(self._all, state))
        head, rest = kept[:2], kept[2:]
        size = sum(len(each.content) for each in kept)
        while rest and size > self._most:
            # A call without its result, or a result without its call, would mislead the model.
            turn = rest[0].turn
            gone = [each for each in rest if each.turn == turn]
            if len(gone) == len(rest):
                break
            rest = rest[len(gone) :]
            size -= sum(len(each.content) for each in gone)
        return (*head, *rest)
