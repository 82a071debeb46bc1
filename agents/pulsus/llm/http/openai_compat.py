"""`/v1/chat/completions`: OpenAI, Ollama, vLLM, llama.cpp and many more. Pure.

Here its finish reason is read: `length` means that the answer was cut short.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pulsus.core.compose.model_protocol import Finish, Schema, ServedModel
from pulsus.core.compose.tool_calling_protocol import ChatMessage
from pulsus.llm.http.dialect import (
    AnswerChunk,
    CallPiece,
    ModelAsk,
    Without,
    arguments_text,
    function_tools,
    list_of_data,
    schema_instruction,
    text_or_empty,
    token_count,
    with_instruction,
)
from pulsus.llm.structured_answers import subschemas


class OpenAi:
    """The dialect of OpenAI's chat completions."""

    name = "openai"
    endpoint = "chat/completions"
    list_endpoint = "models"
    base_form = "the address up to and with /v1"
    optional: Mapping[str, tuple[str, ...]] = {
        "schema": ("response_format", "json_schema", "structured output", "guided", "grammar"),
        "max_tokens": ("max_tokens",),
        "temperature": ("temperature",),
        "seed": ("seed",),
        "stream_options": ("stream_options",),
        "tool_choice": ("tool_choice",),
    }

    def headers(self, key: str) -> dict[str, str]:
        """Return the header with the bearer token."""
        return {"authorization": f"Bearer {key}"} if key else {}

    def body(self, ask: ModelAsk, without: Without) -> dict[str, Any]:
        """Return the request. If `max_tokens` was refused, it uses that limit's newer name."""
        messages = ask.messages
        if ask.schema is not None and "schema" in without:
            messages = tuple(with_instruction(messages, schema_instruction(ask.schema)))
        body: dict[str, Any] = {
            "model": ask.model,
            "messages": [_message_document(each) for each in messages],
            "stream": ask.stream,
        }
        renamed = "max_completion_tokens" if "max_tokens" in without else "max_tokens"
        body[renamed] = ask.max_tokens
        if "temperature" not in without:
            body["temperature"] = ask.temperature
        if ask.seed is not None and "seed" not in without:
            body["seed"] = ask.seed
        if ask.stream and "stream_options" not in without:
            body["stream_options"] = {"include_usage": True}
        if ask.schema is not None and "schema" not in without:
            strict = all(map(_is_closed, subschemas(ask.schema)))
            named = {"name": "answer", "schema": ask.schema, "strict": strict}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        return {**body, **_tool_fields(ask, without)}

    def lacking(self, ask: ModelAsk, without: Without) -> tuple[str, ...]:
        """Return the fields that were asked for and refused."""
        asked = {"temperature": True, "seed": ask.seed is not None, "schema": bool(ask.schema)}
        return tuple(name for name, wanted in asked.items() if wanted and name in without)

    def served(self, document: Mapping[str, Any]) -> tuple[ServedModel, ...]:
        """Return the models under `data`."""
        return list_of_data(document)

    def whole(self, document: Mapping[str, Any]) -> AnswerChunk:
        """Return the first choice."""
        choice = document["choices"][0]
        return _chunk_from_document(document, choice["message"], choice)

    def piece(self, document: Mapping[str, Any]) -> AnswerChunk:
        """Return the first choice's delta. The last event has usage and no choice."""
        choices = document.get("choices") or [{}]
        delta = choices[0].get("delta") or {}
        return _chunk_from_document(document, delta, choices[0])


def _message_document(message: ChatMessage) -> dict[str, Any]:
    document: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.role == "tool":
        document["tool_call_id"] = message.call_id
    if message.calls:
        document["tool_calls"] = [
            {
                "id": call.call_id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.calls
        ]
    return document


def _tool_fields(ask: ModelAsk, without: Without) -> dict[str, Any]:
    """Return the fields that offer tools. A server without `tool_choice` gets none to forbid."""
    refused = "tool_choice" in without
    if not ask.tools or (refused and ask.choice == "none"):
        return {}
    fields: dict[str, Any] = {"tools": function_tools(ask.tools)}
    return fields if refused else {**fields, "tool_choice": ask.choice}


def _call_piece(call: Mapping[str, Any]) -> CallPiece:
    function, index = call.get("function") or {}, call.get("index")
    return CallPiece(
        index if isinstance(index, int) else None,
        text_or_empty(call.get("id")),
        text_or_empty(function.get("name")),
        arguments_text(function.get("arguments")),
    )


def _chunk_from_document(
    document: Mapping[str, Any], message: Mapping[str, Any], choice: Mapping[str, Any]
) -> AnswerChunk:
    usage = document.get("usage") or {}
    return AnswerChunk(
        text_or_empty(message.get("content")),
        token_count(usage.get("prompt_tokens")),
        token_count(usage.get("completion_tokens")),
        text_or_empty(document.get("model")),
        _finish_reason(choice.get("finish_reason")),
        tuple(_call_piece(call) for call in message.get("tool_calls") or ()),
    )


def _finish_reason(reason: Any) -> Finish | None:
    match reason:
        case None:
            return None
        case "stop" | "tool_calls":
            return "stop"
        case "length":
            return "length"
        case _:
            return "other"


def _is_closed(schema: Schema) -> bool:
    """Return True if an object lists all its members and allows no other: OpenAI's `strict`."""
    named = set(schema.get("properties", ()))
    whole = schema.get("additionalProperties") is False and named == set(schema.get("required", ()))
    return schema.get("type") != "object" or whole
