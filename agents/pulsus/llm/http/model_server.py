"""A model behind HTTP, in one of the dialects. Effects: network, waiting.

Transient failures are retried within one deadline (`retries.py`), but not after text was passed on.
If a server refuses a field by name (a schema, a seed), the request is repeated without it. The
names that a server lists are shown if the model is missing.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from pulsus.core.compose.model_protocol import (
    Completion,
    Message,
    OnText,
    Schema,
    ServedModel,
    Setup,
    Usage,
)
from pulsus.core.compose.tool_calling_protocol import (
    ChatMessage,
    OfferedTool,
    ToolChoice,
    ToolCompletion,
    ToolUse,
)
from pulsus.core.telemetry import ids
from pulsus.errors import ModelNotFound, ModelRequestRefused, ModelUrlWrong
from pulsus.llm.address import parse_address
from pulsus.llm.http import failures
from pulsus.llm.http.dialect import AnswerChunk, Dialect, ModelAsk
from pulsus.llm.http.exchange import ExchangeLimits, HttpRequest, WireFailed, exchange
from pulsus.llm.http.failures import ServerPlace
from pulsus.llm.http.response import (
    ERROR_BYTES,
    AnswerReader,
    WholeAnswer,
    parse_models,
    read_text,
)
from pulsus.llm.http.retries import Attempts, ExchangeFailure

_LIST_BYTES = 4 * 1024 * 1024
_JSON_PER_TEXT = 8
"""Bytes of JSON to one of text, at most: an escaped character takes six."""
_STREAM_PER_TEXT = 128
"""A streamed piece of four characters has some four hundred bytes around it."""
_LOOK_SECONDS = 10.0
"""For a look at what else is there, after a failure."""


class Server:
    """One configured server. It remembers the fields that this server refused."""

    def __init__(
        self,
        setup: Setup,
        dialect: Dialect,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], datetime] = ids.utc_now,
    ) -> None:
        settings = setup.settings
        self._settings, self._dialect, self._key = settings, dialect, setup.key
        self._address = parse_address(settings.base_url)
        base, has_key = self._address.base, bool(setup.key)
        place = ServerPlace(
            base,
            settings.name,
            settings.api_key_env,
            has_key,
            setup.redact,
            dialect.base_form,
        )
        self._reader = AnswerReader(dialect, place, now)
        self._attempts = Attempts(settings.retries, clock, sleep)
        self._context = setup.context_tokens
        self._without: frozenset[str] = frozenset()

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
        """Return the model's answer, streamed to `on_text`. Raises kinds of ModelError."""
        ask = ModelAsk(
            self._settings.name,
            tuple(ChatMessage(m.role, m.content) for m in messages),
            schema,
            self._settings.temperature if temperature is None else temperature,
            self._settings.max_answer_tokens if max_tokens is None else max_tokens,
            seed,
            on_text is not None,
            context=self._context,
        )
        return self._answer_with_retries(ask, on_text)[0]

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
        """Return the model's answer and calls. Raises kinds of ModelError."""
        ask = ModelAsk(
            self._settings.name,
            tuple(messages),
            None,
            self._settings.temperature if temperature is None else temperature,
            self._settings.max_answer_tokens if max_tokens is None else max_tokens,
            None,
            on_text is not None,
            tuple(tools),
            choice,
            self._context,
        )
        said, calls = self._answer_with_retries(ask, on_text)
        return ToolCompletion(said.text, calls, said.usage, said.model, said.finish, said.dropped)

    def models(self) -> Sequence[ServedModel]:
        """Return the models that the server lists. Raises kinds of ModelError."""
        base, total = self._address.base, self._settings.total_seconds
        try:
            return self._attempts.within(total, lambda left: self._list_models(base, left))
        except ExchangeFailure as failed:
            raise failed.error from None

    def _answer_with_retries(
        self, ask: ModelAsk, on_text: OnText | None
    ) -> tuple[Completion, tuple[ToolUse, ...]]:
        end = self._attempts.clock() + self._settings.total_seconds
        while True:
            left = end - self._attempts.clock()
            try:
                whole = self._attempts.within(
                    left, lambda left: self._answer_once(ask, on_text, left)
                )
                return self._completion(whole.last_chunk, ask), whole.calls
            except ExchangeFailure as failed:
                self._leave_out(failed)

    def _completion(self, said: AnswerChunk, ask: ModelAsk) -> Completion:
        return Completion(
            said.text,
            Usage(said.prompt_tokens or 0, said.completion_tokens or 0),
            said.model or self._settings.name,
            said.finish or "other",
            self._dialect.lacking(ask, self._without),
        )

    def _answer_once(self, ask: ModelAsk, on_text: OnText | None, seconds: float) -> WholeAnswer:
        handed_on = False

        def tell(piece: str) -> None:
            nonlocal handed_on
            handed_on = True
            if on_text is not None:
                on_text(piece)

        most = self._settings.max_answer_kb * 1024
        limit = most * (_STREAM_PER_TEXT if ask.stream else _JSON_PER_TEXT) + ERROR_BYTES
        body = self._dialect.body(ask, self._without)
        url = self._address.of(self._dialect.endpoint)
        try:
            with exchange(
                self._build_request(url, body), self._exchange_limits(seconds, limit)
            ) as answer:
                return self._reader.heard(answer, most, tell)
        except WireFailed as failure:
            failed = failures.wire_failure(failure, self._reader.place)
        except ExchangeFailure as refusal:
            failed = refusal
        failed.again = failed.again and not handed_on
        raise failed

    def _leave_out(self, failed: ExchangeFailure) -> None:
        """Note the field that the server refuses. Raises the error if it names no new one."""
        if isinstance(failed.error, ModelRequestRefused):
            said = failed.server_text.lower()
            for name, words in self._dialect.optional.items():
                if name not in self._without and any(word in said for word in words):
                    self._without |= {name}
                    return
        if isinstance(failed.error, ModelUrlWrong | ModelNotFound):
            raise self._explain_failure(failed.error) from None
        raise failed.error from None

    def _explain_failure(
        self, error: ModelUrlWrong | ModelNotFound
    ) -> ModelUrlWrong | ModelNotFound:
        """Return the failure with the models and the address that do exist."""
        base, place = self._address.base, self._reader.place
        names = self._model_names(base)
        if names and self._settings.name not in names:
            return failures.missing_model(place, "it lists others", names)
        if not isinstance(error, ModelUrlWrong):
            return error
        said = str(error.details["said"])
        if names and said.startswith("HTTP 404"):
            hint = f"it lists models but has no {self._dialect.endpoint}: correct model.provider"
            return failures.wrong_url(place, said, hint)
        if self._dialect.list_endpoint == "models" and self._model_names(f"{base}/v1"):
            hint = f"there is one at {base}/v1: set model.base_url to that"
            return failures.wrong_url(place, said, hint)
        return error

    def _model_names(self, base: str) -> tuple[str, ...]:
        try:
            return tuple(model.name for model in self._list_models(base, _LOOK_SECONDS))[:20]
        except ExchangeFailure:
            return ()

    def _list_models(self, base: str, seconds: float) -> tuple[ServedModel, ...]:
        request = self._build_request(f"{base}/{self._dialect.list_endpoint}", None)
        try:
            with exchange(request, self._exchange_limits(seconds, _LIST_BYTES)) as answer:
                self._reader.check(answer)
                text = read_text(answer, _LIST_BYTES)
        except WireFailed as failure:
            raise failures.wire_failure(failure, self._reader.place) from None
        found = parse_models(text, self._dialect)
        if found is None:
            place = self._reader.place
            raise ExchangeFailure(
                failures.unreadable_answer(place, failures.quote_answer(text, place))
            )
        return found

    def _build_request(self, url: str, body: Mapping[str, Any] | None) -> HttpRequest:
        headers = {"content-type": "application/json", **self._dialect.headers(self._key)}
        sent = None if body is None else json.dumps(body).encode("ascii")
        return HttpRequest(url, headers, sent, self._address.local)

    def _exchange_limits(self, seconds: float, most: int) -> ExchangeLimits:
        settings = self._settings
        return ExchangeLimits(settings.connect_seconds, settings.read_seconds, seconds, most)
