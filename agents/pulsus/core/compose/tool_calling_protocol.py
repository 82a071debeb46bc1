"""Define the protocol between the agent and a model with native tool calls (tool calling, §32).

Types only. A model that calls tools natively gets their schemas in a field of the request, and
answers with calls in a field of the answer. `llm/` and plugins implement the provider. The tools of
the agent are in `agent/tools/`, and its calls are checked in `agent/loop/check_calls.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from pulsus.core.compose.model_protocol import Finish, OnText, Schema, Usage
from pulsus.fast_dataclass import dataclass

ChatRole = Literal["system", "user", "assistant", "tool"]
ToolChoice = Literal["auto", "none"]
"""`auto`: the model may call tools. `none`: it has to answer with text."""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One call of a tool, as a model wrote it.

    `arguments` is text: the model meant a JSON object, but nothing checked that. `call_id` is empty
    if the server gives calls no ids.
    """

    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a conversation with tools.

    `calls` are those of an "assistant" message. A "tool" message holds the result of the call
    `call_id` of the tool `tool`.
    """

    role: ChatRole
    content: str
    calls: tuple[ToolUse, ...] = ()
    call_id: str = ""
    tool: str = ""


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool that the model may call. `parameters` is the JSON Schema of an object."""

    name: str
    description: str
    parameters: Schema


@dataclass(frozen=True, slots=True)
class ToolCompletion:
    """One answer of a model with tools: `text`, `calls`, or both, or neither.

    `finish` is "length" if the answer was cut off. `dropped` names the options that the server
    refused, so that the answer was made without them.
    """

    text: str
    calls: tuple[ToolUse, ...]
    usage: Usage
    model: str
    finish: Finish
    dropped: tuple[str, ...] = ()


class ToolCallingProvider(Protocol):
    """A way to reach a model that calls tools natively."""

    def complete_with_tools(
        self,
        messages: Sequence[ChatMessage],
        tools: Sequence[OfferedTool],
        *,
        choice: ToolChoice = "auto",
        temperature: float | None = None,
        max_tokens: int | None = None,
        on_text: OnText | None = None,
    ) -> ToolCompletion:
        """Return the model's answer. `on_text` gets each piece of its text as it arrives.

        Raises ModelError or a subclass.
        """
        ...


class ToolCallingProposer(ToolCallingProvider, Protocol):
    """A configured model with native tool calls. It redacts, and counts tokens, as a Proposer."""

    @property
    def provider(self) -> str:
        """Return the name of the adapter."""
        ...

    @property
    def model(self) -> str:
        """Return the configured name of the model."""
        ...

    @property
    def spent(self) -> Usage:
        """Return the tokens of all answers so far."""
        ...
