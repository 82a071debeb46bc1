"""The question to a model in one turn, and its proposal (tool calling chapter §32.1 to §32.3).

Types only. A reply is parsed in `json_protocol.py`, one with native calls in `native_calls.py`. A
proposal has no effect: gates decide which of its calls run.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal, Protocol

from pulsus.agent.tool_protocol import ProposedCall
from pulsus.core.compose.model_protocol import OnText, Usage
from pulsus.fast_dataclass import dataclass
from pulsus.gates.tool_descriptors import ToolDescriptor

AgentRole = Literal["system", "user", "assistant", "tool"]
Confidence = Literal["high", "medium", "low"]


@dataclass(frozen=True, slots=True)
class AgentMessage:
    """One message of the transcript.

    A "tool" message answers the call `call_id`. `calls` are those of an "assistant" message. `turn`
    is the turn in which it was made, 0 before the first.
    """

    role: AgentRole
    content: str
    call_id: str = ""
    calls: tuple[ProposedCall, ...] = ()
    turn: int = 0


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """One question to the model.

    With `text_only` no tool may be called, with `must_call` one has to be.
    `likely` is offered as a whole then: its tool is called so, or another tool.
    """

    messages: tuple[AgentMessage, ...]
    tools: tuple[ToolDescriptor, ...]
    text_only: bool
    turn: int
    must_call: bool = False
    likely: ProposedCall | None = None


def call_hint(call: ProposedCall | None) -> str:
    """Return the message about the likely first call of a request, or an empty text."""
    if call is None:
        return ""
    shown = {"tool_call": {"name": call.tool, "parameters": dict(call.args)}}
    return f"The catalogue suggests this first call: {json.dumps(shown, ensure_ascii=False)}"


@dataclass(frozen=True, slots=True)
class TurnProposal:
    """The model's answer to one question.

    Either `calls`, or a final `text` with a `confidence`, or `correction`: the message to send back
    because the answer was no valid JSON object. `raw` is the answer as the transcript keeps it.
    `leaked` is True if the markup of a tool call was cut out of its text.
    """

    raw: str
    text: str = ""
    calls: tuple[ProposedCall, ...] = ()
    confidence: Confidence = "medium"
    correction: str = ""
    usage: Usage = Usage()
    leaked: bool = False


class TurnModel(Protocol):
    """A model as the loop asks it: by JSON objects in text, or by native tool calls."""

    @property
    def provider(self) -> str:
        """Return the name of the adapter, for metrics."""
        ...

    @property
    def model(self) -> str:
        """Return the configured name of the model."""
        ...

    def propose(self, ask: TurnRequest, on_text: OnText | None) -> TurnProposal:
        """Return the proposal; text of an answer goes to `on_text` as it arrives.

        Blocks. Raises ModelError and its subclasses.
        """
        ...

    def system_prompt(self, tools: Sequence[ToolDescriptor], context: str) -> str:
        """Return the system message for these tools and this context."""
        ...

    def transcript_chars(self, tools: Sequence[ToolDescriptor]) -> int:
        """Return how many characters a transcript may have beside these tools and an answer."""
        ...
