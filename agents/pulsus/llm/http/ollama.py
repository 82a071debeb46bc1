"""`/api/chat`: Ollama's own interface (docs.ollama.com/api/chat). Pure.

Unlike its `/v1`, it takes the length of the context with each request, and constrains an answer by
any JSON Schema. A stream is newline-delimited JSON. Calls have no ids, and come whole. Here its
reason for the end is read: `length` means that the answer was cut short.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pulsus.core.compose.model_protocol import Finish, ServedModel
from pulsus.core.compose.tool_calling_protocol import ChatMessage
from pulsus.core.telemetry.sanitize import one_line
from pulsus.llm.http.dialect import (
    AnswerChunk,
    CallPiece,
    ModelAsk,
    Without,
    arguments_object,
    arguments_text,
    function_tools,
    schema_instruction,
    text_or_empty,
    token_count,
    with_instruction,
)


class Ollama:
    """The dialect of Ollama."""

    name = "ollama"
    endpoint = "api/chat"
    list_endpoint = "api/tags"
    base_form = "the address without /v1, for example http://127.0.0.1:11434"
    optional: Mapping[str, tuple[str, ...]] = {"schema": ("format", "grammar", "schema")}

    def headers(self, key: str) -> dict[str, str]:
        """Return the header with the bearer token."""
        return {"authorization": f"Bearer {key}"} if key else {}

    def body(self, ask: ModelAsk, without: Without) -> dict[str, Any]:
        """Return the request. There is no field that forbids calls, so then no tool is offered."""
        messages = ask.messages
        if ask.schema is not None and "schema" in without:
            messages = tuple(with_instruction(messages, schema_instruction(ask.schema)))
        options: dict[str, Any] = {"temperature": ask.temperature, "num_predict": ask.max_tokens}
        if ask.context:
            options["num_ctx"] = ask.context
        if ask.seed is not None:
            options["seed"] = ask.seed
        body: dict[str, Any] = {
            "model": ask.model,
            "messages": [_message_document(each) for each in messages],
            "stream": ask.stream,
            "options": options,
        }
        if ask.schema is not None and "schema" not in without:
            body["format"] = ask.schema
        if ask.tools and ask.choice != "none":
            body["tools"] = function_tools(ask.tools)
        return body

    def lacking(self, ask: ModelAsk, without: Without) -> tuple[str, ...]:
        """Return the schema, if it was asked for and refused."""
        return ("schema",) if ask.schema is not None and "schema" in without else ()

    def served(self, document: Mapping[str, Any]) -> tuple[ServedModel, ...]:
        """Return the installed models. Their list does not state a context."""
        return tuple(ServedModel(one_line(str(row["name"]))) for row in document["models"])

    def whole(self, document: Mapping[str, Any]) -> AnswerChunk:
        """Return the answer."""
        return self.piece(document)

    def piece(self, document: Mapping[str, Any]) -> AnswerChunk:
        """Return one line of a stream. The last one is `done`, and has the counts."""
        message = document["message"]
        return AnswerChunk(
            text_or_empty(message.get("content")),
            token_count(document.get("prompt_eval_count")),
            token_count(document.get("eval_count")),
            text_or_empty(document.get("model")),
            _finish_reason(document.get("done_reason")) if document.get("done") else None,
            tuple(_call_piece(call) for call in message.get("tool_calls") or ()),
        )


def _message_document(message: ChatMessage) -> dict[str, Any]:
    document: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.role == "tool":
        document["tool_name"] = message.tool
    if message.calls:
        functions = [
            {"index": n, "name": call.name, "arguments": arguments_object(call.arguments)}
            for n, call in enumerate(message.calls)
        ]
        document["tool_calls"] = [{"type": "function", "function": each} for each in functions]
    return document


def _call_piece(call: Mapping[str, Any]) -> CallPiece:
    function = call["function"]
    call_id, name = text_or_empty(call.get("id")), text_or_empty(function["name"])
    return CallPiece(None, call_id, name, arguments_text(function.get("arguments")))


def _finish_reason(reason: Any) -> Finish:
    match reason:
        case None | "stop":
            return "stop"
        case "length":
            return "length"
        case _:
            return "other"
