"""`/v1/messages`: Anthropic, and servers that speak its dialect. Pure.

Here its stop reason is read: `max_tokens` means that the answer was cut short.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pulsus.core.compose.model_protocol import Finish, ServedModel
from pulsus.core.compose.tool_calling_protocol import ChatMessage
from pulsus.llm.http.dialect import (
    AnswerChunk,
    CallPiece,
    ModelAsk,
    Without,
    arguments_object,
    list_of_data,
    schema_instruction,
    text_or_empty,
    token_count,
)

VERSION = "2023-06-01"


class Anthropic:
    """The dialect of Anthropic's messages. A schema is put in words; there is no seed."""

    name = "anthropic"
    endpoint = "messages"
    list_endpoint = "models"
    base_form = "the address up to and with /v1"
    optional: Mapping[str, tuple[str, ...]] = {"temperature": ("temperature",)}

    def headers(self, key: str) -> dict[str, str]:
        """Return the headers for the dialect's version and the key."""
        return {"anthropic-version": VERSION, **({"x-api-key": key} if key else {})}

    def body(self, ask: ModelAsk, without: Without) -> dict[str, Any]:
        """Return the request. System messages have a field of their own."""
        system = [m.content for m in ask.messages if m.role == "system"]
        if ask.schema is not None:
            system.append(schema_instruction(ask.schema))
        body: dict[str, Any] = {
            "model": ask.model,
            "messages": _message_documents(ask.messages),
            "max_tokens": ask.max_tokens,
            "stream": ask.stream,
        }
        if system:
            body["system"] = "\n\n".join(system)
        if "temperature" not in without:
            body["temperature"] = ask.temperature
        if ask.tools:
            body["tools"] = [
                {"name": t.name, "description": t.description, "input_schema": t.parameters}
                for t in ask.tools
            ]
            body["tool_choice"] = {"type": ask.choice}
        return body

    def lacking(self, ask: ModelAsk, without: Without) -> tuple[str, ...]:
        """Return seed and schema, and temperature if the server refused it."""
        asked = {
            "temperature": "temperature" in without,
            "seed": ask.seed is not None,
            "schema": ask.schema is not None,
        }
        return tuple(name for name, missing in asked.items() if missing)

    def served(self, document: Mapping[str, Any]) -> tuple[ServedModel, ...]:
        """Return the models under `data`."""
        return list_of_data(document)

    def whole(self, document: Mapping[str, Any]) -> AnswerChunk:
        """Return the text and the calls, each in order. Other blocks are ignored."""
        blocks = document["content"]
        text = "".join(text_or_empty(b["text"]) for b in blocks if b["type"] == "text")
        calls = tuple(_begun_call(n, b) for n, b in enumerate(blocks) if b["type"] == "tool_use")
        return _chunk_from_document(document, text, document.get("stop_reason"), calls)

    def piece(self, document: Mapping[str, Any]) -> AnswerChunk:
        """Return the piece in one event."""
        match document.get("type"):
            case "message_start":
                return _chunk_from_document(document["message"], "", None)
            case "content_block_start" if document["content_block"].get("type") == "tool_use":
                begun = _begun_call(document["index"], document["content_block"])
                return AnswerChunk(calls=(begun,))
            case "content_block_delta":
                return _chunk_from_delta(document.get("index"), document["delta"])
            case "message_delta":
                return _chunk_from_document(document, "", document["delta"].get("stop_reason"))
            case _:
                return AnswerChunk()


def _message_documents(messages: Sequence[ChatMessage]) -> list[dict[str, Any]]:
    """Return the messages without those of the system.

    All results of a turn, and what the user says after them, have to be one message.
    """
    documents: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "system":
            continue
        role, content = _message_content(message)
        last = documents[-1] if documents else {}
        if role == "user" and last.get("role") == "user" and isinstance(last["content"], list):
            last["content"] += content if isinstance(content, list) else [_text_block(content)]
        else:
            documents.append({"role": role, "content": content})
    return documents


def _message_content(message: ChatMessage) -> tuple[str, str | list[dict[str, Any]]]:
    if message.role == "tool":
        result = {
            "type": "tool_result",
            "tool_use_id": message.call_id,
            "content": message.content,
        }
        return "user", [result]
    if not message.calls:
        return message.role, message.content
    uses = [
        {
            "type": "tool_use",
            "id": call.call_id,
            "name": call.name,
            "input": arguments_object(call.arguments),
        }
        for call in message.calls
    ]
    # An empty text block is refused.
    return "assistant", [*([_text_block(message.content)] if message.content else []), *uses]


def _text_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _begun_call(index: Any, block: Mapping[str, Any]) -> CallPiece:
    """Return a call. In a stream its input is empty at first, and follows in parts."""
    begun = json.dumps(block["input"]) if block.get("input") else ""
    return CallPiece(int(index), text_or_empty(block["id"]), text_or_empty(block["name"]), begun)


def _chunk_from_delta(index: Any, delta: Mapping[str, Any]) -> AnswerChunk:
    match delta.get("type"):
        case "text_delta":
            return AnswerChunk(text_or_empty(delta["text"]))
        case "input_json_delta":
            part = text_or_empty(delta["partial_json"])
            return AnswerChunk(calls=(CallPiece(int(index), "", "", part),))
        case _:
            return AnswerChunk()


def _chunk_from_document(
    document: Mapping[str, Any], text: str, stop: Any, calls: tuple[CallPiece, ...] = ()
) -> AnswerChunk:
    usage = document.get("usage") or {}
    return AnswerChunk(
        text,
        token_count(usage.get("input_tokens")),
        token_count(usage.get("output_tokens")),
        text_or_empty(document.get("model")),
        _finish_reason(stop),
        calls,
    )


def _finish_reason(reason: Any) -> Finish | None:
    match reason:
        case None:
            return None
        case "end_turn" | "stop_sequence" | "tool_use":
            return "stop"
        case "max_tokens":
            return "length"
        case _:
            return "other"
