"""Redact, limit and check every question to a model. Effects: those of the provider.

Secrets are removed from the messages. The possible cost of an answer is compared with the run's
budget before the question is sent. The answer is checked. No provider has to do any of this.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

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
from pulsus.core.telemetry.sanitize import one_line
from pulsus.errors import ModelAnswerInvalid, ModelBudget, ModelError
from pulsus.llm.structured_answers import json_answer

BYTES_PER_TOKEN = 4
"""English and code have about four bytes to a token in the vocabularies of today's models."""
_OVERHEAD = 8
"""Tokens around one message: its role and its ends, and some to spare."""


def estimate_tokens(messages: Sequence[Message], schema: Schema | None = None) -> int:
    """Return about how many tokens a question has, never 0."""
    size = sum(len(m.content.encode("utf-8", "replace")) for m in messages)
    if schema is not None:
        size += len(json.dumps(schema))
    return size // BYTES_PER_TOKEN + _OVERHEAD * (len(messages) + 1)


class BudgetedModel:
    """A provider as a Proposer, for one run.

    `redact_own` redacts earlier answers of the model. It defaults to `setup.redact`.
    """

    def __init__(
        self, provider: Provider, setup: Setup, redact_own: Callable[[str], str] | None = None
    ) -> None:
        self._provider, self._settings, self._redact = provider, setup.settings, setup.redact
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
        self._within_budget(Usage(asked, most))
        try:
            answer = self._provider.complete(
                sent,
                schema=schema,
                temperature=temperature,
                max_tokens=most,
                seed=seed,
                on_text=on_text,
            )
        except ModelError:
            self._spent += Usage(asked, 0, estimated=True)
            raise
        usage = _token_usage(answer, asked)
        self._spent += usage
        text = self._require_complete_answer(answer, schema)
        name = one_line(answer.model) or self.model
        return Completion(text, usage, name, answer.finish, answer.dropped)

    def models(self) -> Sequence[ServedModel]:
        """Return the models that the server lists."""
        return self._provider.models()

    def _redact_message(self, message: Message) -> Message:
        """Remove secrets. Answers came from redacted text, and contain code to repair."""
        redact = self._redact_own if message.role == "assistant" else self._redact
        return Message(message.role, redact(message.content))

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

    def _require_complete_answer(self, answer: Completion, schema: Schema | None) -> str:
        limit = self._settings.max_answer_kb * 1024
        if len(answer.text) > limit:
            raise ModelAnswerInvalid(
                f"the answer has more than {self._settings.max_answer_kb} KiB",
                hint="raise model.max_answer_kb if that is expected of this model",
            )
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
            raise ModelAnswerInvalid(
                self._redact(error.message), hint=hint, answer=quoted
            ) from None


def _token_usage(answer: Completion, asked: int) -> Usage:
    """Return the server's token counts, or our own estimate if it gives none."""
    said = answer.usage
    if said.prompt_tokens > 0 and said.completion_tokens > 0:
        return said
    own = -(-len(answer.text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)
    prompt = said.prompt_tokens if said.prompt_tokens > 0 else asked
    completion = said.completion_tokens if said.completion_tokens > 0 else own
    return Usage(prompt, completion, estimated=True)
