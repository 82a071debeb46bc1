"""A model with native tool calls, as a TurnModel (tool calling chapter §32.1).

The temperature is `agent.temperature` (`config/settings.py`). The calls of a reply are read in
`native_calls.py`, leaked markup is found by `agent/answers/tool_markup.py`. Retries are in
`agent/loop/model_asker.py`.

Effects: those of the model. Text is shown while it arrives, but never the markup of a call that
leaked into it.
"""

from __future__ import annotations

from collections.abc import Sequence

from pulsus.agent.answers.tool_markup import MarkupFilter
from pulsus.agent.model.context_limits import ContextLimits
from pulsus.agent.model.native_calls import chat_messages, read_completion
from pulsus.agent.model.prompt_template import render_prompt
from pulsus.agent.model.proposal import TurnProposal, TurnRequest
from pulsus.core.compose.model_protocol import OnText
from pulsus.core.compose.tool_calling_protocol import OfferedTool, ToolCallingProposer
from pulsus.gates.tool_descriptors import ToolDescriptor
from pulsus.llm.token_estimate import estimate_chat_tokens


class NativeModel:
    """A TurnModel over a provider with native tool calls.

    The tools are part of each question, and not of the system prompt.
    """

    def __init__(
        self,
        proposer: ToolCallingProposer,
        *,
        temperature: float,
        max_tokens: int,
        context_tokens: int,
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
        """Return the system message, made once a run. The tools are not in it."""
        return render_prompt("native.j2", context=context)

    def transcript_chars(self, tools: Sequence[ToolDescriptor]) -> int:
        """Return how many characters a transcript may have beside these tools and an answer."""
        return self._limits.transcript_chars(estimate_chat_tokens((), _offered(tools)))

    def propose(self, ask: TurnRequest, on_text: OnText | None) -> TurnProposal:
        """Return the proposal in the model's answer. Raises ModelError, ConfigError."""
        messages, offered = chat_messages(ask.messages), _offered(ask.tools)
        self._limits.require_fit(estimate_chat_tokens(messages, offered))
        shown = None if on_text is None else _ShownText(ask, on_text)
        answer = self._proposer.complete_with_tools(
            messages,
            offered,
            choice="none" if ask.text_only else "auto",
            temperature=self._temperature,
            max_tokens=self._limits.answer_tokens,
            on_text=None if shown is None else shown.feed,
        )
        if shown is not None:
            shown.finish()
        return read_completion(answer, ask)


class _ShownText:
    """Passes text on, without leaked markup and what may become some."""

    def __init__(self, ask: TurnRequest, on_text: OnText) -> None:
        self._filter = MarkupFilter(frozenset(tool.name for tool in ask.tools))
        self._on_text = on_text

    def feed(self, piece: str) -> None:
        self._filter, text = self._filter.feed(piece)
        if text:
            self._on_text(text)

    def finish(self) -> None:
        self._filter, text = self._filter.finish()
        if text:
            self._on_text(text)


def _offered(tools: Sequence[ToolDescriptor]) -> tuple[OfferedTool, ...]:
    return tuple(OfferedTool(t.name, t.description, dict(t.parameters)) for t in tools)
