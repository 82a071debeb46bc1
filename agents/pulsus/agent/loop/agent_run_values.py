"""The values that change during one run of the agent: its state, its deeds, what it asked for.

`agent_loop.py` runs the turns and decides by these values when a run ends.

A turn that repeats the calls of the turn before is noticed here, and that the first turns have to
call a tool before an answer (`must_look`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pulsus.agent.answers.run_facts import RunFacts
from pulsus.agent.answers.unread_claims import SeenWords
from pulsus.agent.loop.call_draft import CallDraft
from pulsus.agent.loop.session_state import SessionState
from pulsus.agent.loop.transcript import Transcript
from pulsus.agent.loop.turn.turn_result import TurnResult
from pulsus.agent.model.proposal import TurnProposal
from pulsus.agent.tool_protocol import ProposedCall
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import replace

_LOOKING_TURNS: Final = 2


class AgentRunValues:
    """The values that change during a run."""

    def __init__(self, state: SessionState, transcript: Transcript) -> None:
        self.state, self.transcript = state, transcript
        self.turn = 0
        self.deadline = 0.0
        self.looks_first = self.must_call = self.sent_back = False
        self.likely: ProposedCall | None = None
        self.last_calls: list[tuple[str, Mapping[str, JsonValue]]] = []
        self.question = ""
        self.deeds = RunFacts()
        self.note = ""
        self.unsupported: tuple[str, ...] = ()
        self.unread: tuple[str, ...] = ()
        """The sentence beside the answer, and the numbers and subjects of it that no result has."""
        self.seen = SeenWords()
        self.seen.add(state.knowledge.summary())
        self.waits_for = ""
        """Says which read waits for a person, as long as no other call worked after it."""
        self.suggested: list[dict[str, JsonValue]] = []
        self.writes: list[CallDraft] = []

    def note_writes(self, done: TurnResult) -> None:
        """Remember which writes of a turn succeeded. One that failed may have begun."""
        worked = {each.call.call_id for each in done.envelopes if each.envelope["ok"]}
        for draft in done.writes:
            names = [one.id for one in draft.resources] or [draft.call.tool]
            files = draft.needs.paths if draft.needs.written else ()
            ok = draft.call.call_id in worked
            self.deeds = self.deeds.after_write(names, ok=ok, files=files)

    def facts(self) -> RunFacts:
        """Return what the run did up to now."""
        unverified = tuple(one.resource_id for one in self.state.gates.workflow.unverified)
        return replace(self.deeds, succeeded=self.state.succeeded, unverified=unverified)

    def repeats(self, proposal: TurnProposal) -> bool:
        """Return True if the calls of a turn are those of the turn before. Remembers them."""
        calls = [(call.tool, call.args) for call in proposal.calls]
        before, self.last_calls = self.last_calls, calls
        return calls == before

    def must_look(self) -> bool:
        """Return True if a tool has to be called now: in two turns at most, until one worked."""
        return self.looks_first and self.turn <= _LOOKING_TURNS and not self.state.succeeded
