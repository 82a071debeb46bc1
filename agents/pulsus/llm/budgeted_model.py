"""What every question to a model passes, whichever provider answers it. Effects: the provider's.

Secrets are taken out of the messages, what an answer may cost is held against the run's budget
before it is asked for, and what comes back is checked: nothing of this is left to a provider.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from pulsus.core.compose.proposer import (
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
    """About how many tokens a question has, never 0."""
    size = sum(len(m.content.encode("utf-8", "replace")) for m in messages)
    if schema is not None:
        size += len(json.dumps(schema))
    return size // BYTES_PER_TOKEN + _OVERHEAD * (len(messages) + 1)


class BudgetedModel:
    """A provider as a Proposer, for one run.

    `redact_own` is for what the model itself said before, and is `setup.redact` where not given.
    """

    def __init__(
        self, provider: Provider, setup: Setup, redact_own: Callable[[str], str] | None = None
    ) -> None:
        self._provider, self._settings, self._redact = provider, setup.settings, setup.redact
        self._redact_own = redact_own or setup.redact
        self._spent = Usage()

    @property
    def provider(self) -> str:
        """The name of the adapter."""
        return self._settings.provider

    @property
    def model(self) -> str:
        """The name of the model as configured."""
        return self._settings.name

    @property
    def temperature(self) -> float:
        """The temperature used where a call names none."""
        return self._settings.temperature

    @property
    def spent(self) -> Usage:
        """The tokens so far; a failed question counts as one without an answer."""
        return self._spent

    @property
    def cost(self) -> float:
        """What they cost at the configured prices."""
        return self._price(self._spent)

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
        """The model's answer, checked. Raises ModelBudget before asking, and ModelError's kinds."""
        sent = [self._redacted(message) for message in messages]
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
        usage = _counted(answer, asked)
        self._spent += usage
        text = self._checked(answer, schema)
        name = one_line(answer.model) or self.model
        return Completion(text, usage, name, answer.finish, answer.dropped)

    def models(self) -> Sequence[ServedModel]:
        """What the server says it has."""
        return self._provider.models()

    def _redacted(self, message: Message) -> Message:
        """Without secrets. What the model wrote came of redacted words, and is code to repair."""
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
        if settings.budget and self._price(after) > settings.budget:
            raise ModelBudget(
                f"this run has cost {self.cost:.4f}, and the next answer may cost "
                f"{self._price(coming):.4f} more: the limit is {settings.budget:.4f}",
                hint="raise model.budget, or lower model.max_answer_tokens",
            )

    def _price(self, usage: Usage) -> float:
        settings = self._settings
        prompt = usage.prompt_tokens * settings.price_per_1k_prompt
        return (prompt + usage.completion_tokens * settings.price_per_1k_answer) / 1000

    def _checked(self, answer: Completion, schema: Schema | None) -> str:
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


def _counted(answer: Completion, asked: int) -> Usage:
    """The server's counts, and our own where it gives none."""
    said = answer.usage
    if said.prompt_tokens > 0 and said.completion_tokens > 0:
        return said
    own = -(-len(answer.text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)
    prompt = said.prompt_tokens if said.prompt_tokens > 0 else asked
    completion = said.completion_tokens if said.completion_tokens > 0 else own
    return Usage(prompt, completion, estimated=True)
