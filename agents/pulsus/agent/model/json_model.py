"""A model without native tool calls, asked by JSON objects in text (tool calling chapter §32).

The temperature is `agent.temperature` (`config/settings.py`). A reply is parsed, and a malformed
one corrected, in `json_protocol.py`. Retries are in `agent/loop/model_asker.py`.

Effects: those of the model. The system prompt comes first and does not change within a run, so
that servers reuse what they have read.
"""

from __future__ import annotations

from collections.abc import Sequence

from pulsus.agent.model.answer_schema import answer_schema
from pulsus.agent.model.context_limits import ContextLimits
from pulsus.agent.model.json_protocol import read_answer
from pulsus.agent.model.prompt_template import render_prompt
from pulsus.agent.model.proposal import AgentMessage, TurnProposal, TurnRequest
from pulsus.agent.model.tool_prompt_line import tool_prompt_line
from pulsus.core.compose.model_protocol import Message, OnText, Proposer
from pulsus.errors import ModelAnswerInvalid
from pulsus.gates.tool_descriptors import ToolDescriptor
from pulsus.llm.token_estimate import estimate_tokens


class JsonModel:
    """A TurnModel over a Proposer. `on_text` gets nothing: an object is no text for a person."""

    def __init__(
        self, proposer: Proposer, *, temperature: float, max_tokens: int, context_tokens: int
    ) -> None:
        self._proposer, self._temperature = proposer, temperature
        self._limits = ContextLimits(context_tokens, max_tokens)

    @property
    def provider(self) -> str:
        """Return the name of the adapter."""
        return self._proposer.provider

    @property
    def model(self) -> str:
        """Return the configured name of the model."""
        return self._proposer.model

    def system_prompt(self, tools: Sequence[ToolDescriptor], context: str) -> str:
        """Return the system message, made once a run."""
        described = [tool_prompt_line(tool) for tool in tools]
        return render_prompt("agent.j2", tools=described, context=context)

    def transcript_chars(self, tools: Sequence[ToolDescriptor]) -> int:
        """Return how many characters a transcript may have beside an answer.

        The schema of the answer counts: a server that takes none gets it in words.
        """
        schema = answer_schema(tools, text_only=False)
        return self._limits.transcript_chars(estimate_tokens((), schema))

    def propose(self, ask: TurnRequest, on_text: OnText | None) -> TurnProposal:
        """Return the proposal in the model's answer. Raises ModelError."""
        before = self._proposer.spent
        schema = answer_schema(
            ask.tools, text_only=ask.text_only, must_call=ask.must_call, likely=ask.likely
        )
        messages = [_plain_message(each) for each in ask.messages]
        self._limits.require_fit(estimate_tokens(messages, schema))
        try:
            answer = self._proposer.complete(
                messages,
                schema=schema,
                temperature=self._temperature,
                max_tokens=self._limits.answer_tokens,
            )
        except ModelAnswerInvalid as error:
            spent = self._proposer.spent
            used = type(spent)(
                spent.prompt_tokens - before.prompt_tokens,
                spent.completion_tokens - before.completion_tokens,
                spent.estimated,
            )
            # A call that misses the schema is judged as any other: the gates say what is wrong.
            # `details` quotes it on one line, which would change the text of a file.
            return read_answer(error.raw, _call_id(ask), used)
        return read_answer(answer.text, _call_id(ask), answer.usage)


def _call_id(ask: TurnRequest) -> str:
    return f"call-{ask.turn}-1"


def _plain_message(message: AgentMessage) -> Message:
    """Return the message in the three roles that every server knows."""
    if message.role == "tool":
        return Message("user", f"Tool result: {message.content}")
    return Message(message.role, message.content)
