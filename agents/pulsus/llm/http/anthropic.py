"""`/v1/messages`: Anthropic, and servers that speak its dialect. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pulsus.core.compose.model_protocol import Finish
from pulsus.llm.http.dialect import (
    AnswerChunk,
    ModelAsk,
    Without,
    schema_instruction,
    text_or_empty,
    token_count,
)

VERSION = "2023-06-01"


class Anthropic:
    """The dialect of Anthropic's messages. A schema is put in words; there is no seed."""

    name = "anthropic"
    endpoint = "messages"
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
            "messages": [
                {"role": m.role, "content": m.content} for m in ask.messages if m.role != "system"
            ],
            "max_tokens": ask.max_tokens,
            "stream": ask.stream,
        }
        if system:
            body["system"] = "\n\n".join(system)
        if "temperature" not in without:
            body["temperature"] = ask.temperature
        return body

    def lacking(self, ask: ModelAsk, without: Without) -> tuple[str, ...]:
        """Return seed and schema, and temperature if the server refused it."""
        asked = {
            "temperature": "temperature" in without,
            "seed": ask.seed is not None,
            "schema": ask.schema is not None,
        }
        return tuple(name for name, missing in asked.items() if missing)

    def whole(self, document: Mapping[str, Any]) -> AnswerChunk:
        """Return the text blocks in order. Other blocks are ignored."""
        blocks = [block for block in document["content"] if block["type"] == "text"]
        text = "".join(text_or_empty(block["text"]) for block in blocks)
        return _chunk_from_document(document, text, document.get("stop_reason"))

    def piece(self, document: Mapping[str, Any]) -> AnswerChunk:
        """Return the piece in one event."""
        match document.get("type"):
            case "message_start":
                return _chunk_from_document(document["message"], "", None)
            case "content_block_delta" if document["delta"].get("type") == "text_delta":
                return AnswerChunk(text_or_empty(document["delta"]["text"]))
            case "message_delta":
                return _chunk_from_document(document, "", document["delta"].get("stop_reason"))
            case _:
                return AnswerChunk()


def _chunk_from_document(document: Mapping[str, Any], text: str, stop: Any) -> AnswerChunk:
    usage = document.get("usage") or {}
    return AnswerChunk(
        text,
        token_count(usage.get("input_tokens")),
        token_count(usage.get("output_tokens")),
        text_or_empty(document.get("model")),
        _finish_reason(stop),
    )


def _finish_reason(reason: Any) -> Finish | None:
    match reason:
        case None:
            return None
        case "end_turn" | "stop_sequence":
            return "stop"
        case "max_tokens":
            return "length"
        case _:
            return "other"
