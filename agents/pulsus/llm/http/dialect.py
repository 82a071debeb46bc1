"""Define what differs between kinds of servers: the form of requests and answers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from pulsus.core.compose.model_protocol import Finish, Message, Schema
from pulsus.fast_dataclass import dataclass

Without = frozenset[str]
"""The fields of Dialect.optional that a server refused."""


@dataclass(frozen=True, slots=True)
class ModelAsk:
    """One question with all its values."""

    model: str
    messages: tuple[Message, ...]
    schema: Schema | None
    temperature: float
    max_tokens: int
    seed: int | None
    stream: bool


@dataclass(frozen=True, slots=True)
class AnswerChunk:
    """An answer, or a piece of a streamed one. None means that it does not say."""

    text: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    model: str | None = None
    finish: Finish | None = None

    def then(self, piece: AnswerChunk) -> AnswerChunk:
        """Return the answer so far with the next piece, without text."""
        return AnswerChunk(
            # A count is never 0 (`token_count`).
            prompt_tokens=piece.prompt_tokens or self.prompt_tokens,
            completion_tokens=piece.completion_tokens or self.completion_tokens,
            model=piece.model or self.model,
            finish=piece.finish or self.finish,
        )

    def saying(self, text: str) -> AnswerChunk:
        """Return the same answer with that text."""
        return replace(self, text=text)


class Dialect(Protocol):
    """The form of requests and answers. Pure."""

    name: str
    endpoint: str
    optional: Mapping[str, tuple[str, ...]]
    """Fields that a request can do without, with the words by which a refusal names each."""

    def headers(self, key: str) -> dict[str, str]:
        """Return the headers that carry `key`, if there is one."""
        ...

    def body(self, ask: ModelAsk, without: Without) -> dict[str, Any]:
        """Return the JSON document to send."""
        ...

    def lacking(self, ask: ModelAsk, without: Without) -> tuple[str, ...]:
        """Return which of temperature, seed and schema the request leaves out."""
        ...

    def whole(self, document: Mapping[str, Any]) -> AnswerChunk:
        """Return a document's answer. Raises KeyError, TypeError, IndexError, AttributeError."""
        ...

    def piece(self, document: Mapping[str, Any]) -> AnswerChunk:
        """Return the piece in one event of a stream. Raises as `whole`."""
        ...


def schema_instruction(schema: Schema) -> str:
    """Return the instruction that replaces a schema if a server takes none."""
    return (
        "Answer with one JSON value and nothing else: no prose, no code fence. It must fit this "
        f"JSON Schema:\n{json.dumps(schema)}"
    )


def with_instruction(messages: Sequence[Message], text: str) -> list[Message]:
    """Return the messages with `text` at the end of the system message, or as one."""
    if messages and messages[0].role == "system":
        return [Message("system", f"{messages[0].content}\n\n{text}"), *messages[1:]]
    return [Message("system", text), *messages]


def token_count(value: Any) -> int | None:
    """Return a server's count of tokens, or None for any other value."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def text_or_empty(value: Any) -> str:
    """Return a server's text, or "" for null. Raises TypeError."""
    if not isinstance(value, str | None):
        raise TypeError(f"{type(value).__name__} where text was expected")
    return value or ""
