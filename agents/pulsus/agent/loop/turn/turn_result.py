"""The values of a turn: the result of its calls, and what changes while they are handled.

They are made in `turn_calls.py`.
"""

from __future__ import annotations

from collections.abc import Mapping

from pulsus.agent.loop.call_draft import CallDraft
from pulsus.agent.loop.session_state import SessionState
from pulsus.agent.tool_protocol import ProposedCall, Suspension
from pulsus.core.types import JsonValue
from pulsus.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class CallEnvelope:
    """The envelope that answers a call, and the text of it that the model reads."""

    call: ProposedCall
    envelope: Mapping[str, JsonValue]
    text: str


@dataclass(frozen=True, slots=True)
class PendingApproval:
    """A call that waits for a person in a run that can ask none. A write ends the run."""

    message: str
    ends_run: bool


@dataclass(frozen=True, slots=True)
class TurnResult:
    """The result of a turn's calls. `waited_s` is the time that a person took to answer."""

    state: SessionState
    envelopes: tuple[CallEnvelope, ...]
    writes: tuple[CallDraft, ...] = ()
    suggested: tuple[dict[str, JsonValue], ...] = ()
    waited_s: float = 0.0
    pending: PendingApproval | None = None
    all_errors_note: str = ""
    suspended: Suspension | None = None


class TurnProgress:
    """The values that change while the calls of one turn are handled."""

    def __init__(self, state: SessionState) -> None:
        self.state = state
        self.answers: dict[str, Mapping[str, JsonValue]] = {}
        self.texts: dict[str, str] = {}
        self.writes: list[CallDraft] = []
        self.suggested: list[dict[str, JsonValue]] = []
        self.waited_s = 0.0
        self.pending: PendingApproval | None = None
        self.suspended: Suspension | None = None
