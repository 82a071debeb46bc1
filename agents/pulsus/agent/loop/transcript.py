"""The messages of a session, as the model gets them: compacted and within its context."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pulsus.agent.answers.compaction import TranscriptResult, compact_results
from pulsus.agent.model.proposal import AgentMessage, TurnProposal
from pulsus.llm.budgeted_model import BYTES_PER_TOKEN, OVERHEAD_TOKENS

if TYPE_CHECKING:
    from pulsus.agent.loop.session_state import SessionState
    from pulsus.agent.loop.turn_calls import CallEnvelope


class Transcript:
    """All messages so far.

    Results of more than `min_chars` characters are shortened when they are `keep_turns` turns old.
    `most_chars` is what fits into the model's context, where a character counts its bytes in UTF-8.

    `messages` gives what is sent: old results shortened, and the oldest turns left out where the
    rest is still too long. The system message and the request always stay. If the last turn alone
    is too long, its results are cut.
    """

    def __init__(
        self,
        system: str,
        request: str,
        *,
        keep_turns: int,
        min_chars: int,
        most_chars: int,
        earlier: Sequence[tuple[str, str]] = (),
    ) -> None:
        """Begin with a request. `earlier` are requests and answers of an earlier session."""
        self._all = [AgentMessage("system", system)]
        for asked, answer in earlier:
            self._all += [AgentMessage("user", asked), AgentMessage("assistant", answer)]
        self._request = len(self._all)
        self._all.append(AgentMessage("user", request))
        self._tools: dict[str, str] = {}
        self._keep_turns, self._min, self._most = keep_turns, min_chars, most_chars

    def begin_request(self, system: str, request: str, turn: int, most_chars: int) -> None:
        """Add a further request of the same session, with the system message of its run."""
        self._most = most_chars
        self._all[0] = AgentMessage("system", system)
        self._request = len(self._all)
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
            self._tools[each.call.call_id] = each.call.tool

    @property
    def all_messages(self) -> tuple[AgentMessage, ...]:
        """Return every message as it was."""
        return tuple(self._all)

    def messages(self, state: SessionState) -> tuple[AgentMessage, ...]:
        """Return the messages to send in this state."""
        kept = self._compacted(self._all, state)
        system, request = kept[0], kept[self._request]
        before, after = kept[1 : self._request], kept[self._request + 1 :]
        size = sum(map(_size, kept))
        while size > self._most and (before or after):
            part = before or after
            # A call without its result, or a result without its call, would mislead the model.
            gone = sum(each.turn == part[0].turn for each in part)
            if not before and gone == len(after):
                break
            size -= sum(map(_size, part[:gone]))
            del part[:gone]
        if size > self._most:
            after = self._cut_results(after, size - self._most)
        return (system, *before, request, *after)

    def _cut_results(self, messages: Sequence[AgentMessage], excess: int) -> list[AgentMessage]:
        """Return the messages with their results cut to equal shares, by `excess` in all."""
        sizes = [_size(each) for each in messages if each.role == "tool"]
        if not sizes:
            return list(messages)
        share = max((sum(sizes) - excess) // len(sizes), self._min)
        return [_cut(each, share) if each.role == "tool" else each for each in messages]

    def _compacted(
        self, messages: Sequence[AgentMessage], state: SessionState
    ) -> list[AgentMessage]:
        results = [
            TranscriptResult(m.turn, m.call_id, self._tools[m.call_id], m.content)
            for m in messages
            if m.role == "tool"
        ]
        short = compact_results(
            results,
            state.knowledge,
            turn=state.turn,
            keep_turns=self._keep_turns,
            min_chars=self._min,
        )
        texts = iter(short)
        return [replace(m, content=next(texts).text) if m.role == "tool" else m for m in messages]


def _size(message: AgentMessage) -> int:
    """Return what a message counts: its bytes, those of its calls, and what is around it."""
    calls = sum(len(call.tool) + len(json.dumps(dict(call.args))) for call in message.calls)
    around = OVERHEAD_TOKENS * BYTES_PER_TOKEN
    return len(message.content.encode("utf-8", "replace")) + calls + around


def _cut(message: AgentMessage, size: int) -> AgentMessage:
    """Return a result of about `size` bytes, which says that its rest is left out."""
    whole = message.content.encode("utf-8", "replace")
    if _size(message) <= size:
        return message
    note = f"… [cut: this result has {len(whole)} bytes; ask for less]"
    room = max(size - OVERHEAD_TOKENS * BYTES_PER_TOKEN - len(note.encode()), 0)
    return replace(message, content=whole[:room].decode("utf-8", "ignore") + note)
