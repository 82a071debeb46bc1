"""Define what differs between kinds of servers: the form of requests and answers.

The dialects are `openai_compat.py`, `anthropic.py` and `ollama.py`. A tool call that comes in
pieces is put together here, and the context length that a server states is read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from pulsus.core.compose.model_protocol import Finish, Schema, ServedModel
from pulsus.core.compose.tool_calling_protocol import (
    ChatMessage,
    OfferedTool,
    ToolChoice,
    ToolUse,
)
from pulsus.core.telemetry.sanitize import one_line
from pulsus.fast_dataclass import dataclass

Without = frozenset[str]
"""The fields of Dialect.optional that a server refused."""


@dataclass(frozen=True, slots=True)
class ModelAsk:
    """One question with all its values.

    `context` is the length of context in tokens to ask for, or 0 for that of the server.
    """

    model: str
    messages: tuple[ChatMessage, ...]
    schema: Schema | None
    temperature: float
    max_tokens: int
    seed: int | None
    stream: bool
    tools: tuple[OfferedTool, ...] = ()
    choice: ToolChoice = "auto"
    context: int = 0


@dataclass(frozen=True, slots=True)
class CallPiece:
    """A tool call, or a part of one in a stream.

    Parts with the same `index` belong together. With None, a part that has a name is a call of its
    own, and any other continues the last one.
    """

    index: int | None
    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class AnswerChunk:
    """An answer, or a piece of a streamed one. None means that it does not say."""

    text: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    model: str | None = None
    finish: Finish | None = None
    calls: tuple[CallPiece, ...] = ()

    def then(self, piece: AnswerChunk) -> AnswerChunk:
        """Return the answer so far with the next piece, without text and calls."""
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


class CallAssembly:
    """The calls of one answer, put together from their parts."""

    def __init__(self) -> None:
        self._calls: list[_CallParts] = []
        self._by_index: dict[int, _CallParts] = {}

    def add(self, piece: CallPiece) -> None:
        """Add a part. Raises ValueError for one that continues no call."""
        call = self._begun(piece)
        if call is None:
            if not piece.name:
                raise ValueError("a part of a call comes before its name")
            call = _CallParts(piece.call_id, piece.name)
            self._calls.append(call)
            if piece.index is not None:
                self._by_index[piece.index] = call
        call.arguments.append(piece.arguments)

    def _begun(self, piece: CallPiece) -> _CallParts | None:
        """Return the call that a part continues, or None if it begins one.

        Some servers give every call the index 0: another id together with a name is a new call.
        """
        if piece.index is None:
            return None if piece.name or not self._calls else self._calls[-1]
        begun = self._by_index.get(piece.index)
        if begun is not None and piece.name and piece.call_id not in ("", begun.call_id):
            return None
        return begun

    def whole(self) -> tuple[ToolUse, ...]:
        """Return the calls in the order in which they began."""
        return tuple(ToolUse(c.call_id, c.name, "".join(c.arguments)) for c in self._calls)


class _CallParts:
    def __init__(self, call_id: str, name: str) -> None:
        self.call_id, self.name = call_id, name
        self.arguments: list[str] = []


class Dialect(Protocol):
    """The form of requests and answers. Pure.

    `base_form` says what `model.base_url` looks like, for messages.
    """

    name: str
    endpoint: str
    list_endpoint: str
    base_form: str
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

    def served(self, document: Mapping[str, Any]) -> tuple[ServedModel, ...]:
        """Return the models in a list of the server. Raises as `whole`."""
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


def with_instruction(messages: Sequence[ChatMessage], text: str) -> list[ChatMessage]:
    """Return the messages with `text` at the end of the system message, or as one."""
    if messages and messages[0].role == "system":
        return [ChatMessage("system", f"{messages[0].content}\n\n{text}"), *messages[1:]]
    return [ChatMessage("system", text), *messages]


def token_count(value: Any) -> int | None:
    """Return a server's count of tokens, or None for any other value."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def text_or_empty(value: Any) -> str:
    """Return a server's text, or "" for null. Raises TypeError."""
    if not isinstance(value, str | None):
        raise TypeError(f"{type(value).__name__} where text was expected")
    return value or ""


def arguments_text(value: Any) -> str:
    """Return a call's arguments as JSON text. Some servers send an object instead of text."""
    return json.dumps(value) if isinstance(value, Mapping) else text_or_empty(value)


def arguments_object(text: str) -> dict[str, Any]:
    """Return a call's arguments as an object, or an empty one. Only earlier calls are read so."""
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def function_tools(tools: Sequence[OfferedTool]) -> list[dict[str, Any]]:
    """Return the tools in the form of OpenAI, which others took over."""
    functions = [
        {"name": t.name, "description": t.description, "parameters": t.parameters} for t in tools
    ]
    return [{"type": "function", "function": each} for each in functions]


_CONTEXT = ("n_ctx", "max_model_len", "context_length", "context_window", "max_input_tokens")
"""The keys of llama.cpp, vLLM, OpenRouter, Groq and Anthropic.

`n_ctx_train` of llama.cpp is not among them: the server may run with less.
"""


def list_of_data(document: Mapping[str, Any]) -> tuple[ServedModel, ...]:
    """Return the models of a list under `/v1/models`. Raises KeyError, TypeError, …"""
    return tuple(_served_model(row) for row in document["data"])


def _served_model(row: Mapping[str, Any]) -> ServedModel:
    stated = {**(row.get("meta") or {}), **row}
    lengths = [stated[name] for name in _CONTEXT if isinstance(stated.get(name), int)]
    return ServedModel(one_line(str(row["id"])), max([0, *lengths]))
