"""What differs between the kinds of servers: the form of a request and of an answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from pulsus.core.compose.proposer import Finish, Message, Schema
from pulsus.fast_dataclass import dataclass

Without = frozenset[str]
"""What a server refused to take, of Dialect.optional."""


@dataclass(frozen=True, slots=True)
class ModelAsk:
    """One question, complete: every value is decided."""

    model: str
    messages: tuple[Message, ...]
    schema: Schema | None
    temperature: float
    max_tokens: int
    seed: int | None
    stream: bool


@dataclass(frozen=True, slots=True)
class AnswerChunk:
    """An answer, or a piece of a streamed one. None where it does not say."""

    text: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    model: str | None = None
    finish: Finish | None = None

    def then(self, piece: AnswerChunk) -> AnswerChunk:
        """The answer so far with the next piece, but for the text."""
        return AnswerChunk(
            prompt_tokens=_newer(self.prompt_tokens, piece.prompt_tokens),
            completion_tokens=_newer(self.completion_tokens, piece.completion_tokens),
            model=piece.model or self.model,
            finish=piece.finish or self.finish,
        )

    def saying(self, text: str) -> AnswerChunk:
        """The same with that text."""
        rest = (self.prompt_tokens, self.completion_tokens, self.model, self.finish)
        return AnswerChunk(text, *rest)


class Dialect(Protocol):
    """The form of requests and answers. Pure."""

    name: str
    endpoint: str
    optional: Mapping[str, tuple[str, ...]]
    """What a request can do without, and the words by which a refusal names it."""

    def headers(self, key: str) -> dict[str, str]:
        """The headers that carry `key`, if there is one."""
        ...

    def body(self, ask: ModelAsk, without: Without) -> dict[str, Any]:
        """The JSON document to send."""
        ...

    def lacking(self, ask: ModelAsk, without: Without) -> tuple[str, ...]:
        """Which of temperature, seed and schema the request does not carry, though asked."""
        ...

    def whole(self, document: Mapping[str, Any]) -> AnswerChunk:
        """The answer in one document. Raises KeyError, TypeError, IndexError, AttributeError."""
        ...

    def piece(self, document: Mapping[str, Any]) -> AnswerChunk:
        """The piece in one event of a stream. Raises as `whole`."""
        ...


def schema_instruction(schema: Schema) -> str:
    """The instruction that stands in for a schema where a server does not take one."""
    return (
        "Answer with one JSON value and nothing else: no prose, no code fence. It must fit this "
        f"JSON Schema:\n{json.dumps(schema)}"
    )


def with_instruction(messages: Sequence[Message], text: str) -> list[Message]:
    """The messages with `text` at the end of the first system message, or as one."""
    if messages and messages[0].role == "system":
        return [Message("system", f"{messages[0].content}\n\n{text}"), *messages[1:]]
    return [Message("system", text), *messages]


def token_count(value: Any) -> int | None:
    """A count of tokens that a server gives; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def text_or_empty(value: Any) -> str:
    """A text that a server gives; "" for null. Raises TypeError."""
    if not isinstance(value, str | None):
        raise TypeError(f"{type(value).__name__} where text was expected")
    return value or ""


def _newer(old: int | None, new: int | None) -> int | None:
    return old if new is None else new
