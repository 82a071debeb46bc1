"""Token budget: redact, limit and check every question to a model. Effects: of the provider.

Secrets are removed from the messages before a model gets them. The possible tokens and cost of an
answer are compared with the run's budget before the question is sent. The prices for a token are
settings (`model.price_per_1k_prompt` and its like, `config/settings.py`).
The answer is checked: it may be too long, empty, or cut off (`length`). No provider has to do any
of this.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

from pulsus.core.compose.model_protocol import (
    Completion,
    Message,
    OnText,
    Provider,
    Schema,
    ServedModel,
    Setup,
    Usage,
)
from pulsus.core.compose.tool_calling_protocol import (
    ChatMessage,
    OfferedTool,
    ToolCallingProvider,
    ToolChoice,
    ToolCompletion,
    ToolUse,
)
from pulsus.core.telemetry.sanitize import one_line
from pulsus.errors import ConfigError, ModelAnswerInvalid, ModelBudget, ModelError
from pulsus.llm.circuit_breaker import CircuitBreaker
from pulsus.llm.structured_answers import json_answer
from pulsus.llm.token_estimate import BYTES_PER_TOKEN, estimate_chat_tokens, estimate_tokens

T = TypeVar("T")


class BudgetedModel:
    """A provider as a Proposer, for one run.

    `redact_own` redacts earlier answers of the model. It defaults to `setup.redact`. `breaker` is
    shared by the models of a session.
    """

    def __init__(
        self,
        provider: Provider,
        setup: Setup,
        redact_own: Callable[[str], str] | None = None,
        breaker: CircuitBreaker | None = None,
    ) -> None:
        self._provider, self._settings, self._redact = provider, setup.settings, setup.redact
        self._breaker = breaker
        self._redact_own = redact_own or setup.redact
        self._spent = Usage()

    @property
    def provider(self) -> str:
        """Return the name of the adapter."""
        return self._settings.provider

    @property
    def model(self) -> str:
        """Return the name of the model as configured."""
        return self._settings.name

    @property
    def temperature(self) -> float:
        """Return the temperature of calls that name none."""
        return self._settings.temperature

    @property
    def spent(self) -> Usage:
        """Return the tokens so far. A failed question counts without an answer."""
        return self._spent

    @property
    def cost(self) -> float:
        """Return the cost of these tokens at the configured prices."""
        return self._price_of(self._spent)

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Schema | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
        seed: int | None = None,
        on_text: OnText | None = None,
    ) -> Completion:
        """Return the checked answer. Raises ModelBudget before asking, and kinds of ModelError."""
        sent = [self._redact_message(message) for message in messages]
        most = self._settings.max_answer_tokens if max_tokens is None else max_tokens
        asked = estimate_tokens(sent, schema)
        answer = self._ask(
            Usage(asked, most),
            lambda: self._provider.complete(
                sent,
                schema=schema,
                temperature=temperature,
                max_tokens=most,
                seed=seed,
                on_text=on_text,
            ),
        )
        usage = _token_usage(answer.usage, answer.text, asked)
        self._spent += usage
        text = self._require_complete_answer(answer, schema)
        name = one_line(answer.model) or self.model
        return Completion(text, usage, name, answer.finish, answer.dropped)

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
        """Return the answer and its calls.

        Raises ModelBudget before asking, kinds of ModelError, and ConfigError for a provider
        without native tool calls.
        """
        provider = self.require_native_calls()
        sent = [self._redact_chat_message(message) for message in messages]
        offered = [self._redact_tool(tool) for tool in tools]
        most = self._settings.max_answer_tokens if max_tokens is None else max_tokens
        asked = estimate_chat_tokens(sent, offered)
        answer = self._ask(
            Usage(asked, most),
            lambda: provider.complete_with_tools(
                sent,
                offered,
                choice=choice,
                temperature=temperature,
                max_tokens=most,
                on_text=on_text,
            ),
        )
        written = answer.text + "".join(call.name + call.arguments for call in answer.calls)
        usage = _token_usage(answer.usage, written, asked)
        self._spent += usage
        self._require_short(written)
        return replace(answer, usage=usage, model=one_line(answer.model) or self.model)

    def require_native_calls(self) -> ToolCallingProvider:
        """Return the provider. Raises ConfigError if it has no native tool calls."""
        if not hasattr(self._provider, "complete_with_tools"):
            raise ConfigError(
                f'setting agent.protocol = "native": the provider {self.provider} has no native '
                "tool calls",
                hint='set agent.protocol = "json"',
                key="agent.protocol",
            )
        return cast("ToolCallingProvider", self._provider)

    def models(self) -> Sequence[ServedModel]:
        """Return the models that the server lists."""
        return self._provider.models()

    def _redact_message(self, message: Message) -> Message:
        """Remove secrets. Answers came from redacted text, and contain code to repair."""
        redact = self._redact_own if message.role == "assistant" else self._redact
        return Message(message.role, redact(message.content))

    def _redact_chat_message(self, message: ChatMessage) -> ChatMessage:
        redact = self._redact_own if message.role == "assistant" else self._redact
        calls = tuple(
            ToolUse(call.call_id, call.name, self._redact_arguments(call.arguments))
            for call in message.calls
        )
        return replace(message, content=redact(message.content), calls=calls)

    def _redact_arguments(self, arguments: str) -> str:
        """Remove secrets from each value, so that the arguments stay a JSON object."""
        try:
            values = json.loads(arguments)
        except (ValueError, RecursionError):
            return self._redact_own(arguments)
        return json.dumps(_map_texts(values, self._redact_own), ensure_ascii=False)

    def _redact_tool(self, tool: OfferedTool) -> OfferedTool:
        parameters = _map_texts(tool.parameters, self._redact)
        return replace(tool, description=self._redact(tool.description), parameters=parameters)

    def _ask(self, coming: Usage, ask: Callable[[], T]) -> T:
        """Return what `ask` returns, if the budget allows it and the breaker is closed."""
        self._within_budget(coming)
        if self._breaker is not None:
            self._breaker.require_closed(self.provider)
        try:
            answer = ask()
        except ModelError as error:
            self._spent += Usage(coming.prompt_tokens, 0, estimated=True)
            if self._breaker is not None:
                self._breaker.note_failure(error)
            raise
        if self._breaker is not None:
            self._breaker.note_answer()
        return answer

    def _within_budget(self, coming: Usage) -> None:
        settings, after = self._settings, self._spent + coming
        if after.total > settings.max_tokens_per_run:
            raise ModelBudget(
                f"this run has used {self._spent.total} tokens, and the next answer may take "
                f"{coming.total} more: the limit is {settings.max_tokens_per_run}",
                hint="raise model.max_tokens_per_run, or lower model.max_answer_tokens",
            )
        if settings.budget and self._price_of(after) > settings.budget:
            raise ModelBudget(
                f"this run has cost {self.cost:.4f}, and the next answer may cost "
                f"{self._price_of(coming):.4f} more: the limit is {settings.budget:.4f}",
                hint="raise model.budget, or lower model.max_answer_tokens",
            )

    def _price_of(self, usage: Usage) -> float:
        settings = self._settings
        prompt = usage.prompt_tokens * settings.price_per_1k_prompt
        return (prompt + usage.completion_tokens * settings.price_per_1k_answer) / 1000

    def _require_short(self, text: str) -> None:
        if len(text) > self._settings.max_answer_kb * 1024:
            raise ModelAnswerInvalid(
                f"the answer has more than {self._settings.max_answer_kb} KiB",
                hint="raise model.max_answer_kb if that is expected of this model",
            )

    def _require_complete_answer(self, answer: Completion, schema: Schema | None) -> str:
        self._require_short(answer.text)
        cut = answer.finish == "length"
        longer = "it was cut off: raise model.max_answer_tokens"
        if not answer.text.strip():
            hint = longer if cut else "ask again, or choose another model"
            raise ModelAnswerInvalid("the answer is empty", hint=hint)
        if schema is None:
            return answer.text
        try:
            return json_answer(answer.text, schema)
        except ModelAnswerInvalid as error:
            quoted = self._redact(str(error.details["answer"]))
            hint = longer if cut else error.hint
            invalid = ModelAnswerInvalid(self._redact(error.message), hint=hint, answer=quoted)
            invalid.raw = answer.text
            raise invalid from None


def _token_usage(said: Usage, written: str, asked: int) -> Usage:
    """Return the server's token counts, or our own estimate if it gives none."""
    if said.prompt_tokens > 0 and said.completion_tokens > 0:
        return said
    own = -(-len(written.encode("utf-8", "replace")) // BYTES_PER_TOKEN)
    prompt = said.prompt_tokens if said.prompt_tokens > 0 else asked
    completion = said.completion_tokens if said.completion_tokens > 0 else own
    return Usage(prompt, completion, estimated=True)


def _map_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Return the JSON value with each text in it changed. Names of members stay."""
    match value:
        case str():
            return change(value)
        case Mapping():
            return {name: _map_texts(each, change) for name, each in value.items()}
        case list() | tuple():
            return [_map_texts(each, change) for each in value]
        case _:
            return value
