"""The transcript of a session, as the model gets it: compacted, in its context window.

It is in memory: the trace of a run on disk is written by `core/telemetry/logging.py`, a saved chat
by `agent/sessions/session_file.py`. The oldest turns are dropped, and results are cut, if it is too
long for the context window. The size of that window is in `agent/model/context_limits.py`, the
short form of results in `agent/answers/compaction.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pulsus.agent.answers.compaction import TranscriptResult, compact_results
from pulsus.agent.model.proposal import AgentMessage, TurnProposal
from pulsus.fast_dataclass import replace
from pulsus.llm.token_estimate import BYTES_PER_TOKEN, OVERHEAD_TOKENS

if TYPE_CHECKING:
    from pulsus.agent.loop.session_state import SessionState
    from pulsus.agent.loop.turn.turn_result import CallEnvelope


class Transcript:
    """All messages so far.

    Results of more than `min_chars` characters are shortened when they are `keep_turns` turns old,
    once and for good: a long session keeps its requests and answers, and not every output.
    `most_chars` is what fits into the model's context, where a character counts its bytes in UTF-8.

    `messages` gives what is sent: old results shortened, and the oldest turns left out where the
    rest is still too long. What was left out once stays out. The system message and the request
    always stay. If the last turn alone is too long, its results are cut.
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
        self._all: list[AgentMessage] = []
        self._sizes: list[int] = []
        self._request = 0
        self._corrections: set[int] = set()
        self._first_long = 0
        """The first message that may be shortened later."""
        self._start, self._sent_size = 1, 0
        """The first message that is sent, beside the system message and the request; and the size
        of all that are sent."""
        self._add(AgentMessage("system", system))
        for asked, answer in earlier:
            self._add(AgentMessage("user", asked), AgentMessage("assistant", answer))
        self._request = len(self._all)
        self._add(AgentMessage("user", request))
        self._tools: dict[str, str] = {}
        self._keep_turns, self._min, self._most = keep_turns, min_chars, most_chars

    def begin_request(self, system: str, request: str, turn: int, most_chars: int) -> None:
        """Add a further request of the same session, with the system message of its run."""
        self._most = most_chars
        self._replace(0, AgentMessage("system", system))
        if self._request < self._start:
            self._sent_size -= self._sizes[self._request]
        self._request = len(self._all)
        self._add(AgentMessage("user", request, turn=turn))

    def add_user(self, texts: Iterable[str], turn: int) -> None:
        """Add what the user or the runtime says to the model."""
        self._add(*(AgentMessage("user", text, turn=turn) for text in texts if text))

    def add_correction(self, text: str, turn: int) -> None:
        """Add what the runtime says about the model's own answer."""
        self._corrections.add(len(self._all))
        self._add(AgentMessage("user", text, turn=turn))

    def add_proposal(self, proposal: TurnProposal, turn: int) -> None:
        """Add the model's own answer."""
        self._add(AgentMessage("assistant", proposal.raw, calls=proposal.calls, turn=turn))

    def add_results(self, results: Iterable[CallEnvelope], turn: int) -> None:
        """Add the text of the envelope that answers each call."""
        for each in results:
            self._add(AgentMessage("tool", each.text, each.call.call_id, turn=turn))
            self._tools[each.call.call_id] = each.call.tool

    @property
    def all_messages(self) -> tuple[AgentMessage, ...]:
        """Return every message, with old results in their short form."""
        return tuple(self._all)

    @property
    def request(self) -> str:
        """Return the request that the run is about."""
        return self._all[self._request].content

    def sources(self) -> tuple[str, ...]:
        """Return the texts that an answer may take figures from.

        Those of the model itself are left out, and so are corrections, which repeat them.
        """
        return tuple(
            message.content
            for at, message in enumerate(self._all)
            if message.role != "assistant" and at not in self._corrections
        )

    def messages(self, state: SessionState, reserved: int = 0) -> tuple[AgentMessage, ...]:
        """Return the messages to send in this state, with room for `reserved` characters more."""
        most = self._most - reserved
        self._shorten_old_results(state)
        end = len(self._all)
        while self._sent_size > most and self._start < end:
            if self._start == self._request:
                self._start += 1
                continue
            part_end = self._request if self._start < self._request else end
            gone = self._end_of_turn(self._start, part_end)
            if gone == end:
                break
            self._sent_size -= sum(self._sizes[self._start : gone])
            self._start = gone
        before = self._all[self._start : self._request]
        first = max(self._start, self._request + 1)
        latest = self._all[first:]
        if self._sent_size > most:
            latest = self._cut_results(latest, self._sizes[first:], self._sent_size - most)
        return (self._all[0], *before, self._all[self._request], *latest)

    def _add(self, *messages: AgentMessage) -> None:
        for message in messages:
            self._all.append(message)
            self._sizes.append(message_size(message))
            self._sent_size += self._sizes[-1]

    def _replace(self, at: int, message: AgentMessage) -> None:
        size = message_size(message)
        if at in (0, self._request) or at >= self._start:
            self._sent_size += size - self._sizes[at]
        self._all[at], self._sizes[at] = message, size

    def _end_of_turn(self, start: int, end: int) -> int:
        """Return where the turn that begins at `start` ends, at most `end`.

        Turns are left out whole: a call without its result, or a result without its call, would
        mislead the model.
        """
        turn = self._all[start].turn
        return next((at for at in range(start, end) if self._all[at].turn != turn), end)

    def _shorten_old_results(self, state: SessionState) -> None:
        """Shorten the results that have become old. What was short enough before stays."""
        while self._first_long < len(self._all):
            message = self._all[self._first_long]
            if state.turn - message.turn <= self._keep_turns and message.role != "system":
                return
            if message.role == "tool":
                self._replace(self._first_long, self._short(message, state))
            self._first_long += 1

    def _short(self, message: AgentMessage, state: SessionState) -> AgentMessage:
        tool = self._tools.pop(message.call_id, "")
        result = TranscriptResult(message.turn, message.call_id, tool, message.content)
        (short,) = compact_results(
            [result],
            state.knowledge,
            turn=state.turn,
            keep_turns=self._keep_turns,
            min_chars=self._min,
        )
        return replace(message, content=short.text)

    def _cut_results(
        self, messages: Sequence[AgentMessage], sizes: Sequence[int], excess: int
    ) -> list[AgentMessage]:
        """Return the messages with their results cut to equal shares, by `excess` in all."""
        results = [size for one, size in zip(messages, sizes, strict=True) if one.role == "tool"]
        share = max((sum(results) - excess) // max(len(results), 1), self._min)
        return [
            _cut(one, share) if one.role == "tool" and size > share else one
            for one, size in zip(messages, sizes, strict=True)
        ]


def message_size(message: AgentMessage) -> int:
    """Return what a message counts: its bytes, those of its calls, and what is around it."""
    calls = sum(len(call.tool) + len(json.dumps(dict(call.args))) for call in message.calls)
    around = OVERHEAD_TOKENS * BYTES_PER_TOKEN
    return _bytes_of(message.content) + calls + around


def _bytes_of(text: str) -> int:
    """Return the length in bytes. Most results are ASCII, and long ones take long to encode."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def _cut(message: AgentMessage, size: int) -> AgentMessage:
    """Return a result of about `size` bytes, which says that its rest is left out."""
    whole = message.content.encode("utf-8", "replace")
    note = f"… [cut: this result has {len(whole)} bytes; ask for less]"
    room = max(size - OVERHEAD_TOKENS * BYTES_PER_TOKEN - len(note.encode()), 0)
    return replace(message, content=whole[:room].decode("utf-8", "ignore") + note)
